"""Faults through a real server: what a client sees, and what other clients do not notice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import grpc
import pytest

from csi_spec import csi_pb2
from mockdriver.co.calling import call
from mockdriver.co.csi_client import CsiClient
from mockdriver.faults import Fault
from mockdriver.faults.error_details import described
from mockdriver.faults.errors import ERROR_DETAILS_KEY
from mockdriver.faults.waiting import MAX_WAITING
from mockdriver.server.mock_server import MockServer
from tests.conftest import Serve
from tests.requests import answer, begin_publish, is_ready, publish, published_ids
from tests.server.in_process import make
from tests.serving import environment
from tests.waiting import PATIENCE_SECONDS, wait_until

HELD = 200
CLOUD = f"""
scenario: faulty
cloud:
  instances: [{{id: i-1}}]
  disks: [{", ".join(f"{{id: vol-{n}}}" for n in range(HELD))}]
"""
GET_INFO = csi_pb2.ControllerGetNodeInfoRequest(node_id="i-1")
GATE = Fault(name="gate", rpc="ControllerPublishVolume", hold="gate")


def scenario(*faults: dict[str, Any]) -> str:
    """Return a scenario with these faults."""
    return f"{CLOUD}faults: {json.dumps(faults, ensure_ascii=False)}\n"


@contextmanager
def served(*faults: Fault) -> Iterator[tuple[MockServer, CsiClient, CsiClient]]:
    """Serve in this process, with faults; yield the server and two connections to it."""
    server = make(CLOUD)
    server.faults.load(faults)
    # Not below pytest's folder, whose long names leave too few bytes for a socket's.
    with tempfile.TemporaryDirectory(prefix="mockdriver-test-") as folder:
        path = Path(folder) / "csi.sock"
        try:
            server.listen(path, "i-1")
            with CsiClient(path) as client, CsiClient(path) as other:
                yield server, client, other
        finally:
            server.stop(0)


def held(server: MockServer) -> int:
    return sum(barrier.held for barrier in server.faults.barriers())


# -------------------------------------------------------------------------------- over the socket


def test_twice_it_fails_and_then_it_works(serve: Serve) -> None:
    flaky = {"rpc": "ControllerGetNodeInfo", "node_id": "i-1", "times": 2, "code": "UNAVAILABLE"}
    server = serve(scenario=scenario(flaky))
    with server.connect() as client:
        method = client.controller.ControllerGetNodeInfo
        assert [call(method, GET_INFO).code for _ in range(4)] == [
            "UNAVAILABLE",
            "UNAVAILABLE",
            "OK",
            "OK",
        ]


def test_an_answer_that_comes_too_late_is_of_work_that_was_done(serve: Serve) -> None:
    late = {"rpc": "ControllerPublishVolume", "when": "after", "delay": "1h", "times": 1}
    server = serve(scenario=scenario(late))
    with server.connect() as client:
        method = client.controller.ControllerPublishVolume
        overdue = method.future(publish("vol-0", "i-1"), timeout=0.3)
        assert overdue.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        assert published_ids(client, "i-1") == ["vol-0"]
        wait_until(lambda: "ControllerPublishVolume CANCELLED" in server.log(), "it has ended")
        answer(method, publish("vol-0", "i-1"))


def test_it_is_done_and_said_to_have_failed_and_the_retry_gets_the_idempotent_answer(
    serve: Serve,
) -> None:
    lost = {"rpc": "CreateVolume", "when": "after", "times": 1, "code": "UNAVAILABLE"}
    server = serve(scenario=scenario(lost))
    request = csi_pb2.CreateVolumeRequest(
        name="pvc-1", volume_capabilities=[publish("", "").volume_capability]
    )
    with server.connect() as client:
        assert call(client.controller.CreateVolume, request).code == "UNAVAILABLE"
        first = answer(client.controller.CreateVolume, request).volume.volume_id
        assert answer(client.controller.CreateVolume, request).volume.volume_id == first


def test_message_and_details_travel_with_the_code(serve: Serve) -> None:
    message = "kein Platz: 💽\n100 % voll"
    detail = {"@type": "google.rpc.QuotaFailure", "violations": [{"subject": "zone z"}]}
    full = {
        "rpc": "*",
        "request": {"node_id": "i-1"},
        "code": "RESOURCE_EXHAUSTED",
        "message": message,
        "details": [detail],
    }
    server = serve(scenario=scenario(full))
    with server.connect() as client:
        with pytest.raises(grpc.RpcError) as caught:
            client.controller.ControllerGetNodeInfo(GET_INFO, timeout=PATIENCE_SECONDS)
        error: Any = caught.value
        assert (error.code(), error.details()) == (grpc.StatusCode.RESOURCE_EXHAUSTED, message)
        metadata = dict(error.trailing_metadata())
        status = described(metadata[ERROR_DETAILS_KEY])
        assert (status["code"], status["message"]) == (8, message)
        assert status["details"][0].violations[0].subject == "zone z"


@pytest.mark.parametrize("message", ["m" * 7_000, "ö" * 1_100, "\x00%" * 1_100, "💽" * 580])
def test_the_longest_messages_arrive_with_their_code(serve: Serve, message: str) -> None:
    long = {"rpc": "ControllerGetNodeInfo", "code": "ABORTED", "message": message}
    server = serve(scenario=scenario(long))
    with server.connect() as client:
        for _ in range(20):  # past its soft limit gRPC refuses some, by chance
            found = call(client.controller.ControllerGetNodeInfo, GET_INFO)
            assert (found.code, found.message) == ("ABORTED", message)


def test_fields_of_replies_are_overridden(serve: Serve) -> None:
    lie = {
        "rpc": "ControllerGetNodeInfo",
        "reply": {"max_volumes_per_node": 7, "published_volume_ids": ["ghost"]},
    }
    server = serve(scenario=scenario(lie))
    with server.connect() as client:
        info = answer(client.controller.ControllerGetNodeInfo, GET_INFO)
        assert info.max_volumes_per_node == 7
        assert list(info.published_volume_ids) == ["ghost"]


def test_a_node_that_never_answers_hinders_no_other(serve: Serve) -> None:
    mute = {"rpc": "Node*", "no_answer": True}
    server = serve(scenario=scenario(mute))
    with server.connect() as client:
        pending = client.node.NodeGetInfo.future(csi_pb2.NodeGetInfoRequest())
        assert published_ids(client, "i-1") == []
        assert not pending.done()
        pending.cancel()
        wait_until(lambda: "NodeGetInfo CANCELLED" in server.log(), "it has noticed")
    assert server.stop() == 0


@pytest.mark.parametrize(
    "keys", [{"no_answer": True}, {"code": "UNAVAILABLE"}, {"hold": "gate"}, {"exit": 3}]
)
def test_a_fault_of_probe_keeps_no_server_from_getting_ready(
    serve: Serve, keys: dict[str, Any]
) -> None:
    server = serve(scenario=scenario({"rpc": "Probe", **keys}))
    with server.connect() as client:
        assert published_ids(client, "i-1") == []
        assert call(client.identity.GetPluginInfo, csi_pb2.GetPluginInfoRequest()).ok


def test_what_waits_for_a_fault_keeps_no_server_from_stopping(serve: Serve) -> None:
    slow = {"rpc": "ControllerPublishVolume", "delay": "1h"}
    server = serve("--grace-seconds", "0.2", scenario=scenario(slow))
    with server.connect() as client:
        pending = [begin_publish(client, f"vol-{n}", "i-1") for n in range(20)]
        assert is_ready(client)
        assert server.stop() == 0
        assert all(future.code() is not grpc.StatusCode.OK for future in pending)


# ------------------------------------------------------------------------------------- barriers


def test_while_200_calls_are_held_others_are_answered() -> None:
    with served(GATE) as (server, client, other):
        calls = [begin_publish(client, f"vol-{n}", "i-1") for n in range(HELD)]
        wait_until(lambda: held(server) == HELD, "all are held")

        assert all(is_ready(other) for _ in range(50))
        assert published_ids(other, "i-1") == []
        assert not any(item.done() for item in calls)

        assert server.faults.release("gate", 50) == 50
        wait_until(lambda: sum(item.done() for item in calls) == 50, "50 go on")
        assert len(published_ids(other, "i-1")) == 50
        assert held(server) == HELD - 50

        server.faults.clear()
        assert Counter(item.code().name for item in calls) == {"OK": HELD}


def test_callers_that_leave_give_up_their_places() -> None:
    with served(GATE) as (server, client, _):
        calls = [begin_publish(client, f"vol-{n}", "i-1") for n in range(50)]
        wait_until(lambda: held(server) == 50, "all are held")
        for item in calls[:30]:
            item.cancel()
        wait_until(lambda: held(server) == 20, "30 have left")
        overdue = client.controller.ControllerPublishVolume.future(
            publish("vol-60", "i-1"), timeout=0.2
        )
        assert overdue.code() is grpc.StatusCode.DEADLINE_EXCEEDED
        wait_until(lambda: held(server) == 20, "the deadline has passed")
        server.faults.release()
        assert {item.code().name for item in calls[30:]} == {"OK"}


@pytest.mark.slow
def test_past_the_most_calls_that_can_wait_the_next_is_unavailable() -> None:
    slow = Fault(name="slow", rpc="ControllerGetNodeInfo", hold="gate")
    with served(slow) as (server, client, other):
        method: Any = client.controller.ControllerGetNodeInfo
        calls = [method.future(GET_INFO, timeout=PATIENCE_SECONDS) for _ in range(MAX_WAITING)]
        wait_until(lambda: held(server) == MAX_WAITING, "all are held")

        refused = call(other.controller.ControllerGetNodeInfo, GET_INFO)
        assert refused.code == "UNAVAILABLE"
        assert refused.message.startswith(f"{MAX_WAITING} calls are held, delayed or left without")
        assert is_ready(other)

        assert server.faults.release() == MAX_WAITING
        assert {item.code().name for item in calls} == {"OK"}


def test_a_state_that_is_set_back_ends_held_calls_without_their_work() -> None:
    with served(GATE) as (server, client, other):
        snapshot = server.faults.snapshot()
        calls = [begin_publish(client, f"vol-{n}", "i-1") for n in range(20)]
        wait_until(lambda: held(server) == 20, "all are held")
        server.faults.restore(snapshot)
        assert {item.code().name for item in calls} == {"UNAVAILABLE"}
        assert published_ids(other, "i-1") == []
        assert server.faults.get("gate").acted == 0


# ------------------------------------------------------------------------------- the process ends


def test_a_fault_ends_the_process_as_a_crash_would(serve: Serve) -> None:
    die = {"name": "die", "rpc": "ControllerPublishVolume", "when": "after", "exit": 137}
    journal = "journal.jsonl"
    server = serve("--journal", journal, scenario=scenario(die))
    with server.connect() as client:
        pending = begin_publish(client, "vol-0", "i-1")
        assert pending.code() is grpc.StatusCode.UNAVAILABLE
    assert server.exit_code() == 137
    assert server.path.is_socket(), "a crash removes nothing"
    assert "fault die ends the process with exit code 137" in server.log()
    assert "ControllerPublishVolume UNAVAILABLE" in server.log()
    lines = (server.folder / journal).read_text(encoding="utf-8").splitlines()
    last = json.loads(lines[-1])
    assert (last["rpc"], last["faults"]) == ("ControllerPublishVolume", ["die"])

    serve("--endpoint", server.path)
    with CsiClient(server.path) as client:
        assert is_ready(client)


def test_a_reader_of_the_log_that_has_stalled_does_not_keep_the_process_alive() -> None:
    with tempfile.TemporaryDirectory(prefix="mockdriver-test-") as folder, full_pipe() as log:
        file, path = Path(folder) / "scenario.yaml", Path(folder) / "csi.sock"
        file.write_text(scenario({"rpc": "NodeGetInfo", "exit": 9}), encoding="utf-8")
        command = [sys.executable, "-m", "mockdriver", "serve", "--scenario", str(file)]
        process = subprocess.Popen(
            [*command, "--endpoint", str(path)],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=log,
        )
        try:
            assert process.stdout is not None
            assert process.stdout.readline()
            with CsiClient(path) as client:
                assert call(client.node.NodeGetInfo, csi_pb2.NodeGetInfoRequest()).code == (
                    "UNAVAILABLE"
                )
            assert process.wait(PATIENCE_SECONDS) == 9
        finally:
            process.kill()
            process.communicate()


@contextmanager
def full_pipe() -> Iterator[int]:
    """Yield the end for writing of a pipe that nobody reads and that takes nothing more."""
    reading, writing = os.pipe()
    try:
        os.set_blocking(writing, False)
        with suppress(BlockingIOError):
            while os.write(writing, b"x" * 4_096):
                pass
        os.set_blocking(writing, True)
        yield writing
    finally:
        os.close(reading)
        os.close(writing)
