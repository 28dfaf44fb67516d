"""The journal over the control API, without sockets."""

from __future__ import annotations

import re
from typing import Any

import grpc
import pytest

from csi_spec import csi_pb2
from mockdriver.cloud import Caller
from mockdriver.cloud.errors import CallerGone
from mockdriver.control import journal_service
from mockdriver.control.journal_service import CODES, JournalService
from mockdriver.control.v1 import journal_pb2
from mockdriver.journal import errors
from mockdriver.journal.entry import CloudCall
from mockdriver.journal.errors import CallNotFound, CallsNotSeen, QueryMistake
from tests.journal.recorded import SmallJournal

Filter = journal_pb2.CallFilter


class Service:
    """A journal, its service, and somebody who calls it."""

    def __init__(self, capacity: int = 100) -> None:
        self.small = SmallJournal(capacity)
        self.service = JournalService(self.small.journal, self.small.runtime)
        self.caller = Caller(self.small.runtime)

    def list(self, filter: Filter | None = None, limit: int = 0) -> Any:
        request = journal_pb2.ListCallsRequest(filter=filter, limit=limit)
        return self.service.ListCalls(request, self.caller)

    def expect(self, filter: Filter | None = None, **fields: Any) -> Any:
        request = journal_pb2.ExpectCallsRequest(filter=filter, **fields)
        return self.service.ExpectCalls(request, self.caller)

    def wait(self, filter: Filter | None = None, **fields: Any) -> Any:
        request = journal_pb2.WaitForCallsRequest(filter=filter, **fields)
        with self.small.runtime.working():
            return self.service.WaitForCalls(request, self.caller)


def sequences(calls: Any) -> list[int]:
    return [call.sequence for call in calls]


def with_calls(*rpcs: str) -> Service:
    """Return a service that tells of calls that were OK."""
    service = Service()
    for rpc in rpcs:
        service.small.call(b"", rpc)
    return service


def test_the_service_has_a_method_for_each_rpc() -> None:
    methods = journal_pb2.DESCRIPTOR.services_by_name["Journal"].methods_by_name
    assert {name for name in vars(JournalService) if not name.startswith("_")} == set(methods)


# ------------------------------------------------------------------------------------------- lists


def test_a_call_has_all_its_fields() -> None:
    service = Service()
    small = service.small
    small.begin()
    small.runtime.advance(1.5)
    entry = small.begin(
        csi_pb2.NodeGetInfoRequest(controller_get_node_info=True),
        "NodeGetInfo",
        service="Node",
        node_id="i-1",
    )
    entry.faults = ("slow",)
    small.runtime.advance(0.25)
    entry.add_cloud_call(CloudCall("describe_instances", ("i-1",), 0.25, ""))
    small.end(entry, response=csi_pb2.NodeGetInfoResponse(node_id="i-1", max_volumes_per_node=23))

    call = service.list(Filter(service="Node")).calls[0]

    assert (call.sequence, call.peer, call.service, call.rpc) == (
        *(2, "unix:test", "Node"),
        "NodeGetInfo",
    )
    assert call.start.ToJsonString() == "2026-01-01T00:00:01.500Z"
    assert (call.duration_seconds, call.node_id) == (0.25, "i-1")
    assert dict(call.request) == {"controller_get_node_info": True}
    assert dict(call.response) == {"node_id": "i-1", "max_volumes_per_node": 23}
    assert (call.code, call.code_number, call.message) == ("OK", 0, "")
    assert (list(call.faults), call.calls_in_flight) == (["slow"], 1)
    assert list(call.cloud_calls) == [
        journal_pb2.CloudCall(api="describe_instances", ids=["i-1"], duration_seconds=0.25)
    ]


def test_a_call_in_flight_is_running() -> None:
    service = Service()
    service.small.begin()
    (call,) = service.list().calls
    assert (call.code, call.code_number, call.duration_seconds) == ("RUNNING", -1, 0)


def test_an_integer_that_a_double_cannot_hold_is_text() -> None:
    service = Service()
    limits = csi_pb2.CapacityRange(required_bytes=2**53, limit_bytes=2**53 + 1)
    service.small.call(csi_pb2.CreateVolumeRequest(capacity_range=limits), "CreateVolume")
    found = service.list().calls[0].request["capacity_range"]
    assert dict(found) == {"required_bytes": 2.0**53, "limit_bytes": str(2**53 + 1)}


def test_the_newest_calls_are_listed_oldest_first_with_the_number_of_all() -> None:
    service = with_calls("Probe", "DeleteVolume", "Probe", "Probe")
    answer = service.list(Filter(rpc="Probe"), limit=2)
    assert sequences(answer.calls) == [3, 4]
    assert (answer.total, answer.forgotten) == (3, 0)


