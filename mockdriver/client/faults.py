"""Faults and barriers of a running mock."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias, TypedDict, Unpack

from mockdriver.client.connection import Connection
from mockdriver.client.words import Code, Duration, as_json, code, duration, seconds, texts
from mockdriver.control.v1 import faults_pb2, faults_pb2_grpc

WAIT_SECONDS = 10.0
"""How long `wait_for_held` waits if nothing else is said."""


class FaultConditions(TypedDict, total=False):
    """What any fault can have: its name, which calls it matches, when it acts, how long it lives.

    The words are those of scenario files.
    """

    name: str
    """Made up without it."""
    node_id: str
    """The request's node_id, or the node whose Node service is asked; of a cloud API, the instance.
    """
    request: Mapping[str, object]
    """Fields of the request by path, and the value that each must have; `*`, `?` as in a shell."""
    calls: str | int
    """Which of those that match: 3, "3-5", "first 2", "every 2"."""
    times: int
    """Acts at most so many times."""
    probability: float
    """Acts with this probability, drawn from `seed`."""
    seed: int
    when: Literal["before", "after"]
    """"after": the work is done, and the answer lost."""
    lifetime: Duration
    """Removed by itself after this time."""
    enabled: bool
    """False: it is in the list and matches nothing."""


class FaultFields(FaultConditions, total=False):
    """All that a fault can say: what it matches, and what it does."""

    rpc: str
    """An RPC of CSI. Either this, or `cloud_api`."""
    cloud_api: str
    """An API of the cloud, "describe_instances" for one."""
    code: Code
    """The status code that the call ends with."""
    message: str
    details: Sequence[Mapping[str, object]]
    """google.rpc details of the error, each with "@type"."""
    error: str
    """Of a cloud API: the name of the error that the cloud refuses with."""
    delay: Duration
    """Waits so long first: "2s", or a timedelta."""
    hold: str
    """Waits first at the barrier of this name until it is released."""
    no_answer: bool
    """Never answers: the caller's deadline ends the call."""
    reply: Mapping[str, object]
    """Fields of the response by path, each with the value that takes its place."""
    exit: int
    """Ends the process with this exit code."""


def fault_message(fields: FaultFields) -> faults_pb2.Fault:
    """Return the message that says the same; what is not given is left out."""
    fault = faults_pb2.Fault(
        name=fields.get("name", ""),
        rpc=fields.get("rpc", ""),
        cloud_api=fields.get("cloud_api", ""),
        node_id=fields.get("node_id", ""),
        request=texts(fields.get("request", {})),
        calls=str(fields.get("calls", "")),
        times=fields.get("times", 0),
        probability=fields.get("probability", 0.0),
        seed=fields.get("seed", 0),
        when=fields.get("when", ""),
        code=code(fields.get("code", "")),
        message=fields.get("message", ""),
        details=[json.dumps(detail) for detail in fields.get("details", ())],
        error=fields.get("error", ""),
        delay=duration(fields.get("delay", "")),
        hold=fields.get("hold", ""),
        no_answer=fields.get("no_answer", False),
        reply=as_json(fields.get("reply", {})),
        exit=fields.get("exit"),
        lifetime=duration(fields.get("lifetime", "")),
        enabled=fields.get("enabled"),
    )
    unknown = fields.keys() - FaultFields.__annotations__.keys()
    if unknown:
        known = ", ".join(FaultFields.__annotations__)
        raise TypeError(f"a fault has no {', '.join(sorted(unknown))}; there are: {known}")
    return fault


class Faults:
    """What goes wrong on purpose: an ordered list of named faults, the first match wins."""

    def __init__(self, connection: Connection) -> None:
        self._call = connection.call
        self._stub = faults_pb2_grpc.FaultsStub(connection.channel)

    def add(self, *, before: str = "", **fields: Unpack[FaultFields]) -> faults_pb2.Fault:
        """Add a fault at the end of the list, or before the one that is named."""
        request = faults_pb2.CreateFaultRequest(fault=fault_message(fields), before=before)
        return self._call(self._stub.CreateFault, request)

    def list(self) -> _Faults:
        """Return all faults in their order."""
        return [*self._call(self._stub.ListFaults, faults_pb2.ListFaultsRequest()).faults]

    def get(self, name: str) -> faults_pb2.Fault:
        """Return a fault: `matched` and `acted` count its calls."""
        return self._call(self._stub.GetFault, faults_pb2.GetFaultRequest(name=name))

    def update(self, **fields: Unpack[FaultFields]) -> faults_pb2.Fault:
        """Put a fault in the place of the one with its name, with counters at nothing."""
        request = faults_pb2.UpdateFaultRequest(fault=fault_message(fields))
        return self._call(self._stub.UpdateFault, request)

    def enable(self, name: str) -> faults_pb2.Fault:
        """Switch a fault on; its counters stay."""
        request = faults_pb2.EnableFaultRequest(name=name, enabled=True)
        return self._call(self._stub.EnableFault, request)

    def disable(self, name: str) -> faults_pb2.Fault:
        """Switch a fault off; its counters stay."""
        request = faults_pb2.EnableFaultRequest(name=name, enabled=False)
        return self._call(self._stub.EnableFault, request)

    def delete(self, name: str) -> None:
        """Remove a fault."""
        self._call(self._stub.DeleteFault, faults_pb2.DeleteFaultRequest(name=name))

    def clear(self) -> int:
        """Remove all faults and release all barriers; return how many faults there were."""
        return self._call(self._stub.ClearFaults, faults_pb2.ClearFaultsRequest()).removed

    def explain(
        self,
        rpc: str = "",
        request: Mapping[str, object] | None = None,
        *,
        node_id: str = "",
        cloud_api: str = "",
    ) -> faults_pb2.ExplainFaultsResponse:
        """Tell which fault would act on a call, and why each other one would not; count nothing.

        `request` is the call's request with the field names of csi.proto.
        """
        asked = faults_pb2.ExplainFaultsRequest(
            rpc=rpc,
            request="" if request is None else json.dumps(request),
            node_id=node_id,
            cloud_api=cloud_api,
        )
        return self._call(self._stub.ExplainFaults, asked)

    def barriers(self) -> _Barriers:
        """Return all barriers, each with the calls that are held there."""
        return [*self._call(self._stub.ListBarriers, faults_pb2.ListBarriersRequest()).barriers]

    def wait_for_held(
        self, barrier: str, calls: int = 1, *, timeout_seconds: float = WAIT_SECONDS
    ) -> faults_pb2.Barrier:
        """Return once so many calls are held at a barrier.

        Raises ControlError with DEADLINE_EXCEEDED if they are not in time.
        """
        request = faults_pb2.WaitForHeldRequest(
            barrier=barrier, calls=calls, timeout=seconds(timeout_seconds)
        )
        return self._call(self._stub.WaitForHeld, request, waits_seconds=timeout_seconds)

    def release(self, barrier: str = "", calls: int = 0) -> int:
        """Let calls go on: those held at a barrier, or at each of them; return how many.

        `calls` is how many, the longest held first; 0 means all.
        """
        request = faults_pb2.ReleaseBarrierRequest(barrier=barrier, calls=calls)
        return self._call(self._stub.ReleaseBarrier, request).released


# Inside of a class with a method `list`, the type goes by another name.
_Faults: TypeAlias = list[faults_pb2.Fault]
_Barriers: TypeAlias = list[faults_pb2.Barrier]
