"""The CSI Controller service. The layers around it have checked fields and in-flight calls."""

from __future__ import annotations

from csi_spec import csi_pb2
from mockdriver.cloud import Caller
from mockdriver.driver import node_info
from mockdriver.driver.publishing import PublishingRpcs
from mockdriver.driver.volume_listing import ListingRpcs
from mockdriver.driver.volumes import VolumeRpcs


class ControllerService(VolumeRpcs, PublishingRpcs, ListingRpcs):
    """All RPCs of the Controller service; its bases hold those about volumes, by subject."""

    def ControllerGetCapabilities(
        self, request: csi_pb2.ControllerGetCapabilitiesRequest, caller: Caller
    ) -> csi_pb2.ControllerGetCapabilitiesResponse:
        """Answer with the controller capabilities that are on."""
        response = csi_pb2.ControllerGetCapabilitiesResponse()
        for number in self._capabilities.numbers("controller"):
            rpc = csi_pb2.ControllerServiceCapability.RPC(
                type=csi_pb2.ControllerServiceCapability.RPC.Type.ValueType(number)
            )
            response.capabilities.add(rpc=rpc)
        return response

    def ControllerGetNodeInfo(
        self, request: csi_pb2.ControllerGetNodeInfoRequest, caller: Caller
    ) -> csi_pb2.ControllerGetNodeInfoResponse:
        """Answer with a node's topology, limit and attached volumes (KEP-6011)."""
        description, type_ = self._context.describe_node(request.node_id, caller)
        info = node_info.controller_flow(description, type_)
        return csi_pb2.ControllerGetNodeInfoResponse(
            max_volumes_per_node=info.max_volumes_per_node,
            accessible_topology=self._context.topology_of(description.instance.zone),
            published_volume_ids=info.published_volume_ids,
        )
