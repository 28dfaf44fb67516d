"""One call, one way through: the layers around a service method, composed into one function.

journal -> status translation -> capability gate and field checks -> in-flight guard -> faults ->
method.
The function takes and returns bytes. Composed once per RPC when the server is built: a chain of
gRPC interceptors would cost a third of the throughput (docs/decisions).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NoReturn, Protocol, cast

import grpc
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import DecodeError, Message

from csi_spec import csi_pb2
from mockdriver.cloud import Caller
from mockdriver.driver.calls_in_flight import CallsInFlight
from mockdriver.driver.capabilities import Capabilities
from mockdriver.driver.errors import InvalidField, NotImplementedRpc
from mockdriver.driver.fault_layer import FaultLayer, Method
from mockdriver.driver.field_checks import checker
from mockdriver.driver.in_flight import InFlight
from mockdriver.driver.rpc_caller import RpcCaller
from mockdriver.driver.rpcs import BY_NAME, SERVICE_NEEDS, Rpc
from mockdriver.driver.status import status_of
from mockdriver.faults.errors import ERROR_DETAILS_KEY, InjectedFailure, ProcessEnds
from mockdriver.journal import Entry, Journal
from mockdriver.runtime import Runtime

OWN_CALL = ("mockdriver-own-call", "readiness")
"""Metadata of the calls that a server makes of itself."""


class PeerContext(Protocol):
    """What a call's layers use of grpc.ServicerContext."""

    def peer(self) -> str:
        """Name whoever calls."""

    def add_callback(self, callback: Callable[[], None]) -> bool:
        """Run `callback` when the call ends; False if it has ended."""

    def invocation_metadata(self) -> Iterable[tuple[str, str | bytes]] | None:
        """Return what the peer sent beside the request."""

    def set_trailing_metadata(self, trailing_metadata: tuple[tuple[str, bytes], ...]) -> None:
        """Send this beside the code."""

    def abort(self, code: grpc.StatusCode, details: str) -> NoReturn:
        """End the call with an error."""


Handler = Callable[[bytes, Any], bytes]

EndProcess = Callable[[str, int], None]
"""Ends the process for a fault of this name, with this exit code, as a crash would."""


class CallLayers:
    """Makes handlers out of service methods. They share the journal, and by service a guard."""

    def __init__(
        self,
        runtime: Runtime,
        journal: Journal,
        capabilities: Capabilities,
        faults: FaultLayer,
        end_process: EndProcess | None,
    ) -> None:
        """`end_process` ends the process for a fault; without it only the call ends."""
        self._runtime = runtime
        self._journal = journal
        self._capabilities = capabilities
        self._faults = faults
        self._end_process = end_process
        self.calls = CallsInFlight()

    def handlers(self, service: str, servicer: object, node_id: str | None) -> dict[str, Handler]:
        """Return a handler for each RPC of a CSI service, by name.

        RPCs that `servicer` has no method for, or whose capability is off, answer UNIMPLEMENTED.
        `node_id` stands in the journal as the node that the calls arrived on.
        """
        descriptor = csi_pb2.DESCRIPTOR.services_by_name[service]
        # One guard for each service of each node: a volume on two nodes is two objects there.
        in_flight = InFlight(self._runtime)
        return {
            method.name: self._compose(
                BY_NAME.get((service, method.name)) or Rpc(service, method.name),
                getattr(servicer, method.name, None),
                _message_class(method.input_type),
                _message_class(method.output_type),
                node_id,
                in_flight,
            )
            for method in descriptor.methods
            if not method.server_streaming
        }

    def _compose(
        self,
        rpc: Rpc,
        method: Method | None,
        request_type: type[Message],
        response_type: type[Message],
        node_id: str | None,
        in_flight: InFlight,
    ) -> Handler:
        journal, runtime, calls = self._journal, self._runtime, self.calls
        faulty = method and self._faults.around(rpc, method, response_type, node_id)
        answer = self._answer(rpc, method, faulty, request_type, in_flight)

        def handle(body: bytes, context: PeerContext) -> bytes:
            entry = journal.begin(
                service=rpc.service,
                rpc=rpc.name,
                request_type=request_type,
                response_type=response_type,
                request_bytes=body,
                peer=context.peer(),
                node_id=node_id,
            )
            caller = RpcCaller(runtime, entry, lambda caller: _leave_with(context, caller))
            try:
                try:
                    calls.begin(caller)
                    response = answer(body, context, caller)
                except Exception as error:
                    self._fail(entry, context, error)
                journal.end(entry, code="OK", code_number=0, message="", response_bytes=response)
                return response
            finally:
                calls.end(caller)

        return handle

    def _fail(self, entry: Entry, context: PeerContext, error: Exception) -> NoReturn:
        code, message = status_of(error, entry.rpc)
        self._journal.end(
            entry,
            code=code.name,
            code_number=code.value[0],
            message=message,
            response_bytes=b"",
        )
        if isinstance(error, ProcessEnds) and self._end_process is not None:
            self._end_process(error.fault, error.exit_code)
        if isinstance(error, InjectedFailure) and error.details:
            context.set_trailing_metadata(((ERROR_DETAILS_KEY, error.details),))
        context.abort(code, message)

    def _answer(
        self,
        rpc: Rpc,
        sound: Method | None,
        faulty: Method | None,
        request_type: type[Message],
        in_flight: InFlight,
    ) -> Callable[[bytes, PeerContext, RpcCaller], bytes]:
        refusal = self._refusal(rpc, sound)
        check = checker(cast(Descriptor, request_type.DESCRIPTOR), rpc.required)
        key_of, name, faults = rpc.key, rpc.name, self._faults.faults

        def answer(body: bytes, context: PeerContext, caller: RpcCaller) -> bytes:
            if refusal is not None or sound is None or faulty is None:
                raise NotImplementedRpc(refusal)
            request = _parse(request_type, body)
            check(request)
            method = sound
            if faults.concerns(name) and not _is_own_call(context):
                method = faulty
            if key_of is None:
                return method(request, caller).SerializeToString()
            key = key_of(request)
            in_flight.claim(key)
            try:
                return method(request, caller).SerializeToString()
            finally:
                in_flight.release(key)

        return answer

    def _refusal(self, rpc: Rpc, method: Method | None) -> str | None:
        """Return why this RPC answers UNIMPLEMENTED, or None if it works."""
        if method is None:
            return f"{rpc.name} is not implemented by this driver"
        for needed in (SERVICE_NEEDS.get(rpc.service), rpc.needs):
            if needed is not None and needed not in self._capabilities:
                return f"{rpc.name} needs the capability {needed}, which is off"
        return None


def _message_class(descriptor: Any) -> type[Message]:
    return getattr(csi_pb2, descriptor.name)  # type: ignore[no-any-return]


def _parse(request_type: type[Message], body: bytes) -> Message:
    request = request_type()
    try:
        request.ParseFromString(body)
    except DecodeError:
        raise InvalidField(
            "request", f"{len(body)} bytes that are no {request_type.DESCRIPTOR.full_name}"
        ) from None
    return request


def _is_own_call(context: PeerContext) -> bool:
    """Tell whether the server asks itself: whether it is ready must not depend on a fault."""
    return OWN_CALL in (context.invocation_metadata() or ())


def _leave_with(context: PeerContext, caller: Caller) -> None:
    """Let the caller leave when the peer hangs up or its deadline passes."""
    if not context.add_callback(caller.leave):
        caller.leave()
