"""CSI calls to a running mock, on each of its sockets."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import grpc
from google.protobuf import descriptor_pool
from google.protobuf.descriptor import FileDescriptor

from mockdriver.client.connection import open_channel

if TYPE_CHECKING:
    from types import ModuleType

    from mockdriver.client import csi

_A_MESSAGE = "csi.v1.GetPluginInfoRequest"
"""Any message of CSI: whoever has this one has them all."""


class CsiStubsCollide(ImportError):
    """Another csi.proto is in this interpreter already, and protobuf holds only one."""


class CsiStubs:
    """Typed stubs of the services at the endpoint, and of other nodes."""

    identity: csi.Identity
    controller: csi.Controller
    group_controller: csi.GroupController
    node: csi.Node
    """The Node service at the endpoint."""

    def __init__(self, endpoint: Path, nodes: Callable[[], Mapping[str, Path]]) -> None:
        """Take the endpoint's socket, and a function that returns those of other nodes.

        Raises CsiStubsCollide.
        """
        module: Any = _csi_module()
        self._module = module
        self._nodes = nodes
        self._node_channels: dict[str, grpc.Channel] = {}
        self._channel = open_channel(endpoint)
        self.identity = module.Identity(self._channel)
        self.controller = module.Controller(self._channel)
        self.group_controller = module.GroupController(self._channel)
        self.node = module.Node(self._channel)

    def node_of(self, node_id: str) -> csi.Node:
        """Return the Node service of another node; raises LookupError if it is not served."""
        if node_id not in self._node_channels:
            self._node_channels[node_id] = open_channel(socket_of(node_id, self._nodes()))
        node: csi.Node = self._module.Node(self._node_channels[node_id])
        return node

    def close(self) -> None:
        """Close all connections."""
        for channel in (self._channel, *self._node_channels.values()):
            channel.close()


def socket_of(node_id: str, nodes: Mapping[str, Path]) -> Path:
    """Return the socket of a node; raises LookupError that tells which there are."""
    if node_id not in nodes:
        known = ", ".join(list(nodes)[:20]) or "none; start it with nodes=[...] or nodes='*'"
        raise LookupError(f"no node {node_id!r} has a socket of its own; there are: {known}")
    return nodes[node_id]


def _csi_module() -> ModuleType:
    try:
        from mockdriver.client import csi  # noqa: PLC0415 - see its docstring
    except (TypeError, KeyError) as error:
        if "csi_spec.csi_pb2" in sys.modules:
            raise
        raise CsiStubsCollide(_collision()) from error
    return csi


def _collision() -> str:
    pool: Any = descriptor_pool.Default()
    try:
        file = str(pool.FindMessageTypeByName(_A_MESSAGE).file.name)
    except KeyError:
        file = "csi.proto"
    owners = sorted(name for name, module in list(sys.modules.items()) if _describes(module, file))
    by = f" by the module {owners[0]}" if owners else ""
    return (
        f"driver.csi needs csi_spec.csi_pb2, but this interpreter has another {file}, registered"
        f"{by}, and protobuf holds CSI only once. Use those stubs on driver.channel() or "
        "driver.endpoint; everything but driver.csi works without ours"
    )


def _describes(module: object, file: str) -> bool:
    descriptor = getattr(module, "DESCRIPTOR", None)
    return isinstance(descriptor, FileDescriptor) and descriptor.name == file
