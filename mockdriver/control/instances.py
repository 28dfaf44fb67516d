"""The Cloud service's RPCs about instances, and what the driver would say of them."""

from __future__ import annotations

from mockdriver.cloud import Caller, Instance, InstanceView
from mockdriver.control import views
from mockdriver.control.checking import required
from mockdriver.control.messages import message
from mockdriver.control.paging import page_size, pattern, place_of
from mockdriver.control.rpc_group import RpcGroup
from mockdriver.control.v1 import cloud_pb2
from mockdriver.driver import node_info


class InstanceRpcs(RpcGroup):
    """Instances come, change and go. A base of CloudService."""

    def ListInstances(
        self, request: cloud_pb2.ListInstancesRequest, caller: Caller
    ) -> cloud_pb2.ListInstancesResponse:
        """Return a page of the instances that match."""
        size = page_size(request.page_size)
        after = place_of(request.page_token, self._operator.last_instance_place())
        id_matches = pattern(request.id)

        def matches(instance: Instance) -> bool:
            return (
                (not request.type or instance.type == request.type)
                and (not request.zone or instance.zone == request.zone)
                and id_matches(instance.id)
            )

        page = self._operator.find_instances(matches, after=after, limit=size)
        return cloud_pb2.ListInstancesResponse(
            instances=[self._instance(view) for view in page.instances],
            next_page_token="" if page.next_place is None else str(page.next_place),
            total=page.total,
        )

    def GetInstance(
        self, request: cloud_pb2.GetInstanceRequest, caller: Caller
    ) -> cloud_pb2.Instance:
        """Return an instance with what is on it."""
        required(request, "id")
        return self._instance(self._operator.view_instance(request.id))

    def GetNodeInfo(
        self, request: cloud_pb2.GetNodeInfoRequest, caller: Caller
    ) -> cloud_pb2.NodeInfo:
        """Return what ControllerGetNodeInfo would answer (KEP-6011); nothing is counted."""
        required(request, "node_id")
        view = self._operator.view_instance(request.node_id)
        return message(
            cloud_pb2.NodeInfo,
            node_info.controller_flow(view.description, view.type),
            node_id=view.description.instance.id,
            accessible_topology=self._world.driver.topology_of_zone(view.description.instance.zone),
        )

    def _instance(self, view: InstanceView) -> cloud_pb2.Instance:
        return views.instance(view, self._world.runtime.now())
