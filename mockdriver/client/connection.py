"""One connection to a mock, and how each call is made on it."""

from __future__ import annotations

from pathlib import Path
from typing import TypeVar

import grpc

from mockdriver.client.endpoint import grpc_target, socket_path
from mockdriver.client.errors import ControlError, metadata_of

DEADLINE_SECONDS = 10.0
"""How long a call may take that does not wait for anything."""

_Request = TypeVar("_Request")
_Response = TypeVar("_Response")


def open_channel(path: Path) -> grpc.Channel:
    """Return a connection of its own to a socket.

    gRPC shares connections between channels to one address, and would meet a server that came back
    with the pause of the one that went away.
    """
    return grpc.insecure_channel(
        grpc_target(path),
        options=[
            ("grpc.use_local_subchannel_pool", 1),
            ("grpc.max_receive_message_length", -1),
            ("grpc.initial_reconnect_backoff_ms", 100),
            # Not only a pause, but how long an attempt to connect may take: a busy server is slow.
            ("grpc.min_reconnect_backoff_ms", 10_000),
            ("grpc.max_reconnect_backoff_ms", 500),
            # Whoever has a proxy set does not mean a socket of this machine.
            ("grpc.enable_http_proxy", 0),
        ],
    )


class Connection:
    """A channel to the control API, with a deadline and typed errors for each call."""

    def __init__(self, endpoint: str | Path, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        self.path = socket_path(endpoint)
        self.deadline_seconds = deadline_seconds
        self.channel = open_channel(self.path)

    @property
    def endpoint(self) -> str:
        """Where it is connected to, as in `unix:///run/csi.sock`."""
        return f"unix://{self.path}"

    def call(
        self,
        method: grpc.UnaryUnaryMultiCallable[_Request, _Response],
        request: _Request,
        *,
        waits_seconds: float = 0.0,
    ) -> _Response:
        """Make a call; raises ControlError.

        `waits_seconds` is how long the server may wait, by what it is asked, before it answers.
        """
        try:
            return method(request, timeout=self.deadline_seconds + waits_seconds)
        except grpc.RpcError as error:
            # gRPC's own frames say nothing, and fill the screen of a failed test.
            raise self.refusal(method, error) from None

    def refusal(self, method: object, error: grpc.RpcError) -> ControlError:
        """Return what an error of gRPC means to whoever called."""
        rpc = _name_of(method)
        code, message = error.code(), error.details() or ""
        metadata = metadata_of(error)
        if code is grpc.StatusCode.UNAVAILABLE and not metadata:
            message = f"nobody answers at {self.endpoint}: {message}"
        elif code is grpc.StatusCode.UNIMPLEMENTED and not metadata:
            message = f"the server at {self.endpoint} has no control API, or an older one"
        return ControlError(rpc, code, message, metadata)

    def close(self) -> None:
        """Close the connection; calls in flight end with CANCELLED."""
        self.channel.close()


def _name_of(method: object) -> str:
    """Return the RPC's name, which a stub's method keeps as "/package.Service/Name"."""
    path = getattr(method, "_method", b"")
    text = path.decode() if isinstance(path, bytes) else str(path)
    return text.rpartition("/")[2] or "the call"
