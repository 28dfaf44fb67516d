"""However a run ends, its processes end with it, and its files go then or at the next run."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import pytest

from e2e.cluster.processes import Processes
from e2e.cluster.programs import VARIABLE
from e2e.cluster.waiting import wait_until
from tools.bare_machine import ROOT
from tools.kubernetes_programs import BINARIES

BY_HAND = (sys.executable, "-m", "e2e.by_hand", "three-zones")
TESTS = (sys.executable, "-m", "pytest", "-x", "e2e/test_attaching.py")

ETCD, API_SERVER, SIDECAR, NODE = "etcd", "kube-apiserver", "csi-attacher", "hollownode"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder for everything that a run makes; its path must be short."""
    with tempfile.TemporaryDirectory(prefix="e2e-") as name:
        yield Path(name)


class Run:
    """A run in a process of its own, with its folders in `place`."""

    def __init__(self, place: Path, command: tuple[str, ...], programs: Path = BINARIES) -> None:
        self.place = place
        self.temporary = place / "t"
        self.temporary.mkdir(exist_ok=True)
        variables = {
            **os.environ,
            VARIABLE: f"{programs}{os.pathsep}{BINARIES}",
            "MOCKDRIVER_CACHE": str(place / "cache"),
            "TMPDIR": str(self.temporary),
        }
        self.output = place / "output"
        with self.output.open("ab") as output:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=variables, stdout=output, stderr=output
            )

    def wait_for(self, program: str) -> None:
        """Return when a program of this run is there."""

        def is_there() -> bool:
            assert self.process.poll() is None, self.output.read_text()
            return program in self.programs()

        wait_until(is_there, f"{program} runs")

    def programs(self) -> list[str]:
        """Return the names of the programs of this run that are there, its own process excepted."""
        found = []
        for line in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = line.read_bytes().decode("utf-8", "replace").split("\0")
            except OSError:
                continue  # it has ended since
            if any(str(self.temporary) in word for word in words[1:]):
                found.append(Path(words[0]).name)
        return found

    def end(self, number: signal.Signals) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)

    def left(self) -> list[Path]:
        """Return the folders of runs that are there."""
        return list(self.temporary.glob("mock-e2e-*"))


class Starter(Protocol):
    """Starts a run; the programs in a folder win over the built ones."""

    def __call__(self, command: tuple[str, ...], programs: Path = ...) -> Run: ...


@pytest.fixture
def start(place: Path) -> Iterator[Starter]:
    """Start runs that are killed with the test, if they have not ended."""
    runs: list[Run] = []

    def begin(command: tuple[str, ...], programs: Path = BINARIES) -> Run:
        runs.append(Run(place, command, programs))
        return runs[-1]

    yield begin
    for run in runs:
        run.process.kill()
        run.process.wait()


@pytest.mark.parametrize(
    ("program", "number"),
    [
        (ETCD, signal.SIGINT),
        (API_SERVER, signal.SIGTERM),
        (SIDECAR, signal.SIGHUP),
        (NODE, signal.SIGINT),
    ],
)
def test_a_signal_at_any_moment_ends_a_cluster_and_nothing_is_left(
    start: Starter, program: str, number: signal.Signals
) -> None:
    run = start(BY_HAND)
    run.wait_for(program)

    assert run.end(number) == 0

    assert run.output.read_text().endswith("stopped\n")
    assert run.programs() == []
    assert run.left() == []


@pytest.mark.parametrize(
    ("program", "number"), [(API_SERVER, signal.SIGTERM), (NODE, signal.SIGINT)]
)
def test_a_signal_at_any_moment_ends_a_session_of_tests_and_nothing_is_left(
    start: Starter, program: str, number: signal.Signals
) -> None:
    run = start(TESTS)
    run.wait_for(program)

    assert run.end(number) == pytest.ExitCode.INTERRUPTED

    assert run.programs() == []
    assert run.left() == []


@pytest.mark.parametrize("command", [BY_HAND, TESTS])
def test_impatience_does_not_interrupt_the_clean_up(
    start: Starter, command: tuple[str, ...]
) -> None:
    run = start(command)
    run.wait_for(NODE)

    run.process.send_signal(signal.SIGINT)
    while run.process.poll() is None:
        run.process.send_signal(signal.SIGINT)
        time.sleep(0.02)

    assert run.programs() == []
    assert run.left() == []


@pytest.mark.parametrize("command", [BY_HAND, TESTS])
def test_a_run_that_is_killed_takes_its_programs_along_and_the_next_one_removes_its_files(
    start: Starter, place: Path, command: tuple[str, ...]
) -> None:
    killed = start(command)
    killed.wait_for(NODE)

    killed.end(signal.SIGKILL)

    wait_until(lambda: killed.programs() == [], "the programs have ended")
    assert len(killed.left()) == 1
    broken = folder_with(place, "etcd", "exit 1")
    assert start(BY_HAND, broken).process.wait(60) == 1
    assert killed.left() == []


def test_a_run_leaves_the_files_of_another_that_lives(start: Starter, place: Path) -> None:
    living = start(BY_HAND)
    living.wait_for(API_SERVER)

    assert start(BY_HAND, folder_with(place, "etcd", "exit 1")).process.wait(60) == 1

    assert len(living.left()) == 1
    assert API_SERVER in living.programs()


@pytest.mark.parametrize("program", [ETCD, API_SERVER, NODE])
def test_a_program_that_does_not_start_is_named_with_its_last_words(
    start: Starter, place: Path, program: str
) -> None:
    run = start(BY_HAND, folder_with(place, program, "echo no such flag; exit 3"))

    assert run.process.wait(60) == 1

    output = run.output.read_text()
    assert "ended with 3" in output
    assert "no such flag" in output
    (logs,) = (place / "cache" / "kubernetes" / "logs").iterdir()
    assert f"logs of all programs: {logs}" in output
    assert [path for path in logs.rglob("*.log") if "no such flag" in path.read_text()]
    assert run.programs() == []
    assert run.left() == []


def test_a_program_that_ignores_sigterm_is_killed(place: Path) -> None:
    processes = Processes(place / "logs")
    stubborn = processes.start(
        "stubborn", ["/bin/sh", "-c", "trap '' TERM; echo trapped; while :; do sleep 1; done"]
    )
    stubborn.wait_for_words("trapped")

    assert stubborn.stop(patience_seconds=0.2) == -signal.SIGKILL


def folder_with(place: Path, program: str, script: str) -> Path:
    """Return a folder with a program that is only this shell script."""
    folder = place / "programs"
    folder.mkdir(exist_ok=True)
    (folder / program).write_text(f"#!/bin/sh\n{script}\n")
    (folder / program).chmod(0o755)
    return folder
