"""The gRPC health service, grpc.health.v1.Health: whether this server serves.

Container probes, service meshes and `mockdriver wait` ask it. The messages are those of
grpcio-health-checking; the service is our own: that one has no List, imports gRPC's asyncio, and
leaves watchers in place when the server stops, which would make each stop as long as its grace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import grpc
from grpc_health.v1 import health_pb2

from mockdriver.control.services import run_in
from mockdriver.runtime import Event, Runtime

SERVICE = "grpc.health.v1.Health"

MAX_WATCHERS = 50
"""Each holds a thread of those that the control API has too."""

_Response = health_pb2.HealthCheckResponse


class Health:
    """Whether a server serves; the same on all of its sockets, and for all of their services."""

    def __init__(self, runtime: Runtime, pool: ThreadPoolExecutor) -> None:
        """`pool` answers: it has threads left when CSI calls hold all of theirs."""
        self._runtime = runtime
        self._pool = pool
        self._lock = runtime.lock()
        self._status = _Response.NOT_SERVING
        self._stopping = False
        self._watchers: set[Event] = set()

    def serve(self) -> None:
        """Say from now on that the server serves, unless it is stopping."""
        self._change(serving=not self._stopping, stopping=self._stopping)

    def stop(self) -> None:
        """Say for ever that it does not, and let all watchers go: no stop waits for them."""
        self._change(serving=False, stopping=True)

    def handlers(self, services: Iterable[str]) -> Mapping[str, grpc.RpcMethodHandler[Any, Any]]:
        """Return the handlers of a socket with these services, by RPC name."""
        of_socket = _HealthOfSocket(self, ("", *services, SERVICE))
        return {
            "Check": grpc.unary_unary_rpc_method_handler(
                self._in_pool(of_socket.check),
                health_pb2.HealthCheckRequest.FromString,
                _Response.SerializeToString,
            ),
            "List": grpc.unary_unary_rpc_method_handler(
                self._in_pool(of_socket.list),
                health_pb2.HealthListRequest.FromString,
                health_pb2.HealthListResponse.SerializeToString,
            ),
            "Watch": grpc.unary_stream_rpc_method_handler(
                self._in_pool(of_socket.watch),
                health_pb2.HealthCheckRequest.FromString,
                _Response.SerializeToString,
            ),
        }

    def status(self) -> Any:
        """Return how it is now."""
        return self._status

    def watched(self) -> int:
        """Return how many calls watch."""
        with self._lock:
            return len(self._watchers)

    def statuses(self, known: bool, context: grpc.ServicerContext) -> Iterator[Any]:
        """Yield how it is, again at each change, until the server stops or the peer leaves.

        A service that is not `known` stays unknown.
        """
        changed = self._runtime.event()
        with self._lock:
            room = len(self._watchers) < MAX_WATCHERS
            if room:
                self._watchers.add(changed)
        if not room:
            context.abort(
                grpc.StatusCode.RESOURCE_EXHAUSTED,
                f"{MAX_WATCHERS} calls watch the health already, use Check",
            )
        try:
            context.add_callback(changed.set)
            said = None
            while context.is_active():
                with self._lock:
                    status, stopping = self._status, self._stopping
                if not known:
                    status = _Response.SERVICE_UNKNOWN
                if status != said:
                    said = status
                    yield status
                if stopping:
                    return
                self._runtime.wait(changed)
                changed.clear()
        finally:
            with self._lock:
                self._watchers.discard(changed)

    def _in_pool(self, method: Callable[[Any, grpc.ServicerContext], Any]) -> Any:
        def behaviour(request: Any, context: grpc.ServicerContext) -> Any:
            return method(request, context)

        return run_in(self._pool, behaviour)

    def _change(self, *, serving: bool, stopping: bool) -> None:
        with self._lock:
            self._status = _Response.SERVING if serving else _Response.NOT_SERVING
            self._stopping = stopping
            watchers = tuple(self._watchers)
        for changed in watchers:
            changed.set()


class _HealthOfSocket:
    """The service of one socket; `services` are those that it knows, "" being all together."""

    def __init__(self, health: Health, services: Iterable[str]) -> None:
        self._health = health
        self._services = tuple(services)

    def check(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Answer how a service is; NOT_FOUND if it is not on this socket."""
        if request.service not in self._services:
            known = ", ".join(self._services[1:])
            context.abort(
                grpc.StatusCode.NOT_FOUND,
                f"service: {request.service[:100]!r} is not on this socket, there are: {known}",
            )
        return _Response(status=self._health.status())

    def list(self, request: Any, context: grpc.ServicerContext) -> Any:
        """Answer how all services of this socket are."""
        status = _Response(status=self._health.status())
        return health_pb2.HealthListResponse(statuses=dict.fromkeys(self._services, status))

    def watch(self, request: Any, context: grpc.ServicerContext) -> Iterator[Any]:
        """Answer how a service is, and again when that changes; ends when the server stops."""
        known = request.service in self._services
        for status in self._health.statuses(known, context):
            yield _Response(status=status)
