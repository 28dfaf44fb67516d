"""How a server ends: by which signals, what becomes of calls in flight, what it leaves."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import IO

import grpc
import pytest

from csi_spec import csi_pb2
from mockdriver.co.calling import call
from tests.conftest import Serve
from tests.requests import begin_publish, is_ready, published_ids
from tests.server.in_process import make
from tests.waiting import wait_until

Code = grpc.StatusCode


def attaching(how: str) -> str:
    """Return a scenario with one instance and one disk, whose attaching takes this long."""
    return f"""
        scenario: attaching
        cloud:
          instances: [{{id: i-1}}]
          disks: [{{id: vol-1}}]
          transitions: {{attach: {how}}}
    """


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_server_that_is_told_to_stop_ends_well_and_leaves_nothing(
    number: signal.Signals, serve: Serve
) -> None:
    server = serve()

    server.send(number)

    assert server.exit_code() == 0
    assert not server.path.exists()
    assert f"{number.name}: no new calls" in server.log()
    assert server.log().endswith(" INFO stopped\n")


def test_a_server_that_is_stopped_by_the_program_leaves_nothing(tmp_path: Path) -> None:
    server = make()
    sockets = [tmp_path / "1.sock", tmp_path / "2.sock"]
    for path in sockets:
        server.listen(path, "i-1")
    assert all(path.is_socket() for path in sockets)

    server.stop(0)

    assert list(tmp_path.iterdir()) == []


def test_a_server_may_be_stopped_twice(tmp_path: Path) -> None:
    server = make()
    server.listen(tmp_path / "csi.sock", None)

    server.stop(0)
    server.stop(0)


def test_a_call_in_flight_finishes_within_the_grace(serve: Serve) -> None:
    server = serve(scenario=attaching("after 1s"))
    with server.connect() as client:
        publishing = begin_publish(client, "vol-1", "i-1")
        wait_until(lambda: published_ids(client, "i-1"), "the publish has begun")

        server.send(signal.SIGTERM)

        assert publishing.result() == csi_pb2.ControllerPublishVolumeResponse()
    assert server.exit_code() == 0
    assert not server.path.exists()


def test_a_call_that_outlasts_the_grace_is_ended(serve: Serve) -> None:
    server = serve("--grace-seconds", "0.2", scenario=attaching("held"))
    with server.connect() as client:
        publishing = begin_publish(client, "vol-1", "i-1")
        wait_until(lambda: published_ids(client, "i-1"), "the publish has begun")

        server.send(signal.SIGTERM)

        assert publishing.code() in (Code.CANCELLED, Code.UNAVAILABLE)
    assert server.exit_code() == 0
    assert not server.path.exists()
    assert "ControllerPublishVolume CANCELLED" in server.log()


def test_a_server_that_stops_takes_no_new_calls(serve: Serve) -> None:
    server = serve("--grace-seconds", "3600", scenario=attaching("held"))
    with server.connect() as client:
        publishing = begin_publish(client, "vol-1", "i-1")
        wait_until(lambda: published_ids(client, "i-1"), "the publish has begun")

        server.send(signal.SIGTERM)
        wait_until(lambda: not server.path.exists(), "the socket is gone")

        assert call(client.identity.Probe, csi_pb2.ProbeRequest()).code == "UNAVAILABLE"
        with server.connect() as new:
            assert call(new.identity.Probe, csi_pb2.ProbeRequest()).code == "UNAVAILABLE"
        assert not publishing.done(), "the call in flight goes on"

        publishing.cancel()
    assert server.exit_code() == 0, "nothing is left to wait for"


@pytest.mark.parametrize("first", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("second", [signal.SIGTERM, signal.SIGINT])
def test_a_second_signal_ends_the_server_at_once(
    first: signal.Signals, second: signal.Signals, serve: Serve
) -> None:
    server = serve("--grace-seconds", "3600", scenario=attaching("held"))
    with server.connect() as client:
        publishing = begin_publish(client, "vol-1", "i-1")
        wait_until(lambda: published_ids(client, "i-1"), "the publish has begun")

        server.send(first)
        wait_until(lambda: "no new calls" in server.log(), "the first signal has arrived")
        server.send(second)

        assert server.exit_code() == 128 + second
        assert publishing.code() is Code.UNAVAILABLE
    assert not server.path.exists()


def test_two_signals_at_once_leave_no_socket(serve: Serve) -> None:
    server = serve()

    server.send(signal.SIGTERM)
    server.send(signal.SIGINT)

    assert server.exit_code() in (0, 128 + signal.SIGTERM, 128 + signal.SIGINT)
    assert not server.path.exists()


def full_disk() -> IO[bytes]:
    return Path("/dev/full").open("wb")


def pipe_without_reader() -> IO[bytes]:
    reader, writer = os.pipe()
    os.close(reader)
    return os.fdopen(writer, "wb")


@pytest.mark.parametrize("output", [full_disk, pipe_without_reader])
def test_nobody_has_to_read_what_the_server_prints(
    output: Callable[[], IO[bytes]], serve: Serve
) -> None:
    with output() as nobody:
        server = serve(ready=False, printing_to=nobody)
        wait_until(server.path.exists, "the socket")
        with server.connect() as client:
            assert is_ready(client, wait_for_ready=True)

        assert server.stop() == 0
    assert not server.path.exists()
    assert "Traceback" not in server.log()


def test_a_server_whose_socket_is_deleted_says_so_and_ends(serve: Serve) -> None:
    server = serve()
    server.path.unlink()

    assert server.exit_code() == 1
    assert f"socket {server.path} was removed or replaced by somebody else" in server.log()


def test_a_server_whose_socket_is_replaced_ends_and_leaves_the_other_ones_alone(
    serve: Serve,
) -> None:
    server = serve()
    server.path.unlink()
    server.path.write_text("not a socket")

    assert server.exit_code() == 1
    assert server.path.read_text() == "not a socket"


def test_a_server_whose_folder_is_deleted_ends(serve: Serve) -> None:
    server = serve("--node-socket-dir", "nodes")
    shutil.rmtree(server.folder / "nodes")

    assert server.exit_code() == 1
    assert "nodes/0.sock was removed" in server.log() or "nodes/0.sock, " in server.log()
    assert not server.path.exists()
