"""The faults over the control API: the service Faults of faults.proto."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import grpc
from google.protobuf import message_factory

from mockdriver.cloud import Caller
from mockdriver.cloud.errors import CallerGone
from mockdriver.control.v1 import faults_pb2
from mockdriver.faults.cloud_calls import CLOUD_FIELDS
from mockdriver.faults.engine import FaultEngine
from mockdriver.faults.errors import (
    BarrierNotFound,
    FaultExists,
    FaultHasFlaws,
    FaultNotFound,
    NotHeldInTime,
    TooManyFaults,
)
from mockdriver.faults.field_values import BadValue, fill
from mockdriver.faults.rule import FaultState
from mockdriver.faults.subjects import Call, CloudCall, RpcCall, node_of, rpcs
from mockdriver.faults.waiting import MAX_WAITING, Barrier
from mockdriver.runtime import Runtime
from mockdriver.scenario import durations
from mockdriver.scenario.fault_model import FaultMistakes, checked, data_of, words
from mockdriver.scenario.mistakes import not_allowed, path_text, unknown_name

Code = grpc.StatusCode

CODES: dict[type[Exception], grpc.StatusCode] = {
    FaultMistakes: Code.INVALID_ARGUMENT,
    FaultHasFlaws: Code.INVALID_ARGUMENT,
    FaultExists: Code.ALREADY_EXISTS,
    FaultNotFound: Code.NOT_FOUND,
    TooManyFaults: Code.RESOURCE_EXHAUSTED,
    BarrierNotFound: Code.NOT_FOUND,
    NotHeldInTime: Code.DEADLINE_EXCEEDED,
    CallerGone: Code.CANCELLED,
}
"""What each error of this service is answered with."""

DEFAULT_TIMEOUT_SECONDS = 10.0

_READ_ONLY = ("matched", "acted")


class FaultsService:
    """The RPCs of the service; errors are those of `CODES`."""

    def __init__(self, faults: FaultEngine, runtime: Runtime) -> None:
        self._faults = faults
        self._runtime = runtime

    def CreateFault(
        self, request: faults_pb2.CreateFaultRequest, caller: Caller
    ) -> faults_pb2.Fault:
        """Add a fault at the end of the list, or before another one."""
        fault = checked(_data(request.fault))
        return _message(self._faults.create(fault, before=request.before))

    def ListFaults(
        self, request: faults_pb2.ListFaultsRequest, caller: Caller
    ) -> faults_pb2.ListFaultsResponse:
        """List all faults in their order, with their counters."""
        return faults_pb2.ListFaultsResponse(faults=map(_message, self._faults.list()))

    def GetFault(self, request: faults_pb2.GetFaultRequest, caller: Caller) -> faults_pb2.Fault:
        """Return a fault with its counters."""
        return _message(self._faults.get(_required(request, "name")))

    def UpdateFault(
        self, request: faults_pb2.UpdateFaultRequest, caller: Caller
    ) -> faults_pb2.Fault:
        """Put a fault in the place of the one with its name."""
        if not request.fault.name:
            raise FaultMistakes([("fault.name", "is required")])
        return _message(self._faults.update(checked(_data(request.fault))))

    def EnableFault(
        self, request: faults_pb2.EnableFaultRequest, caller: Caller
    ) -> faults_pb2.Fault:
        """Switch a fault off or on."""
        return _message(self._faults.enable(_required(request, "name"), request.enabled))

    def DeleteFault(
        self, request: faults_pb2.DeleteFaultRequest, caller: Caller
    ) -> faults_pb2.DeleteFaultResponse:
        """Remove a fault; calls that it holds go on."""
        self._faults.delete(_required(request, "name"))
        return faults_pb2.DeleteFaultResponse()

    def ClearFaults(
        self, request: faults_pb2.ClearFaultsRequest, caller: Caller
    ) -> faults_pb2.ClearFaultsResponse:
        """Remove all faults; all calls that are held go on."""
        return faults_pb2.ClearFaultsResponse(removed=self._faults.clear())

    def ExplainFaults(
        self, request: faults_pb2.ExplainFaultsRequest, caller: Caller
    ) -> faults_pb2.ExplainFaultsResponse:
        """Tell which fault would act on a call, and why each other one would not."""
        verdicts = self._faults.explain(_call(request))
        return faults_pb2.ExplainFaultsResponse(
            acts=next((verdict.fault for verdict in verdicts if verdict.acts), ""),
            verdicts=[
                faults_pb2.ExplainFaultsResponse.Verdict(
                    fault=verdict.fault, acts=verdict.acts, reason=verdict.reason
                )
                for verdict in verdicts
            ],
        )

    def ListBarriers(
        self, request: faults_pb2.ListBarriersRequest, caller: Caller
    ) -> faults_pb2.ListBarriersResponse:
        """List the barriers that faults name, and those at which calls are held."""
        return faults_pb2.ListBarriersResponse(barriers=map(_barrier, self._faults.barriers()))

    def WaitForHeld(
        self, request: faults_pb2.WaitForHeldRequest, caller: Caller
    ) -> faults_pb2.Barrier:
        """Answer when so many calls are held at a barrier."""
        barrier = _required(request, "barrier")
        calls = _number("calls", request.calls, MAX_WAITING) or 1
        timeout_seconds = _seconds("timeout", request.timeout, DEFAULT_TIMEOUT_SECONDS)
        return _barrier(self._faults.wait_until_held(barrier, calls, timeout_seconds, caller))

    def ReleaseBarrier(
        self, request: faults_pb2.ReleaseBarrierRequest, caller: Caller
    ) -> faults_pb2.ReleaseBarrierResponse:
        """Let calls go on that are held at a barrier, or at any."""
        calls = _number("calls", request.calls, MAX_WAITING)
        released = self._faults.release(request.barrier, calls)
        return faults_pb2.ReleaseBarrierResponse(released=released)


def _data(message: faults_pb2.Fault) -> dict[str, Any]:
    """Return a fault's message as a scenario file would write it; raises FaultMistakes."""
    data: dict[str, Any] = {}
    for field, value in message.ListFields():
        if field.name in _READ_ONLY:
            continue
        if field.name == "request":
            data["request"] = dict(sorted(value.items()))
        elif field.name == "reply":
            data["reply"] = {
                path: _json(("reply", path), text) for path, text in sorted(value.items())
            }
        elif field.name == "details":
            data["details"] = [_json(("details", index), text) for index, text in enumerate(value)]
        else:
            data[field.name] = value
    return data


