"""The control API as JSON over HTTP: any RPC of any of its services, none of them by name."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import grpc
from google.protobuf import json_format, message_factory
from google.protobuf.descriptor import MethodDescriptor
from google.protobuf.message import Message

from mockdriver.cloud import Caller
from mockdriver.cloud.errors import quoted
from mockdriver.control.services import DESCRIPTORS, ControlServices
from mockdriver.control.status import status_of

Code = grpc.StatusCode

HTTP_STATUS: Mapping[grpc.StatusCode, int] = {
    Code.OK: 200,
    Code.CANCELLED: 499,
    Code.UNKNOWN: 500,
    Code.INVALID_ARGUMENT: 400,
    Code.DEADLINE_EXCEEDED: 504,
    Code.NOT_FOUND: 404,
    Code.ALREADY_EXISTS: 409,
    Code.PERMISSION_DENIED: 403,
    Code.RESOURCE_EXHAUSTED: 429,
    Code.FAILED_PRECONDITION: 400,
    Code.ABORTED: 409,
    Code.OUT_OF_RANGE: 400,
    Code.UNIMPLEMENTED: 501,
    Code.INTERNAL: 500,
    Code.UNAVAILABLE: 503,
    Code.DATA_LOSS: 500,
    Code.UNAUTHENTICATED: 401,
}
"""The status of an answer by gRPC's code; the table is that of google.rpc.Code."""


class Refusal(Exception):
    """An answer that is an error: gRPC's code, the name of the error, and a message."""

    def __init__(self, code: grpc.StatusCode, error: str, message: str) -> None:
        self.code, self.error, self.message = code, error, message
        super().__init__(message)

    @property
    def http_status(self) -> int:
        """The status of the HTTP answer."""
        return HTTP_STATUS[self.code]

    def plain(self) -> dict[str, str]:
        """Return it as the body of the answer."""
        return {"code": self.code.name, "error": self.error, "message": self.message}


@dataclass(frozen=True)
class Call:
    """One call of the control API, read but not made yet."""

    method: MethodDescriptor
    request: Message

    @property
    def is_stream(self) -> bool:
        """Tell whether it has many answers."""
        return bool(self.method.server_streaming)


class Gateway:
    """Reads calls and makes them, which may take as long as it likes."""

    def __init__(self, control: ControlServices) -> None:
        self._control = control

    def read(self, service: str, rpc: str, body: object) -> Call:
        """Return the call that a URL and a body mean; raises Refusal.

        `service` is the full name, `body` the request as the JSON of protobuf has it.
        """
        known = {item.full_name: item for item in DESCRIPTORS.values()}.get(service)
        method = None if known is None else known.methods_by_name.get(rpc)
        if method is None:
            name = quoted(f"{service}/{rpc}")
            raise Refusal(Code.UNIMPLEMENTED, "NoSuchRpc", f"NoSuchRpc: there is no {name}")
        if not isinstance(body, dict):
            raise not_allowed("the body must be a JSON object, as {}")
        request = message_factory.GetMessageClass(method.input_type)()
        try:
            json_format.ParseDict(body, request)
        except json_format.ParseError as error:
            raise not_allowed(_shortened(str(error))) from None
        except RecursionError:
            raise not_allowed("the body is nested too deeply") from None
        return Call(method, request)

    def make(self, call: Call, caller: Caller) -> dict[str, Any]:
        """Make a call that is no stream, and return its answer as plain data; raises Refusal."""
        with _refusing(call):
            return plain(self._begin(call, caller))

    def stream(self, call: Call, caller: Caller) -> Iterator[Message]:
        """Make a call that is a stream, and yield its answers; raises Refusal."""
        with _refusing(call):
            yield from self._begin(call, caller)

    def _begin(self, call: Call, caller: Caller) -> Any:
        service = call.method.containing_service.name
        return self._control.call(service, call.method.name, call.request, caller)


@contextmanager
def _refusing(call: Call) -> Iterator[None]:
    try:
        yield
    except Exception as error:
        raise Refusal(*status_of(error, call.method.name)) from error


def plain(message: Message) -> dict[str, Any]:
    """Return a message as JSON has it, with fields named as in the proto and with zeros."""
    return json_format.MessageToDict(
        message,
        preserving_proto_field_name=True,
        always_print_fields_with_no_presence=True,
    )


def not_allowed(problem: str) -> Refusal:
    """Return what refuses a request that is none, in the words of the control API."""
    return Refusal(Code.INVALID_ARGUMENT, "InvalidRequest", f"InvalidRequest: {problem}")


def _shortened(text: str) -> str:
    return text if len(text) <= 300 else f"{text[:300]}…"
