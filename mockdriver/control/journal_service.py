"""The journal over the control API: the service Journal of journal.proto."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

import grpc

from mockdriver.cloud import Caller
from mockdriver.cloud.errors import CallerGone
from mockdriver.control.v1 import journal_pb2
from mockdriver.journal import Journal
from mockdriver.journal.entry import Moment
from mockdriver.journal.errors import CallNotFound, CallsNotSeen, QueryMistake, TooFarBehind
from mockdriver.journal.expectations import Count, InThisOrder, Verdict
from mockdriver.journal.filters import CallFilter
from mockdriver.journal.records import record
from mockdriver.journal.waiting import DEFAULT_TIMEOUT_SECONDS, wait_for_calls, watch_calls
from mockdriver.runtime import Runtime
from mockdriver.scenario import durations
from mockdriver.scenario.mistakes import quoted

CODES: dict[type[Exception], grpc.StatusCode] = {
    QueryMistake: grpc.StatusCode.INVALID_ARGUMENT,
    CallNotFound: grpc.StatusCode.NOT_FOUND,
    CallsNotSeen: grpc.StatusCode.DEADLINE_EXCEEDED,
    TooFarBehind: grpc.StatusCode.RESOURCE_EXHAUSTED,
    CallerGone: grpc.StatusCode.CANCELLED,
}
"""What each error of this service is answered with."""

DEFAULT_LIMIT = 1_000
"""How many calls are listed where the request does not say."""

MAX_ANSWER_BYTES = 3 * 1024 * 1024
"""Clients take answers of 4 MiB by default: a list is cut before, at its oldest calls."""

_EXACT_IN_DOUBLE = 2**53
"""Numbers in a Struct are doubles; a larger integer goes as text, as in the JSON of protobuf."""

_KINDS = ("exactly", "at_least", "at_most", "never", "in_this_order")

_Made = TypeVar("_Made")


class JournalService:
    """The RPCs of the service; errors are those of `CODES`."""

    def __init__(self, journal: Journal, runtime: Runtime) -> None:
        self._journal = journal
        self._runtime = runtime

    def ListCalls(
        self, request: journal_pb2.ListCallsRequest, caller: Caller
    ) -> journal_pb2.ListCallsResponse:
        """List the newest calls that match, oldest first."""
        wanted = _filter(request.filter, "filter")
        if request.limit < 0:
            raise QueryMistake("limit", f"{request.limit} is not allowed, allowed: 0 or more")
        moments, lost = self._journal.view()
        matching = wanted.matching(moments)
        return journal_pb2.ListCallsResponse(
            calls=self._newest(matching, request.limit or DEFAULT_LIMIT),
            total=len(matching),
            forgotten=lost,
        )

    def GetCall(self, request: journal_pb2.GetCallRequest, caller: Caller) -> journal_pb2.Call:
        """Return the call with a sequence number."""
        moments = self._journal.moments()
        for moment in moments:
            if moment.entry.sequence == request.sequence:
                return self._call(moment)
        raise CallNotFound(request.sequence, [moment.entry.sequence for moment in moments])

    def CountCalls(
        self, request: journal_pb2.CountCallsRequest, caller: Caller
    ) -> journal_pb2.CountCallsResponse:
        """Count the calls that match."""
        matching = _filter(request.filter, "filter").matching(self._journal.moments())
        return journal_pb2.CountCallsResponse(count=len(matching))

    def ExpectCalls(
        self, request: journal_pb2.ExpectCallsRequest, caller: Caller
    ) -> journal_pb2.ExpectCallsResponse:
        """Compare the calls with what is expected of them."""
        verdict = _judged(request, self._journal)
        return journal_pb2.ExpectCallsResponse(
            met=verdict.met,
            count=verdict.count,
            problem=verdict.problem,
            # Best first, so that a cut takes the least near ones.
            nearest=self._fitting(verdict.nearest),
        )

    def WaitForCalls(
        self, request: journal_pb2.WaitForCallsRequest, caller: Caller
    ) -> journal_pb2.WaitForCallsResponse:
        """Answer when so many calls match, with the newest of them."""
        calls = wait_for_calls(
            self._journal,
            _filter(request.filter, "filter"),
            caller,
            self._runtime,
            count=request.count or 1,
            timeout_seconds=_seconds("timeout", request.timeout, DEFAULT_TIMEOUT_SECONDS),
            arrived=request.arrived,
        )
        return journal_pb2.WaitForCallsResponse(calls=self._newest(calls, len(calls)))

    def WatchCalls(
        self, request: journal_pb2.WatchCallsRequest, caller: Caller
    ) -> Iterator[journal_pb2.Call]:
        """Tell of each call that matches as it arrives, and as it ends, until the peer leaves."""
        # Checked here, not at the first step of the stream.
        wanted = _filter(request.filter, "filter")
        moments = watch_calls(
            self._journal, wanted, caller, self._runtime, from_start=request.from_start
        )
        return map(self._call, moments)

    def ClearCalls(
        self, request: journal_pb2.ClearCallsRequest, caller: Caller
    ) -> journal_pb2.ClearCallsResponse:
        """Forget the calls that have ended."""
        return journal_pb2.ClearCallsResponse(forgotten=self._journal.clear())

    def _newest(self, moments: Sequence[Moment], limit: int) -> list[journal_pb2.Call]:
        """Return the newest calls, at most `limit` and at most so many as fit, oldest first."""
        newest_first = reversed(moments[max(0, len(moments) - limit) :])
        return self._fitting(newest_first)[::-1]

    def _fitting(self, moments: Iterable[Moment]) -> list[journal_pb2.Call]:
        """Return the first calls whose messages fit into an answer, one at the least."""
        calls: list[journal_pb2.Call] = []
        room = MAX_ANSWER_BYTES
        for moment in moments:
            call = self._call(moment)
            room -= call.ByteSize()
            if room < 0 and calls:
                break
            calls.append(call)
        return calls

    def _call(self, moment: Moment) -> journal_pb2.Call:
        fields = record(moment, self._runtime.epoch_seconds)
        start, request, response = (fields.pop(name) for name in ("start", "request", "response"))
        call = journal_pb2.Call(**fields)
        call.start.FromJsonString(start)
        call.request.update(_for_struct(request))
        call.response.update(_for_struct(response))
        return call


def _filter(wanted: journal_pb2.CallFilter, field: str) -> CallFilter:
    return _at(
        field,
        lambda: CallFilter(
            rpc=wanted.rpc,
            service=wanted.service,
            node_id=wanted.node_id,
            code=wanted.code,
            request=wanted.request,
            response=wanted.response,
            fault=wanted.fault,
            after=wanted.after,
            message=wanted.message,
        ),
    )


def _at(field: str, make: Callable[[], _Made]) -> _Made:
    """Make something; a mistake in it gets `field` before its own."""
    try:
        return make()
    except QueryMistake as mistake:
        raise mistake.inside(field) from None


def _judged(request: journal_pb2.ExpectCallsRequest, journal: Journal) -> Verdict:
    kinds = [name for name in _KINDS if _is_given(request, name)]
    if len(kinds) != 1:
        given = " and ".join(kinds) or "none"
        raise QueryMistake("expectation", f"given: {given}, allowed: one of {', '.join(_KINDS)}")
    wanted = _filter(request.filter, "filter")
    if request.in_this_order:
        places = [
            _filter(place, f"in_this_order[{position}]")
            for position, place in enumerate(request.in_this_order)
        ]
        return InThisOrder(tuple(places)).judge(journal, wanted)
    return _count(request, kinds[0]).judge(journal, wanted)


def _is_given(request: journal_pb2.ExpectCallsRequest, name: str) -> bool:
    if name in ("never", "in_this_order"):
        return bool(getattr(request, name))
    return request.HasField(name)  # type: ignore[arg-type]  # the names of optional fields


def _count(request: journal_pb2.ExpectCallsRequest, kind: str) -> Count:
    if kind == "never":
        return Count(at_most=0)
    number = getattr(request, kind)
    if number < 0:
        raise QueryMistake(kind, f"{number} is not allowed, allowed: 0 or more")
    return Count(
        at_least=None if kind == "at_most" else number,
        at_most=None if kind == "at_least" else number,
    )


def _seconds(field: str, text: str, default_seconds: float) -> float:
    if not text:
        return default_seconds
    seconds = durations.parse_duration(text)
    if seconds is None:
        raise QueryMistake(field, f"{quoted(text)} is not allowed, allowed: {durations.ALLOWED}")
    return seconds


def _for_struct(value: Any) -> Any:
    """Return plain data with integers that a double cannot hold as text."""
    if isinstance(value, dict):
        return {key: _for_struct(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_for_struct(item) for item in value]
    if isinstance(value, int) and abs(value) > _EXACT_IN_DOUBLE:
        return str(value)
    return value
