"""mockdriver as a process of its own, with its socket, its output and its log."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from mockdriver.co.csi_client import CsiClient
from mockdriver.testing.process import environment_without_settings
from tests.waiting import PATIENCE_SECONDS, wait_until

TELLS_WHERE = ("--endpoint", "MOCKDRIVER_ENDPOINT", "CSI_ENDPOINT")
"""The options and variables that say where to listen."""

RUNNING: list[Serving] = []
"""The servers of the tests that run now; the log of each is shown when a test fails."""


@dataclass(frozen=True)
class Serving:
    """One process. `path` is where it was told to listen, `folder` is for the test's own files."""

    path: Path
    folder: Path
    process: subprocess.Popen[bytes]

    def printed(self) -> str:
        """Return what is on its standard output so far."""
        return (self.folder / "stdout").read_text(encoding="utf-8", errors="surrogateescape")

    def log(self) -> str:
        """Return what is on its standard error so far."""
        return (self.folder / "stderr").read_text(encoding="utf-8", errors="surrogateescape")

    def connect(self) -> CsiClient:
        """Return a new connection to its socket, for a `with` block."""
        return CsiClient(self.path)

    def send(self, number: signal.Signals) -> None:
        """Send it a signal."""
        self.process.send_signal(number)

    def exit_code(self) -> int:
        """Wait for its end and return its exit code."""
        return self.process.wait(PATIENCE_SECONDS)

    def stop(self) -> int:
        """Stop it by SIGTERM and return its exit code; then its log is complete."""
        self.send(signal.SIGTERM)
        return self.exit_code()

    def wait_until_ready(self) -> None:
        """Return once it has printed that it is ready; fails if it ends before."""
        ready = wait_until(
            lambda: "\n" in self.printed() or self.process.poll() is not None, "the ready line"
        )
        assert ready
        assert self.process.poll() is None, f"ended with {self.process.returncode}: {self.log()}"


@contextmanager
def serving(
    *flags: str | Path,
    scenario: str | None = None,
    variables: Mapping[str, str] | None = None,
    endpoint: str | Path | None = None,
    printing_to: IO[bytes] | None = None,
    ready: bool = True,
    told_where: bool = True,
) -> Iterator[Serving]:
    """Run `mockdriver serve` while the block runs, in a folder of its own.

    `scenario` is the text of a scenario file. `endpoint` is the path to listen on, in full or from
    the folder; `csi.sock` if nothing else is said, by a flag or by `variables` of the environment.
    `printing_to` gets what it prints, instead of a file in the folder. Without `ready` nothing is
    waited for. Without `told_where` it is not told to listen at a path.
    """
    # Not below pytest's folder, whose long names leave too few bytes for a socket's.
    with tempfile.TemporaryDirectory(prefix="mockdriver-test-") as name:
        folder = Path(name)
        arguments = [str(flag) for flag in flags]
        if scenario is not None:
            (folder / "scenario.yaml").write_text(scenario, encoding="utf-8")
            arguments += ["--scenario", str(folder / "scenario.yaml")]
        path = folder / "csi.sock" if endpoint is None else folder / endpoint
        told = [*arguments, *(variables or {})]
        told_already = any(word in TELLS_WHERE for word in told)
        if endpoint is not None or (told_where and not told_already):
            arguments += ["--endpoint", str(path)]
        with (
            (folder / "stdout").open("wb") as out,
            (folder / "stderr").open("wb") as log,
            _process(arguments, folder, variables or {}, printing_to or out, log) as process,
        ):
            server = Serving(path, folder, process)
            RUNNING.append(server)
            try:
                if ready:
                    server.wait_until_ready()
                yield server
            finally:
                RUNNING.remove(server)


@contextmanager
def _process(
    arguments: list[str],
    folder: Path,
    variables: Mapping[str, str],
    out: IO[bytes],
    log: IO[bytes],
) -> Iterator[subprocess.Popen[bytes]]:
    """Run `mockdriver serve`; kill it when the block ends, if it has not ended by itself."""
    process = subprocess.Popen(
        [sys.executable, "-m", "mockdriver", "serve", *arguments],
        cwd=folder,
        env=environment(variables),
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=log,
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def environment(variables: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return this process's environment without what steers mockdriver, and with `variables`."""
    return {**environment_without_settings(), **(variables or {})}
