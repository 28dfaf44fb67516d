"""The services of the control API: for calls in this process, and for those of a gRPC server."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NoReturn, cast

import grpc
from google.protobuf import message_factory
from google.protobuf.descriptor import FileDescriptor, ServiceDescriptor
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

    def call(self, service: str, rpc: str, request: Message, caller: Caller) -> Any:
        """Make a call in this process: `call("Cloud", "Attach", AttachRequest(...), caller)`.

        Returns the response, or an iterator of responses. Raises the typed errors that `status`
        has codes for, and NoSuchRpc.
        """
        return self._method(service, rpc)(request, caller)

    def answer(self, service: str, rpc: str, body: bytes, context: grpc.ServicerContext) -> bytes:
        """Answer a call of an RPC that is no stream, as a handler of gRPC's does."""
        try:
            return cast(Message, self._begin(service, rpc, body, context)).SerializeToString()
        except Exception as error:
            _abort(context, error, rpc)

    def stream(
        self, service: str, rpc: str, body: bytes, context: grpc.ServicerContext
    ) -> Iterator[bytes]:
        """Answer a call of an RPC that is a stream."""
        try:
            for response in self._begin(service, rpc, body, context):
                yield response.SerializeToString()
        except Exception as error:
            _abort(context, error, rpc)

    def _begin(self, service: str, rpc: str, body: bytes, context: grpc.ServicerContext) -> Any:
        method = self._method(service, rpc)
        descriptor = DESCRIPTORS[service].methods_by_name[rpc]
        request = _parse(message_factory.GetMessageClass(descriptor.input_type), body)
        return method(request, Caller(self._runtime, lambda caller: _leave_with(context, caller)))

    def _method(self, service: str, rpc: str) -> Callable[[Message, Caller], Any]:
        method = getattr(self._services.get(service), rpc, None)
        if method is None or rpc not in DESCRIPTORS[service].methods_by_name:
            raise NoSuchRpc(f"{service}.{rpc} is not served here")
        return cast(Callable[[Message, Caller], Any], method)


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
