"""Whole runs as processes of their own, for tests of how they begin and end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

import pytest

from e2e.cluster.programs import VARIABLE
from e2e.cluster.waiting import wait_until
from tools.bare_machine import CACHE, ROOT
from tools.kubernetes_programs import BINARIES

ETCD, API_SERVER, SIDECAR, NODE = "etcd", "kube-apiserver", "csi-attacher", "hollownode"
"""Programs in the order in which a run starts them."""

TESTS = (sys.executable, "-m", "pytest", "-x", "e2e/test_attaching.py")


def by_hand(scenario: str) -> tuple[str, ...]:
    """Return the command that `make cluster` ends with."""
    return (sys.executable, "-m", "e2e.by_hand", scenario)


class Run:
    """A run in a process of its own, with its folders in `place`.

    The programs in `programs` win over the built ones. What it keeps goes to `cache`.
    """

    def __init__(self, place: Path, command: tuple[str, ...], programs: Path, cache: Path) -> None:
        self._temporary = place / "t"  # a longer name would leave too few bytes for sockets
        self._temporary.mkdir(exist_ok=True)
        variables = {
            **os.environ,
            VARIABLE: f"{programs}{os.pathsep}{BINARIES}",
            "MOCKDRIVER_CACHE": str(cache),
            "TMPDIR": str(self._temporary),
        }
        self._output = place / "output"
        with self._output.open("wb") as output:
            self.process = subprocess.Popen(  # noqa: S603  (it is ours)
                command, cwd=ROOT, env=variables, stdout=output, stderr=output
            )

    def printed(self) -> str:
        """Return what it has printed so far."""
        return self._output.read_text(encoding="utf-8")

    def wait_for(self, program: str) -> None:
        """Return when a program of this run is there; fails if the run ends before."""
        self._wait(lambda: program in self.programs(), f"{program} runs")

    def wait_for_words(self, words: str) -> None:
        """Return when it has printed these words; fails if it ends before."""
        self._wait(lambda: words in self.printed(), f"{words!r} is printed")

    def programs(self) -> list[str]:
        """Return the names of the programs of this run that are there, its own process excepted."""
        found = []
        for line in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                words = line.read_bytes().decode("utf-8", "replace").split("\0")
            except OSError:
                continue  # it has ended since
            if any(str(self._temporary) in word for word in words[1:]):
                found.append(Path(words[0]).name)
        return found

    def end(self, number: signal.Signals) -> int:
        """Send a signal, and return the exit code."""
        self.process.send_signal(number)
        return self.process.wait(60)

    def left(self) -> list[Path]:
        """Return the folders of runs that are there."""
        return list(self._temporary.glob("mock-e2e-*"))

    def _wait(self, look: Callable[[], bool], what: str) -> None:
        def look_while_running() -> bool:
            assert self.process.poll() is None, self.printed()
            return look()

        wait_until(look_while_running, what)


class Starter(Protocol):
    """Starts a run; the programs in a folder win over the built ones."""

    def __call__(
        self, command: tuple[str, ...], *, programs: Path = ..., cache: Path = ...
    ) -> Run: ...


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder for everything that a run makes; its path is short."""
    with tempfile.TemporaryDirectory(prefix="e2e-") as name:
        yield Path(name)


@pytest.fixture
def start(place: Path) -> Iterator[Starter]:
    """Runs that are killed with the test, if they have not ended."""
    runs: list[Run] = []

    def begin(command: tuple[str, ...], *, programs: Path = BINARIES, cache: Path = CACHE) -> Run:
        runs.append(Run(place, command, programs, cache))
        return runs[-1]

    yield begin
    for run in runs:
        run.process.kill()
        run.process.wait()