def test_without_a_limit_a_thousand_are_listed() -> None:
    service = Service(capacity=2_000)
    for _ in range(1_100):
        service.small.call(b"", "Probe")
    answer = service.list()
    assert sequences(answer.calls) == list(range(101, 1_101))
    assert answer.total == 1_100


def test_lost_calls_are_counted() -> None:
    service = Service(capacity=2)
    for _ in range(5):
        service.small.call()
    assert service.list().forgotten == 3


def test_an_answer_is_no_larger_than_what_clients_take() -> None:
    service = Service()
    for _ in range(10):
        service.small.call(csi_pb2.DeleteVolumeRequest(volume_id="v" * 1_000_000))
    answer = service.list()
    assert sequences(answer.calls) == [8, 9, 10]
    assert answer.ByteSize() < 4 * 1024 * 1024
    assert answer.total == 10
    assert sequences(service.wait(count=10).calls) == [8, 9, 10]
    assert len(service.expect(never=True).nearest) == 3


def test_one_call_is_listed_however_large_it_is() -> None:
    service = Service()
    service.small.call(csi_pb2.DeleteVolumeRequest(volume_id="v" * 5_000_000))
    assert sequences(service.list().calls) == [1]


def test_a_negative_limit_is_a_mistake() -> None:
    with pytest.raises(QueryMistake, match=r"^limit: -1 is not allowed, allowed: 0 or more$"):
        Service().list(limit=-1)


def test_one_call_is_found_by_its_number() -> None:
    service = with_calls("Probe", "GetPluginInfo")

    call = service.service.GetCall(journal_pb2.GetCallRequest(sequence=2), service.caller)

    assert (call.sequence, call.rpc) == (2, "GetPluginInfo")


@pytest.mark.parametrize(
    ("rpcs", "number", "text"),
    [((), 1, "remembered are: none"), (("Probe", "Probe"), 3, "remembered are: 1 to 2")],
)
def test_a_call_that_is_not_remembered_is_not_found(
    rpcs: tuple[str, ...], number: int, text: str
) -> None:
    service = with_calls(*rpcs)

    with pytest.raises(CallNotFound, match=text):
        service.service.GetCall(journal_pb2.GetCallRequest(sequence=number), service.caller)


def test_calls_are_counted() -> None:
    service = with_calls("Probe", "DeleteVolume", "Probe")
    request = journal_pb2.CountCallsRequest(filter=Filter(rpc="Probe"))
    assert service.service.CountCalls(request, service.caller).count == 2


FILTERS = [
    Filter(rpc="DeleteVolume"),
    Filter(service="C*", code="ABORTED"),
    Filter(node_id="i-2"),
    Filter(request={"volume_id": "v-2"}),
    Filter(response={"name": "mock"}),
    Filter(fault="flaky"),
    Filter(message="because"),
    Filter(after=2, code="!OK"),
]


@pytest.mark.parametrize("filter", FILTERS, ids=[str(item).strip() for item in FILTERS])
def test_each_field_of_a_filter_counts(filter: Any) -> None:
    service = Service()
    small = service.small
    small.call(b"", "Probe", service="Identity")
    response = csi_pb2.GetPluginInfoResponse(name="mock")
    matching = small.begin(b"", "GetPluginInfo", service="Identity")
    small.end(matching, response=response)
    small.begin(csi_pb2.DeleteVolumeRequest(volume_id="v-2"), node_id="i-2").faults = ("flaky",)
    small.end(small.journal.entries()[-1], "ABORTED", number=10, message="because")
    expected = [2] if filter.response else [3]
    assert sequences(service.list(filter).calls) == expected


# ------------------------------------------------------------------------------------ expectations

EXPECTED: list[tuple[dict[str, Any], bool]] = [
    ({"exactly": 2}, True),
    ({"exactly": 0}, False),
    ({"at_least": 2}, True),
    ({"at_least": 3}, False),
    ({"at_most": 2}, True),
    ({"at_most": 0}, False),
    ({"never": True}, False),
    ({"in_this_order": [Filter(rpc="Probe"), Filter(rpc="Pro*")]}, True),
    ({"in_this_order": [Filter(rpc="Probe")] * 3}, False),
]


@pytest.mark.parametrize(("fields", "met"), EXPECTED, ids=[str(item[0]) for item in EXPECTED])
def test_an_expectation_is_met_or_has_a_problem_and_the_nearest_calls(
    fields: dict[str, Any], met: bool
) -> None:
    answer = with_calls("Probe", "DeleteVolume", "Probe").expect(Filter(rpc="Probe"), **fields)
    assert (answer.met, answer.count) == (met, 2)
    assert bool(answer.problem) is bool(answer.nearest) is not met


MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({}, "expectation: given: none, allowed: one of exactly, at_least, at_most, never, in_this"),
    ({"exactly": 1, "never": True}, "expectation: given: exactly and never, allowed: one of"),
    ({"at_least": 0, "at_most": 0}, "expectation: given: at_least and at_most"),
    ({"exactly": -1}, "exactly: -1 is not allowed, allowed: 0 or more"),
    ({"at_most": -7}, "at_most: -7 is not allowed"),
    ({"filter": Filter(rpc="Prob"), "never": True}, 'filter.rpc: unknown RPC "Prob"'),
    (
        {"in_this_order": [Filter(), Filter(code="ok")]},
        r'in_this_order\[1\]\.code: unknown code "ok"',
    ),
]


@pytest.mark.parametrize(("fields", "text"), MISTAKES, ids=[item[1][:30] for item in MISTAKES])
def test_an_expectation_that_makes_no_sense_is_a_mistake(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(QueryMistake, match=f"^{text}"):
        with_calls("Probe").expect(**fields)


# --------------------------------------------------------------------------------- waits, watches


def test_one_call_within_ten_seconds_is_waited_for_by_default() -> None:
    service = Service()
    with pytest.raises(CallsNotSeen, match=r"^10 s passed, and 0 of 1 calls were seen"):
        service.wait()
    assert service.small.runtime.now() == 10
    service.small.call()
    assert sequences(service.wait().calls) == [1]


def test_a_wait_takes_count_timeout_and_arrived() -> None:
    service = Service()
    service.small.begin()
    assert sequences(service.wait(arrived=True).calls) == [1]
    with pytest.raises(CallsNotSeen, match=re.escape("1.5 s passed, and 1 of 2 calls were seen")):
        service.wait(arrived=True, count=2, timeout="1500ms")
    with pytest.raises(CallsNotSeen, match=r"^0 s passed"):
        service.wait(timeout="0s")


WRONG_WAITS: list[tuple[dict[str, Any], str]] = [
    ({"timeout": "10"}, 'timeout: "10" is not allowed, allowed: a duration such as 50ms, 2s'),
    ({"count": -1}, "count: -1 is not allowed, allowed: 1 to 100"),
    ({"count": 101}, "count: 101 is not allowed"),
    ({"filter": Filter(after=-1)}, "filter.after: -1 is not allowed"),
]


@pytest.mark.parametrize(("fields", "text"), WRONG_WAITS)
def test_a_wait_that_makes_no_sense_is_a_mistake(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(QueryMistake, match=f"^{text}"):
        Service().wait(**fields)


def watch(service: Service, **fields: Any) -> Any:
    request = journal_pb2.WatchCallsRequest(**fields)
    return service.service.WatchCalls(request, service.caller)


def test_calls_are_watched_as_they_arrive_and_end() -> None:
    service = with_calls("Probe")
    service.small.begin()
    stream = watch(service, from_start=True)
    first, second = next(stream), next(stream)
    service.small.end(service.small.journal.entries()[-1])
    third = next(stream)
    service.caller.leave()
    with pytest.raises(CallerGone):
        next(stream)
    found = [(call.sequence, call.code) for call in (first, second, third)]
    assert found == [(1, "OK"), (2, "RUNNING"), (2, "OK")]


def test_a_watch_that_makes_no_sense_is_a_mistake_before_its_first_call() -> None:
    with pytest.raises(QueryMistake, match=r'^filter\.service: unknown service "node"'):
        watch(Service(), filter=Filter(service="node"))


def test_clearing_tells_how_many_calls_were_forgotten() -> None:
    service = with_calls("Probe", "Probe")
    service.small.begin()
    answer = service.service.ClearCalls(journal_pb2.ClearCallsRequest(), service.caller)
    assert answer.forgotten == 2
    assert sequences(service.list().calls) == [3]


# ------------------------------------------------------------------------------------------- codes


def test_every_error_of_the_journal_has_a_code() -> None:
    mistakes = {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, Exception)
    }
    assert mistakes | {CallerGone} == set(CODES)
    assert CODES[CallsNotSeen] is grpc.StatusCode.DEADLINE_EXCEEDED
    assert all(isinstance(code, grpc.StatusCode) for code in CODES.values())


def test_an_answer_leaves_room_below_what_clients_take_by_default() -> None:
    assert journal_service.MAX_ANSWER_BYTES <= 3 * 1024 * 1024
