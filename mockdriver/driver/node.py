"""The CSI Node service of one instance."""

from __future__ import annotations

from csi_spec import csi_pb2
from mockdriver.cloud import Caller
from mockdriver.driver import node_info
from mockdriver.driver.capabilities import NODE_INFO_FROM_CONTROLLER
from mockdriver.driver.context import NodeInfoReply
from mockdriver.driver.errors import NoInstance
from mockdriver.driver.node_volumes import NodeVolumes

MISLEADING_ZONE = "misleading-zone"
MISLEADING_LIMIT = 1
"""What a flagged NodeGetInfo answers in place of the truth, to catch a CO that believes it."""


class NodeService(NodeVolumes):
    """The node plugin on the instance `node_id`; None is a machine without an identity."""

    def NodeGetCapabilities(
        self, request: csi_pb2.NodeGetCapabilitiesRequest, caller: Caller
    ) -> csi_pb2.NodeGetCapabilitiesResponse:
        """Answer with the node capabilities that are on."""
        response = csi_pb2.NodeGetCapabilitiesResponse()
        for number in self._capabilities.numbers("node"):
            rpc = csi_pb2.NodeServiceCapability.RPC(
                type=csi_pb2.NodeServiceCapability.RPC.Type.ValueType(number)
            )
            response.capabilities.add(rpc=rpc)
        return response

    def NodeGetInfo(
        self, request: csi_pb2.NodeGetInfoRequest, caller: Caller
    ) -> csi_pb2.NodeGetInfoResponse:
        """Answer with the node's identity, and with topology and limit in the plain flow.

        With the flag the node asks no cloud: its id is local metadata (KEP-6011, NodeGetInfo
        Request Flag). Without the capability NODE_INFO_FROM_CONTROLLER the flag is not known.
        """
        if self._node_id is None:
            raise NoInstance("the scenario has no instance for this Node service to run on")
        reply = NodeInfoReply.FULL
        if request.controller_get_node_info and NODE_INFO_FROM_CONTROLLER in self._capabilities:
            reply = self._context.config.node_info_reply
        if reply is NodeInfoReply.OMIT:
            return csi_pb2.NodeGetInfoResponse(node_id=self._node_id)
        if reply is NodeInfoReply.MISLEADING:
            return csi_pb2.NodeGetInfoResponse(
                node_id=self._node_id,
                max_volumes_per_node=MISLEADING_LIMIT,
                accessible_topology=self._context.topology_of(MISLEADING_ZONE),
            )
        description, type_ = self._context.describe_node(self._node_id, caller)
        return csi_pb2.NodeGetInfoResponse(
            node_id=self._node_id,
            max_volumes_per_node=node_info.plain_flow(description, type_),
            accessible_topology=self._context.topology_of(description.instance.zone),
        )
