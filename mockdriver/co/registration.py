"""What kubelet and external-attacher do to learn a node's topology and limit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from csi_spec import csi_pb2
from mockdriver.co.calling import Answer, Call
from mockdriver.co.csi_client import CsiClient
from mockdriver.co.effective_limit import effective_limit
from mockdriver.co.volume_records import VolumeRecords

RETRIED_CODES = frozenset({"UNAVAILABLE", "ABORTED", "DEADLINE_EXCEEDED"})
MAX_RETRIES = 10
_FIRST_PAUSE_SECONDS = 1.0
_LONGEST_PAUSE_SECONDS = 30.0

_FROM_CONTROLLER = csi_pb2.NodeServiceCapability.RPC.NODE_INFO_FROM_CONTROLLER


@dataclass(frozen=True, slots=True)
class NodeView:
    """What the CO learns of a node.

    `published_volume_ids` is None in the plain flow, which has no such list. `effective_limit`
    None means that no limit is set.
    """

    node_id: str
    max_volumes_per_node: int
    accessible_topology: Mapping[str, str] = field(default_factory=dict)
    published_volume_ids: tuple[str, ...] | None = None
    effective_limit: int | None = None


@dataclass(frozen=True, slots=True)
class Lookup:
    """The outcome of a lookup: the last call's answer, and the view if that was OK."""

    answer: Answer
    view: NodeView | None = None


def register(
    node: CsiClient,
    controller: CsiClient,
    records: VolumeRecords,
    call: Call,
    pause: Callable[[float], None],
) -> Lookup:
    """Register a node, by the flow that its capabilities allow (KEP-6011, Workflow).

    A node with NODE_INFO_FROM_CONTROLLER is asked for its id alone, and the controller for the
    rest. Answers that may pass are retried up to `MAX_RETRIES` times, after a `pause` in seconds.
    """

    def retried(method: Callable[..., object], request: object) -> Answer:
        pause_seconds = _FIRST_PAUSE_SECONDS
        for _ in range(MAX_RETRIES):
            answer = call(method, request)
            if answer.code not in RETRIED_CODES:
                return answer
            pause(pause_seconds)
            pause_seconds = min(pause_seconds * 2, _LONGEST_PAUSE_SECONDS)
        return call(method, request)

    answer = retried(node.node.NodeGetCapabilities, csi_pb2.NodeGetCapabilitiesRequest())
    if not answer.ok:
        return Lookup(answer)
    if all(item.rpc.type != _FROM_CONTROLLER for item in answer.response.capabilities):
        return plain_node_info(node, retried)
    request = csi_pb2.NodeGetInfoRequest(controller_get_node_info=True)
    answer = retried(node.node.NodeGetInfo, request)
    if not answer.ok:
        return Lookup(answer)
    # Topology and limit in this answer must not be used, even if they are there.
    return refresh(answer.response.node_id, controller, records, retried)


def refresh(node_id: str, controller: CsiClient, records: VolumeRecords, call: Call) -> Lookup:
    """Ask the controller about a node and compute its effective limit (KEP-6011)."""
    with records.recording(node_id) as managed:
        answer = call(
            controller.controller.ControllerGetNodeInfo,
            csi_pb2.ControllerGetNodeInfoRequest(node_id=node_id),
        )
    if not answer.ok:
        return Lookup(answer)
    info = answer.response
    view = NodeView(
        node_id=node_id,
        max_volumes_per_node=info.max_volumes_per_node,
        accessible_topology=dict(info.accessible_topology.segments),
        published_volume_ids=tuple(info.published_volume_ids),
        effective_limit=effective_limit(
            info.max_volumes_per_node, info.published_volume_ids, managed
        ),
    )
    return Lookup(answer, view)


def plain_node_info(node: CsiClient, call: Call) -> Lookup:
    """Ask a node about itself, without the flag: its limit is the CO's limit as it is."""
    answer = call(node.node.NodeGetInfo, csi_pb2.NodeGetInfoRequest())
    if not answer.ok:
        return Lookup(answer)
    info = answer.response
    view = NodeView(
        node_id=info.node_id,
        max_volumes_per_node=info.max_volumes_per_node,
        accessible_topology=dict(info.accessible_topology.segments),
        effective_limit=info.max_volumes_per_node or None,
    )
    return Lookup(answer, view)
