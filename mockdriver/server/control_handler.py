"""The control API at a socket: imported when somebody calls it for the first time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import grpc

from mockdriver.control.names import PACKAGE, STREAMS

if TYPE_CHECKING:
    from mockdriver.control.services import ControlServices


class ControlHandler(grpc.GenericRpcHandler):
    """Answers calls of the control API. They run in `pool`, not in that of the server.

    So it answers while CSI calls hold every thread of the server.
    """

    def __init__(self, services: Callable[[], ControlServices], pool: ThreadPoolExecutor) -> None:
        self._services = services
        self._pool = pool

    def service(
        self, handler_call_details: grpc.HandlerCallDetails
    ) -> grpc.RpcMethodHandler[bytes, bytes] | None:
        """Return the handler of a call; None if it is not of the control API."""
        full_name, _, rpc = handler_call_details.method.removeprefix("/").partition("/")
        package, _, service = full_name.rpartition(".")
        if package != PACKAGE:
            return None

        def answer(body: bytes, context: grpc.ServicerContext) -> bytes:
            return self._services().answer(service, rpc, body, context)

        def stream(body: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
            return self._services().stream(service, rpc, body, context)

        is_stream = f"{service}.{rpc}" in STREAMS
        behaviour: Any = stream if is_stream else answer
        # gRPC looks for this attribute, and takes the server's pool where there is none.
        behaviour.experimental_thread_pool = self._pool
        if is_stream:
            return grpc.unary_stream_rpc_method_handler(behaviour)
        return grpc.unary_unary_rpc_method_handler(behaviour)
