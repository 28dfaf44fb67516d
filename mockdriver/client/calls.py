"""The record of calls: what the driver was asked, and what it answered."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Self, TypeAlias, TypedDict, Unpack, cast

import grpc
from google.protobuf.json_format import MessageToDict

from mockdriver.client.connection import Connection
from mockdriver.client.words import Code, code, seconds, texts
from mockdriver.control.v1 import journal_pb2, journal_pb2_grpc

WAIT_SECONDS = 10.0
"""How long `wait` waits if nothing else is said."""


class CallConditions(TypedDict, total=False):
    """What can be asked of a call, its RPC aside; `*` and `?` in texts are as in a shell."""

    service: str
    """"Controller", "Node" or "Identity"."""
    node_id: str
    """The request's node_id, or the node whose Node service was asked."""
    code: Code
    """"OK", "NOT_FOUND" …, "RUNNING" while it is in flight, or "!OK"."""
    request: Mapping[str, object]
    """Fields of the request by path, and the value of each."""
    response: Mapping[str, object]
    fault: str
    """The name of a fault that acted on it."""
    after: int
    """Only calls after this sequence number."""
    message: str
    """Text in the message of an error."""


class CallFilter(CallConditions, total=False):
    """Which calls are meant: each field that is given must be met."""

    rpc: str