def _json(place: tuple[str | int, ...], text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        allowed = 'JSON, so a text has quotes of its own: "\\"a\\""'
        raise FaultMistakes([(path_text(place), not_allowed(text, allowed))]) from None


def _message(state: FaultState) -> faults_pb2.Fault:
    data = data_of(state.fault)
    reply, details = data.pop("reply", {}), data.pop("details", ())
    message = faults_pb2.Fault(
        **data,
        reply={path: json.dumps(value, ensure_ascii=False) for path, value in reply.items()},
        details=[json.dumps(detail, ensure_ascii=False) for detail in details],
        matched=state.matched,
        acted=state.acted,
    )
    message.enabled = state.fault.enabled
    return message


def _barrier(barrier: Barrier) -> faults_pb2.Barrier:
    return faults_pb2.Barrier(name=barrier.name, held=barrier.held, calls=barrier.calls)


def _call(request: faults_pb2.ExplainFaultsRequest) -> Call:
    """Return the call that is asked about; raises FaultMistakes."""
    if bool(request.rpc) == bool(request.cloud_api):
        given = "both are given" if request.rpc else "neither is given"
        raise FaultMistakes([("rpc", f"{given}, exactly one of rpc and cloud_api is needed")])
    if request.cloud_api:
        return _cloud_call(request)
    if request.rpc not in rpcs():
        raise FaultMistakes([("rpc", unknown_name("RPC", request.rpc, rpcs()))])
    message = message_factory.GetMessageClass(rpcs()[request.rpc].request)()
    try:
        fill(message, _json(("request",), request.request or "{}"))
    except BadValue as bad:
        place = path_text(("request", *bad.place))
        raise FaultMistakes([(place, str(words(bad.flaw)))]) from None
    return RpcCall(request.rpc, message, node_of(request.rpc, message, request.node_id or None))


def _cloud_call(request: faults_pb2.ExplainFaultsRequest) -> Call:
    known = CLOUD_FIELDS.get(request.cloud_api)
    if known is None:
        problem = unknown_name("cloud API", request.cloud_api, CLOUD_FIELDS)
        raise FaultMistakes([("cloud_api", problem)])
    fields = _json(("request",), request.request or "{}")
    if not isinstance(fields, Mapping):
        raise FaultMistakes([("request", not_allowed(fields, "a mapping"))])
    problems = [
        (path_text(("request", name)), unknown_name(f"field of {request.cloud_api}", name, known))
        for name in fields
        if name not in known
    ]
    problems += [
        (path_text(("request", name)), not_allowed(value, "text"))
        for name, value in fields.items()
        if name in known and not isinstance(value, str)
    ]
    if problems:
        raise FaultMistakes(problems)
    if request.node_id and "instance" in known:
        fields = {"instance": request.node_id, **fields}
    return CloudCall(request.cloud_api, fields)


def _required(request: Any, field: str) -> str:
    value: str = getattr(request, field)
    if not value:
        raise FaultMistakes([(field, "is required")])
    return value


def _number(field: str, value: int, most: int) -> int:
    if 0 <= value <= most:
        return value
    raise FaultMistakes([(field, not_allowed(value, f"a whole number from 0 to {most}"))])


def _seconds(field: str, text: str, default_seconds: float) -> float:
    if not text:
        return default_seconds
    seconds = durations.parse_duration(text)
    if seconds is None:
        raise FaultMistakes([(field, not_allowed(text, durations.ALLOWED))])
    return seconds
