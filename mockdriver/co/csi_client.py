"""A CO's connection to one CSI socket."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self
from urllib.parse import quote

import grpc

from csi_spec import csi_pb2_grpc


class CsiClient:
    """Stubs of the CSI services behind a Unix socket; close it, or use it in a `with` block."""

    def __init__(self, socket: Path) -> None:
        # A channel of its own: gRPC shares connections between channels to one address, and a
        # restarted driver would be met with the back-off of the one that went away.
        self._channel = grpc.insecure_channel(
            f"unix:{quote(bytes(socket))}",
            options=[
                ("grpc.use_local_subchannel_pool", 1),
                ("grpc.max_receive_message_length", -1),
            ],
        )
        self.identity = csi_pb2_grpc.IdentityStub(self._channel)
        self.controller = csi_pb2_grpc.ControllerStub(self._channel)
        self.node = csi_pb2_grpc.NodeStub(self._channel)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection; calls in flight end with CANCELLED."""
        self._channel.close()
