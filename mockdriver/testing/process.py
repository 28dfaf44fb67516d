"""The process: started, ready, stopped, killed, started again; and its log."""

from __future__ import annotations

import os
import select
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from mockdriver.client.endpoint import temporary_place

STOP_SECONDS = 5.0
"""How long it may take to end, beyond the grace that calls in flight have."""

_LONGEST_FOLDER = 60
"""A folder of more bytes leaves too few of the 107 that a Unix socket's path has."""

_SHOWN_CHARACTERS = 4_000
_READ_BYTES = 65536


class StartFailed(RuntimeError):
    """The server ended before it was ready, or was not ready in time; the message has its log."""


class ServerProcess:
    """`mockdriver serve` in a private folder, from `start` to `close`.

    Nothing here polls: what the process prints tells when it is ready, and the end of its output
    when it has ended.
    """

    def __init__(self) -> None:
        place = temporary_place(_LONGEST_FOLDER)
        self.folder = Path(tempfile.mkdtemp(prefix="mockdriver-", dir=place))
        self.socket = self.folder / "csi.sock"
        self._owner = os.getpid()
        self._process: subprocess.Popen[bytes] | None = None
        self._log = self.folder / "log"
        self._log.touch()

    def start(self, arguments: Sequence[str], timeout_seconds: float) -> None:
        """Start it, and return once it is ready; raises StartFailed."""
        assert not self.is_running, "it runs already"
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                [
                    *(sys.executable, "-m", "mockdriver", "serve"),
                    *("--endpoint", str(self.socket)),
                    "--until-stdin-closes",
                    *arguments,
                ],
                # A folder of the user's may hold a module with the name of one that we import.
                cwd=self.folder,
                env=environment_without_settings(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,  # poll() knows nothing of what Python has read already
                # Ctrl-C at the terminal is for the tests; what they do then may need the server.
                process_group=0,
            )
        printed = b""
        while b"\n" not in printed:
            piece = self._read(timeout_seconds)
            if not piece:
                self.kill()
                problem = "ended before it was ready"
                if piece is None:
                    problem = f"was not ready within {timeout_seconds:g} s"
                log_text = self.log_text()[-_SHOWN_CHARACTERS:]
                raise StartFailed(f"mockdriver serve {problem}; its log:\n{log_text}")
            printed += piece

    @property
    def is_running(self) -> bool:
        """Whether there is a process that has not ended."""
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """The number of the process; None if there is none."""
        return None if self._process is None else self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How the process ended; None while it runs. A negative number is that of a signal."""
        return None if self._process is None else self._process.poll()

    def stop(self, grace_seconds: float) -> int | None:
        """Have it end as by SIGTERM, and return its exit code; kill it if it takes too long."""
        if self._process is not None:
            self._process.terminate()
            self._wait(grace_seconds + STOP_SECONDS)
        return self.kill()

    def kill(self) -> int | None:
        """End it at once, if it has not ended; return its exit code."""
        process = self._process
        if process is None:
            return None
        process.kill()
        process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
        return process.returncode

    def wait(self, timeout_seconds: float) -> int | None:
        """Return its exit code once it has ended; None if it has not in time."""
        self._wait(timeout_seconds)
        return self.exit_code

    def close(self) -> None:
        """Kill it and remove its folder. In a fork of the process that started it, do nothing."""
        if os.getpid() == self._owner:
            self.kill()
            shutil.rmtree(self.folder, ignore_errors=True)

    def log_text(self, start: int = 0) -> str:
        """Return what it has logged, from a place in bytes on; empty after `close`."""
        try:
            with self._log.open("rb") as log:
                log.seek(start)
                return log.read().decode("utf-8", "replace")
        except FileNotFoundError:
            return ""

    def log_size(self) -> int:
        """Return how many bytes it has logged."""
        return self._log.stat().st_size

    def _wait(self, timeout_seconds: float) -> None:
        """Return when it has ended or the time is over."""
        while piece := self._read(timeout_seconds):
            del piece  # what else it prints is for people at a terminal
        if piece is not None and self._process is not None:
            self._process.wait()

    def _read(self, timeout_seconds: float) -> bytes | None:
        """Return what it prints next; empty at the end, None if there is nothing in time."""
        assert self._process is not None
        out = self._process.stdout
        assert out is not None
        if out.closed:
            return b""
        poll = select.poll()
        poll.register(out, select.POLLIN)
        return os.read(out.fileno(), _READ_BYTES) if poll.poll(timeout_seconds * 1000) else None


def environment_without_settings() -> dict[str, str]:
    """Return our environment without what would steer a server behind the test's back."""
    return {
        name: value
        for name, value in os.environ.items()
        if not name.startswith("MOCKDRIVER_") and name != "CSI_ENDPOINT"
    }
