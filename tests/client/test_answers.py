"""What the client makes of answers: plain lists and numbers, calls as records, typed errors."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

import grpc
import pytest
from google.protobuf.json_format import ParseDict

from mockdriver.client import (
    Call,
    CallFilter,
    CallsNotAsExpected,
    ControlClient,
    ControlError,
    EndpointMistake,
    FaultFields,
)
from mockdriver.control.v1 import cloud_pb2, faults_pb2, journal_pb2
from tests.client.fake_control import FakeControl

CALL = ParseDict(
    {
        "sequence": 7,
        "start": "2026-11-30T12:00:00.5Z",
        "duration_seconds": 0.0125,
        "peer": "unix:",
        "service": "Controller",
        "rpc": "ControllerGetNodeInfo",
        "request": {"node_id": "i-1"},
        "response": {"published_volume_ids": ["a", "b"]},
        "code": "OK",
        "faults": ["slow"],
        "calls_in_flight": 2,
        "cloud_calls": [{"api": "describe_instances", "ids": ["i-1"], "error": "Throttled"}],
    },
    journal_pb2.Call(),
)


def _with_response(response: dict[str, Any]) -> journal_pb2.Call:
    return ParseDict({"response": response}, journal_pb2.Call())


def test_a_call_is_a_record_of_plain_values(client: ControlClient, fake: FakeControl) -> None:
    fake.answers["ListCalls"] = journal_pb2.ListCallsResponse(calls=[CALL])

    [call] = client.calls.list()

    assert call.start == datetime(2026, 11, 30, 12, 0, 0, 500_000, UTC)
    assert call.request == {"node_id": "i-1"}
    assert call.response["published_volume_ids"] == ["a", "b"]
    assert str(Call.of(_with_response({"max_volumes_per_node": 23, "ratio": 0.5})).response) == (
        "{'max_volumes_per_node': 23, 'ratio': 0.5}"
    )
    assert call.cloud_calls[0].ids == ("i-1",)
    assert call.cloud_calls[0].error == "Throttled"
    assert call.original == CALL


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({}, ' {"node_id":"i-1"} -> OK {"published_volume_ids":["a","b"]}  [12.5 ms]'),
        (
            {"code": "NOT_FOUND", "message": "no such node", "node_id": "i-2"},
            ' at node i-2 {"node_id":"i-1"} -> NOT_FOUND no such node  [12.5 ms]',
        ),
        ({"code": "RUNNING"}, ' {"node_id":"i-1"} -> in flight'),
    ],
)
def test_a_call_reads_as_a_line(
    client: ControlClient, fake: FakeControl, changes: dict[str, Any], end: str
) -> None:
    changed = journal_pb2.Call()
    changed.CopyFrom(CALL)
    ParseDict(changes, changed)
    fake.answers["WaitForCalls"] = journal_pb2.WaitForCallsResponse(calls=[changed])

    [call] = client.calls.wait()

    assert str(call) == f"#7 ControllerGetNodeInfo{end}  [faults: slow]"


def test_an_expectation_that_is_met_is_true(client: ControlClient, fake: FakeControl) -> None:
    fake.answers["ExpectCalls"] = journal_pb2.ExpectCallsResponse(met=True, count=3)

    answer = client.calls.expect(rpc="Probe", at_least=1)

    assert answer
    assert answer.count == 3
    answer.require()


def test_an_expectation_that_is_not_met_tells_why_and_shows_the_nearest_calls(
    client: ControlClient, fake: FakeControl
) -> None:
    fake.answers["ExpectCalls"] = journal_pb2.ExpectCallsResponse(
        problem="want exactly 1, have 0", nearest=[CALL]
    )

    answer = client.calls.expect(rpc="Probe", exactly=1)

    assert not answer
    with pytest.raises(CallsNotAsExpected, match=r"want exactly 1, have 0\n  #7 Controller"):
        answer.require()


def test_all_pages_are_asked_for(client: ControlClient, fake: FakeControl) -> None:
    def page(request: cloud_pb2.ListInstancesRequest) -> cloud_pb2.ListInstancesResponse:
        number = int(request.page_token or "0")
        return cloud_pb2.ListInstancesResponse(
            instances=[cloud_pb2.Instance(id=f"i-{number}")],
            next_page_token=str(number + 1) if number < 2 else "",
            total=3,
        )

    fake.answers["ListInstances"] = page

    assert [instance.id for instance in client.cloud.instances()] == ["i-0", "i-1", "i-2"]
    assert client.cloud.instance_page(page_token="1").next_page_token == "2"


def test_a_detach_that_has_ended_leaves_no_attachment(
    client: ControlClient, fake: FakeControl
) -> None:
    assert client.cloud.detach("i", "d") is None

    left = cloud_pb2.Attachment(disk="d", state="detaching")
    fake.answers["Detach"] = cloud_pb2.DetachResponse(attachment=left)
    assert client.cloud.detach("i", "d") == left


def test_a_refusal_has_the_code_and_the_name_of_the_error(
    client: ControlClient, fake: FakeControl
) -> None:
    fake.refuse(
        "Attach", grpc.StatusCode.RESOURCE_EXHAUSTED, "SlotsExhausted: full", "SlotsExhausted"
    )

    with pytest.raises(ControlError) as caught:
        client.cloud.attach("i", "d")

    error = caught.value
    assert (error.code, error.error) == (grpc.StatusCode.RESOURCE_EXHAUSTED, "SlotsExhausted")
    assert error.message == "SlotsExhausted: full"
    assert str(error) == "Attach: RESOURCE_EXHAUSTED: SlotsExhausted: full"


def test_a_refusal_without_a_name_has_none(client: ControlClient, fake: FakeControl) -> None:
    fake.refuse("GetFault", grpc.StatusCode.NOT_FOUND, "no fault 'f'")

    with pytest.raises(ControlError, match="GetFault: NOT_FOUND: no fault 'f'") as caught:
        client.faults.get("f")

    assert caught.value.error == ""


def test_a_server_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = Path("/tmp/mockdriver-nobody-listens-here.sock")
    with ControlClient(path) as client, pytest.raises(ControlError) as caught:
        client.clock.reading()

    assert caught.value.code is grpc.StatusCode.UNAVAILABLE
    assert f"nobody answers at unix://{path}" in str(caught.value)


def test_a_server_without_the_control_api_is_named(fake: FakeControl) -> None:
    fake.refuse("GetClock", grpc.StatusCode.UNIMPLEMENTED, "Method not found!")

    with ControlClient(fake.path) as client, pytest.raises(ControlError) as caught:
        client.clock.reading()

    assert "has no control API, or an older one" in caught.value.message


def test_every_call_has_a_deadline(fake: FakeControl) -> None:
    with ControlClient(fake.path, deadline_seconds=7) as client:
        client.clock.reading()

    [deadline] = fake.deadlines
    assert 6 < deadline < 8


def test_a_call_that_waits_has_the_time_on_top(fake: FakeControl) -> None:
    with ControlClient(fake.path, deadline_seconds=7) as client:
        client.calls.wait(timeout_seconds=1000)
        client.faults.wait_for_held("b", timeout_seconds=1000)
        client.cloud.attach("i", "d", wait=True, wait_seconds=1000)
        client.cloud.detach("i", "d", wait=True, wait_seconds=1000)
        client.cloud.attach("i", "d", wait_seconds=1000)

    *waiting, plain = fake.deadlines
    # gRPC sends long deadlines in whole units.
    assert all(1000 < deadline < 1020 for deadline in waiting)
    assert plain < 8


def test_watching_yields_calls_until_the_server_has_no_more(
    client: ControlClient, fake: FakeControl
) -> None:
    fake.answers["WatchCalls"] = [CALL, CALL]

    assert [call.sequence for call in client.calls.watch()] == [7, 7]


def test_watching_that_is_cancelled_comes_to_an_end(
    client: ControlClient, fake: FakeControl
) -> None:
    fake.answers["WatchCalls"] = [CALL]
    fake.streams_have_an_end = False

    with client.calls.watch() as watch:
        assert next(watch).sequence == 7
        watch.cancel()
        assert list(watch) == []


def test_watching_has_a_deadline_if_one_is_given(client: ControlClient, fake: FakeControl) -> None:
    fake.streams_have_an_end = False

    with pytest.raises(ControlError) as caught:
        list(client.calls.watch(timeout_seconds=0.1))

    assert caught.value.code is grpc.StatusCode.DEADLINE_EXCEEDED


def test_watching_what_the_server_refuses_fails_at_once(
    client: ControlClient, fake: FakeControl
) -> None:
    fake.refuse("WatchCalls", grpc.StatusCode.INVALID_ARGUMENT, "no RPC 'Prob'", "UnknownRpc")

    with pytest.raises(ControlError, match="WatchCalls: INVALID_ARGUMENT: no RPC 'Prob'"):
        list(client.calls.watch(rpc="Prob"))


def test_an_unknown_field_of_a_fault_is_refused_with_the_known_ones(
    client: ControlClient, fake: FakeControl
) -> None:
    with pytest.raises(TypeError, match=r"a fault has no timez; there are: name, .*times"):
        client.faults.add(**cast(FaultFields, {"timez": 2}))

    assert fake.asked == []


def test_an_unknown_field_of_a_filter_is_refused_with_the_known_ones(
    client: ControlClient,
) -> None:
    with pytest.raises(TypeError, match="calls have no node; there are: service, node_id, code"):
        client.calls.list(**cast(CallFilter, {"node": "i"}))


def test_faults_and_barriers_are_answered_as_lists(
    client: ControlClient, fake: FakeControl
) -> None:
    fake.answers["ListFaults"] = faults_pb2.ListFaultsResponse(faults=[faults_pb2.Fault(name="f")])
    fake.answers["ListBarriers"] = faults_pb2.ListBarriersResponse(
        barriers=[faults_pb2.Barrier(name="b")]
    )
    fake.answers["ReleaseBarrier"] = faults_pb2.ReleaseBarrierResponse(released=3)

    assert [fault.name for fault in client.faults.list()] == ["f"]
    assert [barrier.name for barrier in client.faults.barriers()] == ["b"]
    assert client.faults.release() == 3


@pytest.mark.parametrize("endpoint", ["unix:///run/a.sock", "unix:/run/a.sock", "/run/a.sock"])
def test_an_endpoint_is_taken_as_serve_takes_it(endpoint: str) -> None:
    with ControlClient(endpoint) as client:
        assert client.endpoint == "unix:///run/a.sock"


@pytest.mark.parametrize(
    ("endpoint", "problem"),
    [
        ("", "has no path"),
        ("unix://", "has no path, want one as in unix:///run/csi.sock"),
        ("localhost:8080", "want a Unix socket"),
        ("unix:relative.sock", "want a Unix socket"),
        ("/" + "x" * 107, "has 108 bytes, a Unix socket's path has at most 107"),
    ],
)
def test_an_endpoint_that_nobody_can_listen_on_is_refused(endpoint: str, problem: str) -> None:
    with pytest.raises(EndpointMistake, match=problem):
        ControlClient(endpoint)
