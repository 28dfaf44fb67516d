"""The table of RPCs: one row each, with what the layers around the service methods need to know.

A new RPC is one row here and one method of its service.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from mockdriver.driver import capabilities
from mockdriver.driver.capabilities import Capability
from mockdriver.driver.in_flight import InFlightKey
from mockdriver.driver.mounts import safe_path

KeyOf = Callable[[Any], InFlightKey]


@dataclass(frozen=True, slots=True)
class Rpc:
    """One RPC of CSI.

    `needs` is the capability without which it answers UNIMPLEMENTED. `required` are the fields
    that must not be empty. `key` is what a call holds while it runs.
    """

    service: str
    name: str
    needs: Capability | None = None
    required: tuple[str, ...] = ()
    key: KeyOf | None = None


def _volume(request: Any) -> InFlightKey:
    return InFlightKey("volume", request.volume_id)


def _volume_on_node(request: Any) -> InFlightKey:
    # An Unpublish without node_id means every node: the whole volume.
    return InFlightKey("volume", request.volume_id, request.node_id or None)


def _volume_at_staging(request: Any) -> InFlightKey:
    return InFlightKey("volume", request.volume_id, safe_path.normal(request.staging_target_path))


def _volume_at_target(request: Any) -> InFlightKey:
    return InFlightKey("volume", request.volume_id, safe_path.normal(request.target_path))


def _name(request: Any) -> InFlightKey:
    return InFlightKey("volume name", request.name)


RPCS = (
    Rpc("Identity", "GetPluginInfo"),
    Rpc("Identity", "GetPluginCapabilities"),
    Rpc("Identity", "Probe"),
    Rpc("Controller", "ControllerGetCapabilities"),
    Rpc(
        "Controller",
        "CreateVolume",
        capabilities.CREATE_DELETE_VOLUME,
        required=("name", "volume_capabilities"),
        key=_name,
    ),
    Rpc(
        "Controller",
        "DeleteVolume",
        capabilities.CREATE_DELETE_VOLUME,
        required=("volume_id",),
        key=_volume,
    ),
    Rpc(
        "Controller",
        "ControllerPublishVolume",
        capabilities.PUBLISH_UNPUBLISH_VOLUME,
        required=("volume_id", "node_id", "volume_capability"),
        key=_volume_on_node,
    ),
    Rpc(
        "Controller",
        "ControllerUnpublishVolume",
        capabilities.PUBLISH_UNPUBLISH_VOLUME,
        required=("volume_id",),
        key=_volume_on_node,
    ),
    Rpc(
        "Controller",
        "ControllerGetNodeInfo",
        capabilities.GET_NODE_INFO,
        required=("node_id",),
    ),
    Rpc(
        "Controller",
        "ValidateVolumeCapabilities",
        required=("volume_id", "volume_capabilities"),
    ),
    Rpc("Controller", "ListVolumes", capabilities.LIST_VOLUMES),
    Rpc("Controller", "ControllerGetVolume", capabilities.GET_VOLUME, required=("volume_id",)),
    Rpc("Controller", "GetCapacity", capabilities.GET_CAPACITY),
    Rpc(
        "Node",
        "NodeStageVolume",
        capabilities.STAGE_UNSTAGE_VOLUME,
        required=("volume_id", "staging_target_path", "volume_capability"),
        key=_volume_at_staging,
    ),
    Rpc(
        "Node",
        "NodeUnstageVolume",
        capabilities.STAGE_UNSTAGE_VOLUME,
        required=("volume_id", "staging_target_path"),
        key=_volume_at_staging,
    ),
    Rpc(
        "Node",
        "NodePublishVolume",
        required=("volume_id", "target_path", "volume_capability"),
        key=_volume_at_target,
    ),
    Rpc(
        "Node",
        "NodeUnpublishVolume",
        required=("volume_id", "target_path"),
        key=_volume_at_target,
    ),
    Rpc(
        "Node",
        "NodeGetVolumeStats",
        capabilities.GET_VOLUME_STATS,
        required=("volume_id", "volume_path"),
    ),
    Rpc("Node", "NodeGetCapabilities"),
    Rpc("Node", "NodeGetInfo"),
)

SERVICE_NEEDS = {"Controller": capabilities.CONTROLLER_SERVICE}
"""The plugin capability without which a whole service answers UNIMPLEMENTED."""

BY_NAME = {(rpc.service, rpc.name): rpc for rpc in RPCS}