@dataclass(frozen=True, slots=True)
class CloudCall:
    """A call of the cloud's API that a call of the driver made."""

    api: str
    ids: tuple[str, ...]
    duration_seconds: float
    error: str
    """The name of the cloud's error; empty if it succeeded."""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of the driver."""

    sequence: int
    """Counts from 1, in the order of arrival."""
    start: datetime
    duration_seconds: float
    peer: str
    service: str
    rpc: str
    node_id: str
    """The node whose Node service was asked."""
    request: dict[str, Any]
    """With the field names of csi.proto; secrets are replaced."""
    response: dict[str, Any]
    code: str
    """"OK", "NOT_FOUND" …, or "RUNNING" while it is in flight."""
    message: str
    faults: tuple[str, ...]
    """The names of the faults that acted."""
    calls_in_flight: int
    """How many other calls were in flight when this one arrived."""
    cloud_calls: tuple[CloudCall, ...]
    original: journal_pb2.Call = field(repr=False, compare=False)
    """The message that it was made of."""

    @classmethod
    def of(cls, call: journal_pb2.Call) -> Call:
        """Return what a message of the API says."""
        return cls(
            sequence=call.sequence,
            start=call.start.ToDatetime(tzinfo=UTC),
            duration_seconds=call.duration_seconds,
            peer=call.peer,
            service=call.service,
            rpc=call.rpc,
            node_id=call.node_id,
            request=_plain(MessageToDict(call.request)),
            response=_plain(MessageToDict(call.response)),
            code=call.code,
            message=call.message,
            faults=tuple(call.faults),
            calls_in_flight=call.calls_in_flight,
            cloud_calls=tuple(
                CloudCall(item.api, tuple(item.ids), item.duration_seconds, item.error)
                for item in call.cloud_calls
            ),
            original=call,
        )

    def __str__(self) -> str:
        where = f" at node {self.node_id}" if self.node_id else ""
        if self.code == "RUNNING":
            answer = "in flight"
        elif self.code == "OK":
            answer = f"OK {_json(self.response)}" if self.response else "OK"
        else:
            answer = f"{self.code} {self.message}"
        took = "" if self.code == "RUNNING" else f"  [{self.duration_seconds * 1000:.1f} ms]"
        faults = f"  [faults: {', '.join(self.faults)}]" if self.faults else ""
        return f"#{self.sequence} {self.rpc}{where} {_json(self.request)} -> {answer}{took}{faults}"


def _plain(value: Any) -> Any:
    """Return JSON with whole numbers as such, and an order: a Struct has floats and none."""
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in sorted(value.items())}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class CallsNotAsExpected(AssertionError):
    """The driver was asked something else than a test expects; the message shows what."""


@dataclass(frozen=True, slots=True)
class Expectation:
    """Whether the calls were as expected. It is true if they were, so it can be asserted."""

    met: bool
    count: int
    """How many calls match."""
    problem: str
    """Why it is not met, in words."""
    nearest: tuple[Call, ...]
    """The calls that came nearest."""

    def __bool__(self) -> bool:
        return self.met

    def __str__(self) -> str:
        if self.met:
            return f"as expected: {self.count} calls"
        return "\n".join([self.problem, *(f"  {call}" for call in self.nearest)])

    def require(self) -> None:
        """Raise CallsNotAsExpected, an AssertionError, unless it is met."""
        if not self.met:
            raise CallsNotAsExpected(str(self))


class Watch:
    """Calls as they arrive, and again as they end: iterate, and cancel or leave the `with` block.

    Iterating raises ControlError when the server goes away or the time is over.
    """

    def __init__(
        self,
        connection: Connection,
        stub: journal_pb2_grpc.JournalStub,
        request: journal_pb2.WatchCallsRequest,
        timeout_seconds: float | None,
    ) -> None:
        self._connection = connection
        self._method = stub.WatchCalls
        self._stream: Any = self._method(request, timeout=timeout_seconds)
        self._cancelled = False
        # The server sends its headers when it has begun to watch: no call is missed after this.
        try:
            self._stream.initial_metadata()
        except grpc.RpcError as error:
            raise self._connection.refusal(self._method, error) from None

    def __iter__(self) -> Iterator[Call]:
        return self

    def __next__(self) -> Call:
        try:
            return Call.of(next(self._stream))
        except grpc.RpcError as error:
            if self._cancelled:
                raise StopIteration from None
            raise self._connection.refusal(self._method, error) from None

    def cancel(self) -> None:
        """Watch no longer; whoever iterates comes to an end."""
        self._cancelled = True
        self._stream.cancel()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.cancel()


def filter_message(fields: CallFilter) -> journal_pb2.CallFilter:
    """Return the message that says the same."""
    unknown = fields.keys() - CallFilter.__annotations__.keys()
    if unknown:
        known = ", ".join(CallFilter.__annotations__)
        raise TypeError(f"calls have no {', '.join(sorted(unknown))}; there are: {known}")
    return journal_pb2.CallFilter(
        rpc=fields.get("rpc", ""),
        service=fields.get("service", ""),
        node_id=fields.get("node_id", ""),
        code=code(fields.get("code", "")),
        request=texts(fields.get("request", {})),
        response=texts(fields.get("response", {})),
        fault=fields.get("fault", ""),
        after=fields.get("after", 0),
        message=fields.get("message", ""),
    )


class Calls:
    """The calls that the driver was asked; those of the control API are not among them."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._call = connection.call
        self._stub = journal_pb2_grpc.JournalStub(connection.channel)

    def list(self, *, limit: int = 0, **filter: Unpack[CallFilter]) -> _Calls:
        """Return the calls that match, oldest first: the newest `limit`, 1000 if it is 0."""
        return [Call.of(call) for call in self.record(limit=limit, **filter).calls]

    def record(
        self, *, limit: int = 0, **filter: Unpack[CallFilter]
    ) -> journal_pb2.ListCallsResponse:
        """Return the same as `list`, with how many match in all and how many were forgotten."""
        request = journal_pb2.ListCallsRequest(filter=filter_message(filter), limit=limit)
        return self._call(self._stub.ListCalls, request)

    def get(self, sequence: int) -> Call:
        """Return the call with a number; raises ControlError with NOT_FOUND."""
        request = journal_pb2.GetCallRequest(sequence=sequence)
        return Call.of(self._call(self._stub.GetCall, request))

    def count(self, **filter: Unpack[CallFilter]) -> int:
        """Return how many calls match."""
        request = journal_pb2.CountCallsRequest(filter=filter_message(filter))
        return self._call(self._stub.CountCalls, request).count

    def expect(
        self,
        *,
        exactly: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
        never: bool = False,
        in_this_order: Sequence[CallFilter | str] = (),
        **filter: Unpack[CallFilter],
    ) -> Expectation:
        """Tell whether the calls were as expected; give one of the five.

        `in_this_order` takes a filter, or the name of an RPC, for each call; others may lie
        between. Whether it was met, the answer tells: assert it, or `require()` it.
        """
        request = journal_pb2.ExpectCallsRequest(
            filter=filter_message(filter),
            exactly=exactly,
            at_least=at_least,
            at_most=at_most,
            never=never,
            in_this_order=[
                filter_message(cast(CallFilter, {"rpc": item} if isinstance(item, str) else item))
                for item in in_this_order
            ],
        )
        answer = self._call(self._stub.ExpectCalls, request)
        nearest = tuple(Call.of(call) for call in answer.nearest)
        return Expectation(answer.met, answer.count, answer.problem, nearest)

    def wait(
        self,
        count: int = 1,
        *,
        timeout_seconds: float = WAIT_SECONDS,
        arrived: bool = False,
        **filter: Unpack[CallFilter],
    ) -> _Calls:
        """Return the calls that match once there are so many.

        Calls count when they have ended, with `arrived` when they arrive. Raises ControlError with
        DEADLINE_EXCEEDED, the nearest calls in its message, if they do not come in time.
        """
        request = journal_pb2.WaitForCallsRequest(
            filter=filter_message(filter),
            count=count,
            timeout=seconds(timeout_seconds),
            arrived=arrived,
        )
        answer = self._call(self._stub.WaitForCalls, request, waits_seconds=timeout_seconds)
        return [Call.of(call) for call in answer.calls]

    def watch(
        self,
        *,
        from_start: bool = False,
        timeout_seconds: float | None = None,
        **filter: Unpack[CallFilter],
    ) -> Watch:
        """Watch the calls that match, each as it arrives and again as it ends.

        `from_start` begins with those in the record. Without `timeout_seconds` it has no end.
        """
        request = journal_pb2.WatchCallsRequest(
            filter=filter_message(filter), from_start=from_start
        )
        return Watch(self._connection, self._stub, request, timeout_seconds)

    def clear(self) -> int:
        """Forget all calls that have ended; return how many."""
        return self._call(self._stub.ClearCalls, journal_pb2.ClearCallsRequest()).forgotten


# Inside of a class with a method `list`, the type goes by another name.
_Calls: TypeAlias = list[Call]
