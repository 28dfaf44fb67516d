"""How commands end: one clear line, and an exit code that a script can tell apart."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import grpc
import pytest

from mockdriver.control.v1 import journal_pb2
from tests.cli.ctl.running import ctl
from tests.client.fake_control import FakeControl
from tests.serving import environment
from tests.waiting import wait_until

REFUSED, USAGE, UNREACHABLE, TOO_LATE, INTERRUPTED = 1, 2, 3, 4, 130


def only_line(text: str) -> str:
    """Return the one line of an output."""
    [line] = text.splitlines()
    return line


def test_a_server_that_does_not_run_is_told_with_what_to_do(tmp_path: Path) -> None:
    done = ctl("instances", "--endpoint", str(tmp_path / "none.sock"))

    assert done.exit_code == UNREACHABLE
    line = only_line(done.stderr)
    assert line.startswith(f"Error: nobody answers at unix://{tmp_path}/none.sock: ")
    assert "there is no such socket" in line
    assert "mockdriver serve" in line


def test_a_socket_whose_server_has_gone_is_told(tmp_path: Path) -> None:
    path = tmp_path / "left.sock"
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))

    done = ctl("server", "--endpoint", str(path))

    assert done.exit_code == UNREACHABLE
    assert "the server that made this socket has gone" in only_line(done.stderr)


def test_a_file_that_is_no_socket_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    done = ctl("server", "--endpoint", str(tmp_path / "file"))

    assert done.exit_code == UNREACHABLE
    assert "this is no socket" in only_line(done.stderr)


def test_a_server_without_the_control_api_is_told(fake: FakeControl) -> None:
    fake.refuse("GetServer", grpc.StatusCode.UNIMPLEMENTED, "Method not found!")

    done = ctl("server", at=fake)

    assert done.exit_code == UNREACHABLE
    assert "has no control API" in only_line(done.stderr)


@pytest.mark.parametrize("endpoint", ["tcp://127.0.0.1:80", "unix:", "/" + "x" * 200])
def test_an_endpoint_that_cannot_be_is_a_mistake_of_usage(endpoint: str) -> None:
    done = ctl("server", "--endpoint", endpoint)

    assert done.exit_code == USAGE
    assert "--endpoint" in done.stderr


def test_what_the_cloud_refuses_is_told_with_the_errors_name(fake: FakeControl) -> None:
    fake.refuse(
        "Attach",
        grpc.StatusCode.RESOURCE_EXHAUSTED,
        "SlotsExhausted: instance 'i-1' has 2 slots and 2 slot users",
        "SlotsExhausted",
    )

    done = ctl("attach", "i-1", "d", at=fake)

    assert (done.exit_code, done.stdout) == (REFUSED, "")
    assert only_line(done.stderr) == (
        "Error: SlotsExhausted: instance 'i-1' has 2 slots and 2 slot users"
    )


def test_unavailable_from_the_api_itself_is_a_refusal(fake: FakeControl) -> None:
    fake.refuse("Attach", grpc.StatusCode.UNAVAILABLE, "Throttled: x", "Throttled")

    assert ctl("attach", "i-1", "d", at=fake).exit_code == REFUSED


def test_a_value_that_the_server_does_not_allow_is_a_mistake_of_usage(fake: FakeControl) -> None:
    fake.refuse(
        "LoadScenario", grpc.StatusCode.INVALID_ARGUMENT, "a: wrong\nb: wrong too", "Mistakes"
    )

    done = ctl("scenario", "load", "x", at=fake)

    assert done.exit_code == USAGE
    assert done.stderr.splitlines() == ["Error: a: wrong", "b: wrong too"]


def test_a_wait_that_is_not_over_in_time_has_its_own_exit_code(fake: FakeControl) -> None:
    fake.refuse("WaitForCalls", grpc.StatusCode.DEADLINE_EXCEEDED, "found 0 of 2", "CallsNotSeen")

    done = ctl("wait", "--count", "2", "--timeout", "1ms", at=fake)

    assert done.exit_code == TOO_LATE
    assert only_line(done.stderr) == "Error: found 0 of 2"


def test_an_expectation_that_is_not_met_prints_why_and_exits_with_1(fake: FakeControl) -> None:
    fake.answers["ExpectCalls"] = journal_pb2.ExpectCallsResponse(
        met=False,
        count=1,
        problem="expected exactly 2 calls, found 1",
        nearest=[journal_pb2.Call(sequence=7, rpc="Probe", code="OK")],
    )

    done = ctl("expect", "--exactly", "2", at=fake)

    assert done.exit_code == 1
    assert done.lines[0] == "expected exactly 2 calls, found 1"
    assert done.lines[2].startswith("7 ")


def test_an_expectation_that_is_met_exits_with_0(fake: FakeControl) -> None:
    fake.answers["ExpectCalls"] = journal_pb2.ExpectCallsResponse(met=True, count=2)

    assert ctl("expect", "--exactly", "2", at=fake).exit_code == 0
    assert ctl("expect", "--exactly", "2", "-o", "json", at=fake).data == {
        "met": True,
        "count": 2,
        "problem": "",
        "nearest": [],
    }


def test_text_of_the_server_cannot_steer_the_terminal(fake: FakeControl) -> None:
    fake.refuse("Attach", grpc.StatusCode.NOT_FOUND, "X: \x1b[31mred\x07 \u202e", "X")
    assert only_line(ctl("attach", "i", "d", at=fake).stderr) == (
        "Error: X: \\x1b[31mred\\x07 \\u202e"
    )


def test_an_instance_that_is_not_there_fails_and_a_misspelt_verb_is_noticed(
    fake: FakeControl,
) -> None:
    assert only_line(ctl("instances", "i-none", at=fake).stderr) == (
        'Error: no such instance: "i-none"'
    )
    assert 'did you mean the verb "remove"?' in ctl("disks", "remov", "d", at=fake).stderr


@pytest.mark.parametrize("words", [["calls", "--follow"], ["wait"]])
def test_ctrl_c_ends_without_a_traceback(fake: FakeControl, words: list[str]) -> None:
    fake.streams_have_an_end = False
    over = threading.Event()

    def wait(request: object) -> journal_pb2.WaitForCallsResponse:
        over.wait(60)
        return journal_pb2.WaitForCallsResponse()

    fake.answers["WaitForCalls"] = wait
    process = subprocess.Popen(
        [sys.executable, "-m", "mockdriver", "ctl", *words, "--endpoint", str(fake.path)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert wait_until(lambda: fake.asked, "the request")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    finally:
        over.set()
        process.kill()
        process.communicate()

    assert (process.returncode, errors) == (INTERRUPTED, b"")
