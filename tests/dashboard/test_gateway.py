"""The control API as JSON over HTTP, and its streams as server-sent events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import grpc
import pytest

from mockdriver.control.services import DESCRIPTORS
from mockdriver.dashboard.app import MAX_BATCH, MAX_BODY_BYTES
from mockdriver.dashboard.callers import MAX_STREAMS
from mockdriver.dashboard.gateway import HTTP_STATUS
from tests.dashboard.asking import PACKAGE, Site, site
from tests.requests import begin_publish, published_ids
from tests.waiting import wait_until


@pytest.fixture
def page() -> Iterator[Site]:
    with site() as made:
        yield made


@pytest.fixture(scope="module")
def shared_page() -> Iterator[Site]:
    """Return a page whose cloud no test changes."""
    with site() as made:
        yield made


def test_a_call_answers_with_the_fields_of_the_proto(shared_page: Site) -> None:
    answer = shared_page.call("Cloud/GetInstance", {"id": "i-1"})

    assert answer.status == 200
    assert answer.headers["Content-Type"] == "application/json"
    assert answer.headers["Cache-Control"] == "no-store"
    instance = answer.json
    assert (instance["id"], instance["type"]) == ("i-1", "shared")
    # int64 as text, as the JSON of protobuf has it; what is nothing is there too.
    assert (instance["slots"], instance["slot_users"]) == ("4", "3")
    assert [item["out_of_band"] for item in instance["attachments"]] == [True, False]


def test_a_change_is_made_and_seen_by_the_driver(page: Site) -> None:
    assert page.call("Cloud/Attach", {"instance": "i-1", "disk": "vol-free"}).status == 200

    with page.server.connect() as client:
        assert "vol-free" in published_ids(client, "i-1")


def test_a_refusal_has_code_error_and_message(page: Site) -> None:
    page.call("Cloud/Attach", {"instance": "i-1", "disk": "vol-free"})

    answer = page.call("Cloud/Attach", {"instance": "i-1", "disk": "vol-one-too-many"})

    assert answer.status == 429
    assert answer.json == {
        "code": "RESOURCE_EXHAUSTED",
        "error": "SlotsExhausted",
        "message": "SlotsExhausted: instance 'i-1' has 4 slots and 4 slot users",
    }


@pytest.mark.parametrize(
    ("rpc", "request_", "status", "error"),
    [
        ("Cloud/GetInstance", {"id": "none"}, 404, "InstanceNotFound"),
        ("Cloud/GetInstance", {}, 400, "InvalidRequest"),
        ("Cloud/GetInstance", {"id": 7}, 400, "InvalidRequest"),
        ("Cloud/GetInstance", {"no_such_field": 1}, 400, "InvalidRequest"),
        ("Cloud/GetInstance", [], 400, "InvalidRequest"),
        ("Cloud/GetInstance", "text", 400, "InvalidRequest"),
        ("Cloud/ListInstances", {"page_size": -1}, 400, "InvalidRequest"),
        ("Cloud/NoSuchRpc", {}, 501, "NoSuchRpc"),
        ("Cloud/__init__", {}, 501, "NoSuchRpc"),
        ("NoSuchService/Get", {}, 501, "NoSuchRpc"),
        ("Journal/WatchCalls", {}, 400, "IsStream"),
    ],
)
def test_what_cannot_be_done_is_told(
    rpc: str, request_: Any, status: int, error: str, shared_page: Site
) -> None:
    answer = shared_page.call(rpc, request_)

    assert (answer.status, answer.json["error"]) == (status, error)
    assert answer.json["message"]
    assert set(answer.json) == {"code", "error", "message"}


def test_services_outside_the_control_api_are_not_reached(shared_page: Site) -> None:
    answer = shared_page.ask(
        "POST", "/api/csi.v1.Identity/Probe", "{}", Content_Type="application/json"
    )

    assert (answer.status, answer.json["error"]) == (501, "NoSuchRpc")


@pytest.mark.parametrize("body", ["", "{", "nan,", "[" * 100_000, b"\xff\xfe"])
def test_a_body_that_is_no_json_is_refused(body: str | bytes, shared_page: Site) -> None:
    answer = shared_page.ask(
        "POST", f"/api/{PACKAGE}.Cloud/GetInstance", body, Content_Type="application/json"
    )

    assert (answer.status, answer.json["error"]) == (400, "InvalidRequest")


def test_a_body_that_is_too_long_is_refused_unread(shared_page: Site) -> None:
    answer = shared_page.call("Cloud/GetInstance", {"id": "x" * MAX_BODY_BYTES})

    assert answer.status == 413


@pytest.mark.parametrize(
    "content_type", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data"]
)
def test_what_a_form_of_another_site_could_send_is_refused(
    content_type: str, shared_page: Site
) -> None:
    answer = shared_page.call("Cloud/GetInstance", {"id": "i-1"}, Content_Type=content_type)

    assert answer.status == 415


def test_every_rpc_that_is_no_stream_has_an_address(shared_page: Site) -> None:
    """Ask each for nonsense: it must be read, and refused as such."""
    for service in DESCRIPTORS.values():
        for method in service.methods:
            if method.server_streaming:
                continue
            path = f"/api/{service.full_name}/{method.name}"
            answer = shared_page.ask(
                "POST", path, '{"no_such_field": 1}', Content_Type="application/json"
            )
            assert (answer.status, answer.json["error"]) == (400, "InvalidRequest"), path


def test_every_code_has_a_status() -> None:
    assert set(HTTP_STATUS) == set(grpc.StatusCode)
    errors = [status for code, status in HTTP_STATUS.items() if code is not grpc.StatusCode.OK]
    assert all(400 <= status < 600 for status in errors)


def test_several_calls_in_one_request_are_answered_each_for_itself(shared_page: Site) -> None:
    calls = [
        {"call": f"{PACKAGE}.Cloud/GetNodeInfo", "request": {"node_id": "i-1"}},
        {"call": f"{PACKAGE}.Cloud/GetNodeInfo", "request": {"node_id": "none"}},
        {"call": f"{PACKAGE}.Cloud/GetCloud"},
        {"call": f"{PACKAGE}.Journal/WatchCalls"},
        {"call": 7},
        "nonsense",
    ]

    answer = shared_page.ask(
        "POST", "/api/batch", json.dumps(calls), Content_Type="application/json"
    )

    node_info, missing, cloud, stream, *nonsense = answer.json
    assert node_info["answer"]["max_volumes_per_node"] == "3"
    assert node_info["answer"]["published_volume_ids"] == ["boot-1", "i-1-published-1"]
    assert missing["error"]["code"] == "NOT_FOUND"
    assert cloud["answer"]["instances"] == "2"
    assert {item["error"]["error"] for item in (stream, *nonsense)} == {"InvalidRequest"}


@pytest.mark.parametrize("calls", [{}, [{}] * (MAX_BATCH + 1)])
def test_what_is_no_short_list_of_calls_is_refused(calls: Any, shared_page: Site) -> None:
    answer = shared_page.ask(
        "POST", "/api/batch", json.dumps(calls), Content_Type="application/json"
    )

    assert (answer.status, answer.json["error"]) == (400, "InvalidRequest")


def test_calls_are_streamed_as_they_arrive_and_as_they_end(page: Site) -> None:
    with page.server.connect() as client, page.stream("Journal/WatchCalls") as events:
        page.call("Cloud/SetTransitions", {"attach": "held"})
        publishing = begin_publish(client, "vol-free", "i-1")

        first = _calls(events, 1)
        assert [(call["rpc"], call["code"]) for call in first] == [
            ("ControllerPublishVolume", "RUNNING")
        ]

        wait_until(lambda: published_ids(client, "i-1"), "the publish has begun")
        page.call("Cloud/Release")
        publishing.result()
        ended = [call for call in _calls(events, 3) if call["rpc"] == "ControllerPublishVolume"]
        assert [call["code"] for call in ended] == ["OK"]


def _calls(events: Iterator[tuple[str, Any]], number: int) -> list[dict[str, Any]]:
    """Return the next calls of a stream, `number` or more."""
    calls: list[dict[str, Any]] = []
    while len(calls) < number:
        name, data = next(events)
        if name == "message":
            calls += data["answers"]
    return calls


def test_a_stream_that_is_refused_says_so(shared_page: Site) -> None:
    with shared_page.stream("Journal/WatchCalls", {"filter": {"rpc": "NoSuchRpc"}}) as events:
        name, data = next(events)

    assert name == "refused"
    assert data["code"] == "INVALID_ARGUMENT"


def test_a_stream_with_nonsense_for_a_request_is_refused(shared_page: Site) -> None:
    path = f"/api/{PACKAGE}.Journal/WatchCalls"

    assert shared_page.ask("GET", f"{path}?request={{").status == 400
    assert shared_page.ask("GET", f"{path}?request=[]").status == 400
    assert shared_page.ask("GET", f"/api/{PACKAGE}.Cloud/GetCloud").status == 405


def test_there_are_only_so_many_streams_and_one_that_ends_makes_room(page: Site) -> None:
    streams = []
    for _ in range(MAX_STREAMS):
        connection = page.connect()
        connection.request("GET", f"/api/{PACKAGE}.Journal/WatchCalls")
        streams.append((connection, connection.getresponse()))
    try:
        with page.stream("Journal/WatchCalls") as events:
            name, data = next(events)
        assert (name, data["error"]) == ("refused", "TooManyStreams")
        assert page.call("Cloud/GetCloud").status == 200
    finally:
        for connection, response in streams:
            response.close()
            connection.close()

    def has_room() -> bool:
        with page.stream("Journal/WatchCalls") as events:
            # A stream that is taken is silent until a call comes.
            with page.server.connect() as client:
                published_ids(client, "i-1")
            return next(events)[0] == "message"

    wait_until(has_room, "room for a stream")


def test_a_call_that_waits_leaves_when_its_client_does(page: Site) -> None:
    """Without that, each page that is closed would keep a thread."""
    waiting = {"filter": {"rpc": "DeleteVolume"}, "timeout": "8760h"}
    for _ in range(3):
        with closing(page.connect()) as connection:
            connection.request(
                "POST",
                f"/api/{PACKAGE}.Journal/WaitForCalls",
                json.dumps(waiting),
                {"Content-Type": "application/json"},
            )

    assert page.server.stop() == 0


def test_a_server_stops_while_streams_and_calls_wait(page: Site) -> None:
    waiting = {"filter": {"rpc": "DeleteVolume"}, "timeout": "8760h"}
    with ThreadPoolExecutor() as pool, page.stream("Journal/WatchCalls") as events:
        call = pool.submit(page.call, "Journal/WaitForCalls", waiting)
        page.server.process.terminate()

        names = [name for name, _ in events]
        assert names[-1:] in ([], ["refused"])
        assert page.server.exit_code() == 0
        assert call.exception() is not None or call.result().json["code"] == "CANCELLED"
