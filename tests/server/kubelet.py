"""A kubelet's side of the plugin registration API."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

import grpc

from kubelet_spec import pluginregistration_pb2, pluginregistration_pb2_grpc
from tests.requests import answer


class Kubelet:
    """A connection to a registration socket, for a `with` block."""

    def __init__(self, socket: Path) -> None:
        self.channel = grpc.insecure_channel(
            f"unix:{quote(bytes(socket))}", options=[("grpc.use_local_subchannel_pool", 1)]
        )
        self._stub: Any = pluginregistration_pb2_grpc.RegistrationStub(self.channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.channel.close()

    def get_info(self) -> pluginregistration_pb2.PluginInfo:
        """Ask who the plugin is."""
        info = answer(self._stub.GetInfo, pluginregistration_pb2.InfoRequest())
        assert isinstance(info, pluginregistration_pb2.PluginInfo)
        return info

    def notify(self, *, registered: bool, error: str = "") -> None:
        """Say whether the plugin has been registered."""
        status = pluginregistration_pb2.RegistrationStatus(
            plugin_registered=registered, error=error
        )
        answer(self._stub.NotifyRegistrationStatus, status)


def endpoint_told_at(socket: Path) -> str:
    """Return where a registration socket says that the CSI socket is."""
    with Kubelet(socket) as kubelet:
        return kubelet.get_info().endpoint


def answers(socket: Path) -> bool:
    """Tell whether somebody answers on a registration socket."""
    try:
        return bool(endpoint_told_at(socket))
    except grpc.RpcError:
        return False
