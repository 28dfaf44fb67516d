"""The Cloud service's RPCs about instances, and what the driver would say of them."""

from __future__ import annotations

from typing import Any

from mockdriver.cloud import Caller, Instance, InstanceView
from mockdriver.control import views
from mockdriver.control.checking import check_disk_id, checked, checked_value, required
from mockdriver.control.errors import InvalidRequest
from mockdriver.control.messages import message, plain
from mockdriver.control.network_interfaces import MAX_AT_ONCE
from mockdriver.control.paging import next_token, page_size, pattern, place_of
from mockdriver.control.rpc_group import RpcGroup
from mockdriver.control.v1 import cloud_pb2
from mockdriver.driver import node_info
from mockdriver.driver.attachment_tags import PUBLISHED_AT_START
from mockdriver.scenario import build
from mockdriver.scenario.cloud_model import NewInstance
from mockdriver.scenario.codec import data, record
from mockdriver.scenario.kinds import whole_number

_COUNT = whole_number(0, MAX_AT_ONCE)


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
            next_page_token=next_token(page.next_place),
            total=page.total,
        )

    def GetInstance(
        self, request: cloud_pb2.GetInstanceRequest, caller: Caller
    ) -> cloud_pb2.Instance:
        """Return an instance with what is on it."""
        required(request, "id")
        return self._instance(self._operator.view_instance(request.id))

    def AddInstance(
        self, request: cloud_pb2.AddInstanceRequest, caller: Caller
    ) -> cloud_pb2.Instance:
        """Add an instance with what is on it, in one step."""
        required(request, "id")
        given = plain(request)
        given.pop("force", None)
        _one_of(given, "network_interfaces", "network_interface_count")
        if "network_interface_count" in given:
            count = given.pop("network_interface_count")
            given["network_interfaces"] = checked_value(_COUNT, count, "network_interface_count")
        new = checked(NewInstance, given)
        for field in ("boot_disk", "attached", "published"):
            ids = given.get(field, ())
            for id in [ids] if isinstance(ids, str) else ids:
                check_disk_id(id, field)
        build.add_instance(self._cloud, new, published_tags=PUBLISHED_AT_START, force=request.force)
        return self._instance(self._operator.view_instance(request.id))

    def ChangeInstance(
        self, request: cloud_pb2.ChangeInstanceRequest, caller: Caller
    ) -> cloud_pb2.Instance:
        """Change what is given of an instance; never refused for slots in use."""
        required(request, "id")
        changes = plain(request)
        changes.pop("force", None)
        if request.HasField("type") and not request.type:
            changes["type"] = None

        def changed(present: Instance) -> Instance:
            model = checked(NewInstance, data(present, NewInstance) | changes)
            return record(Instance, model)

        return self._instance(
            self._operator.change_instance(request.id, changed, force=request.force)
        )

    def RemoveInstance(
        self, request: cloud_pb2.RemoveInstanceRequest, caller: Caller
    ) -> cloud_pb2.RemoveInstanceResponse:
        """Remove an instance; its interfaces and its boot disk go with it."""
        required(request, "id")
        self._operator.terminate_instance(request.id)
        self._world.mounts.forget_node(request.id, self._world.driver.files)
        return cloud_pb2.RemoveInstanceResponse()

    def GetNodeInfo(
        self, request: cloud_pb2.GetNodeInfoRequest, caller: Caller
    ) -> cloud_pb2.NodeInfo:
        """Return what ControllerGetNodeInfo would answer (KEP-6011); nothing is counted."""
        required(request, "node_id")
        view = self._operator.view_instance(request.node_id)
        instance = view.description.instance
        if instance.type is not None:
            self._operator.instance_type(instance.type)  # one that has gone is not found
        return message(
            cloud_pb2.NodeInfo,
            node_info.controller_flow(view.description, view.type),
            node_id=instance.id,
            accessible_topology=self._world.driver.topology_of_zone(instance.zone),
        )

    def _instance(self, view: InstanceView) -> cloud_pb2.Instance:
        return views.instance(view, self._world.runtime.now())


def _one_of(given: dict[str, Any], first: str, second: str) -> None:
    if first in given and second in given:
        raise InvalidRequest([(second, f"is given with {first}, allowed: one of both")])
