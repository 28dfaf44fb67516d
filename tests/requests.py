"""Requests that tests of several rooms send, and what they ask of the answers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from csi_spec import csi_pb2
from mockdriver.co.csi_client import CsiClient
from tests.waiting import PATIENCE_SECONDS

_Mode = csi_pb2.VolumeCapability.AccessMode

CAPABILITY = csi_pb2.VolumeCapability(
    mount=csi_pb2.VolumeCapability.MountVolume(),
    access_mode=csi_pb2.VolumeCapability.AccessMode(mode=_Mode.SINGLE_NODE_WRITER),
)


def publish(volume_id: str, node_id: str, **fields: Any) -> csi_pb2.ControllerPublishVolumeRequest:
    """Return a request to publish a volume on a node."""
    return csi_pb2.ControllerPublishVolumeRequest(
        volume_id=volume_id, node_id=node_id, volume_capability=CAPABILITY, **fields
    )


def create(name: str, **fields: Any) -> csi_pb2.CreateVolumeRequest:
    """Return a request to create a volume."""
    return csi_pb2.CreateVolumeRequest(name=name, volume_capabilities=[CAPABILITY], **fields)


def answer(method: Callable[..., Any], request: Any, **options: Any) -> Any:
    """Make a call that succeeds; fails when patience ends, rather than never."""
    return method(request, timeout=PATIENCE_SECONDS, **options)


def is_ready(client: CsiClient, **options: Any) -> bool:
    """Ask a plugin whether it is ready."""
    return bool(answer(client.identity.Probe, csi_pb2.ProbeRequest(), **options).ready.value)


def published_ids(client: CsiClient, node_id: str) -> list[str]:
    """Ask the controller what is attached to a node."""
    request = csi_pb2.ControllerGetNodeInfoRequest(node_id=node_id)
    return list(answer(client.controller.ControllerGetNodeInfo, request).published_volume_ids)


def begin_publish(client: CsiClient, volume_id: str, node_id: str) -> Any:
    """Begin to publish a volume on a node; return the call, whose end nobody has to wait for."""
    method: Any = client.controller.ControllerPublishVolume
    return method.future(publish(volume_id, node_id), timeout=PATIENCE_SECONDS)
