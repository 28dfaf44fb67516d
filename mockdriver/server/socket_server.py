"""A gRPC server on one Unix socket."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
from google.protobuf.descriptor_pool import DescriptorPool

from csi_spec import csi_pb2, csi_pb2_grpc
from mockdriver.driver.calls import OWN_CALL, Handler
from mockdriver.server.own_files import OwnFile
from mockdriver.server.reflection import enable_reflection
from mockdriver.server.sockets import (
    EndpointMistake,
    grpc_target,
    make_way,
    name_to_bind,
)

WORKER_THREADS = 1_000
"""Threads start only when needed. A call that is held or waits for the cloud keeps one."""

CONTROL_THREADS = 200
"""Calls of the control API at once. One that waits, and a stream, keep one each."""

MAX_RECEIVE_BYTES = 64 * 1024 * 1024
"""So that an oversized field reaches our own check, which names it, before gRPC's does."""

GrpcHandlers = Mapping[str, Mapping[str, "grpc.RpcMethodHandler[Any, Any]"]]
"""By the full name of a service and the name of an RPC."""

NOTHING_BESIDE: GrpcHandlers = {}

_READY_TIMEOUT_SECONDS = 30.0


class NotReady(Exception):
    """The server listens, but does not answer."""


def worker_pool() -> ThreadPoolExecutor:
    """Make the pool of threads that calls run on; sockets of one process share it."""
    return ThreadPoolExecutor(WORKER_THREADS, thread_name_prefix="call")


def control_pool() -> ThreadPoolExecutor:
    """Make the pool that calls of the control API run on.

    It has threads left when CSI calls hold all of theirs: somebody has to let these go.
    """
    return ThreadPoolExecutor(CONTROL_THREADS, thread_name_prefix="control")


class SocketServer:
    """Serves services, and reflection for them, on one socket."""

    def __init__(
        self,
        path: Path,
        services: Mapping[str, Mapping[str, Handler]],
        pool: ThreadPoolExecutor,
        descriptors: DescriptorPool,
        *,
        beside: GrpcHandlers = NOTHING_BESIDE,
        bind_as: Path | None = None,
    ) -> None:
        """Bind and start; raises EndpointMistake.

        `services` are handlers by a service's full name and by RPC name, `beside` are gRPC's own
        of other services; `descriptors` describe them all for reflection. `bind_as` is another
        name in the folder to bind first, if the usual one will not do.
        """
        self.path = path
        make_way(path)
        bound = bind_as or name_to_bind(path)
        make_way(bound)
        # No maximum_concurrent_rpcs: gRPC would answer RESOURCE_EXHAUSTED by itself, and a CO
        # would take that for a full node.
        self._server = grpc.server(
            pool,
            options=[
                ("grpc.max_receive_message_length", MAX_RECEIVE_BYTES),
                ("grpc.so_reuseport", 0),
            ],
        )
        for service, handlers in services.items():
            self._server.add_registered_method_handlers(
                service,
                {name: grpc.unary_unary_rpc_method_handler(h) for name, h in handlers.items()},
            )
        for service, grpc_handlers in beside.items():
            self._server.add_registered_method_handlers(service, dict(grpc_handlers))
        enable_reflection(self._server, (*services, *beside), descriptors)
        try:
            self._server.add_insecure_port(grpc_target(bound))
        except RuntimeError:
            raise EndpointMistake(f"endpoint {str(path)!r}: cannot be bound") from None
        self._server.start()
        try:
            bound.rename(path)
        except OSError as error:
            self._server.stop(None)
            raise EndpointMistake(
                f"endpoint {str(path)!r}: cannot be bound: {error.strerror}"
            ) from None
        self._file = OwnFile(path)

    def begin_stop(self, grace_seconds: float) -> Callable[[], object]:
        """Take no new calls and remove the socket; return a function that waits for the end.

        Calls in flight may finish for `grace_seconds`, then they are ended.
        """
        stopped = self._server.stop(grace_seconds)
        self.remove_file()
        return stopped.wait

    def is_reachable(self) -> bool:
        """Tell whether the socket is still at its path, so that clients can find it."""
        return self._file.is_there()

    def remove_file(self) -> None:
        """Remove the socket, unless another process has put its own in the place."""
        with contextlib.suppress(OSError):
            self._file.remove()


def wait_until_ready(path: Path) -> None:
    """Return once Probe answers through a CSI socket; raises NotReady."""
    with grpc.insecure_channel(grpc_target(path)) as channel:
        try:
            csi_pb2_grpc.IdentityStub(channel).Probe(
                csi_pb2.ProbeRequest(),
                timeout=_READY_TIMEOUT_SECONDS,
                wait_for_ready=True,
                metadata=(OWN_CALL,),
            )
        except grpc.RpcError as error:
            raise NotReady(f"{path}: does not answer Probe: {error}") from None


def wait_until_connectable(path: Path) -> None:
    """Return once a connection through a socket can be made; raises NotReady."""
    with grpc.insecure_channel(grpc_target(path)) as channel:
        try:
            grpc.channel_ready_future(channel).result(_READY_TIMEOUT_SECONDS)
        except grpc.FutureTimeoutError:
            raise NotReady(f"{path}: does not answer") from None
