"""`mockdriver ctl` against a real server."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from csi_spec import csi_pb2
from mockdriver.client import ControlClient
from tests.cli.ctl.running import Done, ctl
from tests.serving import Serving, environment, serving
from tests.waiting import wait_until


@pytest.fixture(scope="module")
def running() -> Iterator[Serving]:
    with serving() as server:
        yield server


@pytest.fixture
def server(running: Serving) -> Serving:
    """The same server for all tests, each time as its scenario says."""
    with ControlClient(running.path) as control:
        control.state.reset()
    return running


def at(server: Serving, *words: str) -> Done:
    """Run a command on a server; fails unless it exits with 0."""
    done = ctl(*words, "--endpoint", str(server.path))
    assert done.exit_code == 0, done.stderr
    return done


def probe(server: Serving) -> None:
    """Make a call."""
    with server.connect() as client:
        client.identity.Probe(csi_pb2.ProbeRequest(), timeout=60)


@contextmanager
def following(server: Serving, out: Path, *words: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run `ctl calls --follow` in a process of its own."""
    with (
        out.open("wb") as printed,
        subprocess.Popen(
            [sys.executable, "-m", "mockdriver", "ctl", "calls", "--follow", *words],
            env=environment({"MOCKDRIVER_ENDPOINT": str(server.path)}),
            stdout=printed,
            stderr=subprocess.PIPE,
        ) as process,
    ):
        try:
            yield process
        finally:
            process.kill()


def test_what_is_changed_is_shown(server: Serving) -> None:
    at(server, "types", "add", "tiny", "--slots", "2")
    at(server, "instances", "add", "i-new", "--type", "tiny", "--boot-disk", "vol-new-boot")
    at(server, "attach", "i-new", "vol-by-hand", "--published")
    at(server, "interfaces", "add", "i-new", "eni-x")

    [row] = at(server, "instances", "i-new").lines[1:]
    assert row.split() == ["i-new", "tiny", "region-1a", "2/2", "2", "vol-new-boot", "1", "0"]

    at(server, "detach", "i-new", "vol-by-hand")
    at(server, "types", "change", "tiny", "--no-slots")
    assert "1/no limit" in at(server, "instances", "i-new").stdout
    at(server, "instances", "remove", "i-new")
    assert ctl("instance", "i-new", "--endpoint", str(server.path)).exit_code == 1


def test_a_fault_is_added_changed_and_explained(server: Serving) -> None:
    at(
        server,
        "faults",
        "add",
        "--name",
        "f",
        "--rpc",
        "Probe",
        "--code",
        "ABORTED",
        "--times",
        "2",
    )
    at(server, "faults", "change", "f", "--code", "UNAVAILABLE", "--without", "times")

    shown = json.loads(at(server, "fault", "f", "-o", "json").stdout)
    assert (shown["code"], shown["times"]) == ("UNAVAILABLE", 0)
    explained = json.loads(at(server, "faults", "explain", "--rpc", "Probe", "-o", "json").stdout)
    assert explained["acts"] == "f"


def test_a_call_is_held_seen_and_released(server: Serving) -> None:
    at(server, "hold", "b", "--rpc", "Probe")
    with server.connect() as client:
        call = client.identity.Probe.future(csi_pb2.ProbeRequest(), timeout=60)
        waited = json.loads(at(server, "barriers", "wait", "b", "-o", "json").stdout)
        running = at(server, "calls", "--code", "RUNNING", "--count").stdout
        at(server, "release", "--barrier", "b")
        call.result()

    assert waited["held"] == 1
    assert running == "1\n"
    [number] = waited["calls"]
    assert json.loads(at(server, "call", str(number), "-o", "json").stdout)["code"] == "OK"


def test_a_scenario_is_loaded_exported_and_loaded_again(server: Serving, tmp_path: Path) -> None:
    at(server, "scenario", "load", "three-zones")
    at(server, "disks", "add", "vol-extra", "--zone", "eu-1a")
    exported = tmp_path / "exported.yaml"
    exported.write_text(at(server, "scenario", "export", "--name", "mine").stdout, encoding="utf-8")
    before = at(server, "disks").stdout

    at(server, "scenario", "load", "kep-6011-example")
    assert at(server, "disks").stdout != before
    at(server, "scenario", "load", str(exported))

    assert at(server, "disks").stdout == before
    assert at(server, "scenario").stdout == exported.read_text(encoding="utf-8")
    at(server, "scenario", "load", "kep-6011-example")


def test_mistakes_of_a_scenario_are_told_line_by_line(server: Serving, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("scenario: x\nclod: {}\ncloud: {regin: y}\n", encoding="utf-8")

    done = ctl("scenario", "load", str(broken), "--endpoint", str(server.path))

    assert done.exit_code == 2
    assert "2:1: clod: unknown key" in done.stderr
    assert "3:9: cloud.regin: unknown key" in done.stderr


def test_snapshots_and_the_clock(server: Serving) -> None:
    at(server, "snapshots", "save", "before")
    at(server, "disks", "add", "vol-extra")
    at(server, "snapshots", "restore", "before")
    assert ctl("disk", "vol-extra", "--endpoint", str(server.path)).exit_code == 1
    assert at(server, "snapshots").lines[1].startswith("before ")
    at(server, "snapshots", "remove", "before")

    at(server, "clock", "stop")
    first = json.loads(at(server, "clock", "-o", "json").stdout)
    moved = json.loads(at(server, "clock", "advance", "1h", "-o", "json").stdout)
    assert first["stopped"]
    assert moved["seconds"] == pytest.approx(first["seconds"] + 3600)
    at(server, "clock", "start")


def test_calls_are_followed_until_ctrl_c(server: Serving, tmp_path: Path) -> None:
    out = tmp_path / "out"
    with following(server, out, "--rpc", "Probe", "--code", "OK") as process:
        assert wait_until(lambda: b"NUMBER" in out.read_bytes(), "the headings")
        probe(server)
        assert wait_until(lambda: out.read_bytes().count(b"Probe") == 1, "the call")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)

    assert (process.returncode, errors) == (130, b"")


def test_who_follows_a_server_that_stops_is_told(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with serving() as server, following(server, out, "-o", "json") as process:
        probe(server)
        assert wait_until(lambda: b"Probe" in out.read_bytes(), "the call")
        server.stop()
        _, errors = process.communicate(timeout=60)

    assert process.returncode == 3
    assert errors.startswith(b"Error: nobody answers at unix://")
    assert len(errors.splitlines()) == 1
