"""The services of the control API: in-process, and as handlers that a gRPC server can register."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NoReturn, cast

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor import FileDescriptor, MethodDescriptor, ServiceDescriptor
from google.protobuf.message import DecodeError, Message

from mockdriver.cloud import Caller
from mockdriver.control.errors import InvalidRequest, NoSuchRpc
from mockdriver.control.status import ERROR_KEY, status_of
from mockdriver.control.v1 import cloud_pb2, faults_pb2, journal_pb2, state_pb2
from mockdriver.runtime import Runtime

FILES: tuple[FileDescriptor, ...] = tuple(
    cast(FileDescriptor, module.DESCRIPTOR)
    for module in (cloud_pb2, faults_pb2, journal_pb2, state_pb2)
)
"""What describes the control API."""

DESCRIPTORS: Mapping[str, ServiceDescriptor] = {
    name: service for file in FILES for name, service in file.services_by_name.items()
}
"""The services by their short names: Cloud, Faults, Journal, State, Clock."""

Handlers = Mapping[str, Mapping[str, "grpc.RpcMethodHandler[Any, Any]"]]
"""gRPC's handlers, by the full name of a service and the name of an RPC."""


class ControlServices:
    """All services, each of a class that is called as the service, with `Service` at the end.

    Their methods have the names of the RPCs, take the request and a `Caller` to wait with, and
    return the response, or an iterator of responses for a stream.
    """

    def __init__(self, runtime: Runtime, services: Iterable[object]) -> None:
        self._runtime = runtime
        self._services = {
            type(service).__name__.removesuffix("Service"): service for service in services
        }

    @staticmethod
    def files() -> tuple[FileDescriptor, ...]:
        """Return the files that describe the services."""
        return FILES

    def call(self, service: str, rpc: str, request: Message, caller: Caller) -> Any:
        """Make a call in this process: `call("Cloud", "Attach", AttachRequest(...), caller)`.

        Returns the response, or an iterator of responses. Raises the typed errors that `status`
        has codes for, and NoSuchRpc.
        """
        return self._method(service, rpc)(request, caller)

    def handlers(self, pool: ThreadPoolExecutor) -> Handlers:
        """Return the handlers of all RPCs. They run in `pool`, not in that of the server.

        So the control API answers while CSI calls hold every thread of the server.
        """
        return {
            DESCRIPTORS[name].full_name: {
                method.name: self._handler(name, method, pool)
                for method in DESCRIPTORS[name].methods
            }
            for name in self._services
        }

    def _method(self, service: str, rpc: str) -> Callable[[Message, Caller], Any]:
        method = getattr(self._services.get(service), rpc, None)
        if method is None or rpc not in DESCRIPTORS[service].methods_by_name:
            raise NoSuchRpc(f"{service}.{rpc} is not served here")
        return cast(Callable[[Message, Caller], Any], method)

    def _handler(
        self, service: str, method: MethodDescriptor, pool: ThreadPoolExecutor
    ) -> grpc.RpcMethodHandler[Any, Any]:
        request_type = message_factory.GetMessageClass(method.input_type)

        def begin(body: bytes, context: grpc.ServicerContext) -> Any:
            caller = Caller(self._runtime, lambda caller: _leave_with(context, caller))
            return self.call(service, method.name, _parse(request_type, body), caller)

        def answer(body: bytes, context: grpc.ServicerContext) -> bytes:
            try:
                return cast(Message, begin(body, context)).SerializeToString()
            except Exception as error:
                _abort(context, error, method.name)

        def stream(body: bytes, context: grpc.ServicerContext) -> Iterator[bytes]:
            try:
                responses = begin(body, context)
                # The peer learns from this that it misses nothing from now on.
                context.send_initial_metadata(())
                for response in responses:
                    yield response.SerializeToString()
            except Exception as error:
                _abort(context, error, method.name)

        if method.server_streaming:
            return grpc.unary_stream_rpc_method_handler(run_in(pool, stream))
        return grpc.unary_unary_rpc_method_handler(run_in(pool, answer))


def run_in(pool: ThreadPoolExecutor, behaviour: Any) -> Any:
    """Return a handler's function, a new one, made to run in another pool than the server's."""
    # gRPC looks for this attribute, and takes the server's pool where there is none.
    behaviour.experimental_thread_pool = pool
    return behaviour


def _parse(request_type: type[Message], body: bytes) -> Message:
    request = request_type()
    try:
        request.ParseFromString(body)
    except DecodeError:
        raise InvalidRequest(
            [("request", f"{len(body)} bytes that are no {request_type.DESCRIPTOR.full_name}")]
        ) from None
    return request


def _abort(context: grpc.ServicerContext, error: Exception, rpc: str) -> NoReturn:
    code, name, message = status_of(error, rpc)
    context.set_trailing_metadata(((ERROR_KEY, name),))
    context.abort(code, message)


def _leave_with(context: grpc.ServicerContext, caller: Caller) -> None:
    """Let the caller leave when the peer hangs up or its deadline passes."""
    if not context.add_callback(caller.leave):
        caller.leave()
