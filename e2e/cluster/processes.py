"""Programs that are started here, and that do not outlive us, whatever happens to us."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from e2e.cluster.signals import held_back
from e2e.cluster.waiting import wait_until

STOP_SECONDS = 10.0
"""How long a program may take to end after SIGTERM before it is killed."""

_ENDING_WITH_PARENT = Path(__file__).with_name("ending_with_parent.py")


class EndedEarly(AssertionError):
    """A program has ended that should be running."""


class Process:
    """One program that runs. It has a session of its own: Ctrl-C in a terminal passes it by."""

    def __init__(
        self, name: str, command: Sequence[str], log: Path, variables: Mapping[str, str] | None
    ) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as output:
            self._popen = subprocess.Popen(  # noqa: S603  (running programs is our purpose)
                [
                    *(sys.executable, "-I", "-S", str(_ENDING_WITH_PARENT), str(os.getpid())),
                    *command,
                ],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
                env=None if variables is None else dict(variables),
            )
        self._told_to_end = False

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._popen.pid

    @property
    def ended_by_itself(self) -> bool:
        """Whether it is gone although nobody here stopped it."""
        return not self._told_to_end and self._popen.poll() is not None

    def require_running(self) -> None:
        """Raise EndedEarly, with its last words, if it ended by itself."""
        if self.ended_by_itself:
            raise EndedEarly(
                f"{self.name} ended with {self._popen.returncode}; "
                f"the end of {self.log}:\n{self.last_words()}"
            )

    def wait_for_words(self, words: str) -> None:
        """Return when it has logged these words."""
        wait_until(lambda: words in self.last_words(1_000_000), f"{self.name} says {words!r}")

    def wait_for_its_end(self) -> None:
        """Return when it has ended by itself, as it is expected to."""
        wait_until(lambda: self._popen.poll() is not None, f"{self.name} ends")
        self._told_to_end = True

    def last_words(self, characters: int = 3000) -> str:
        """Return the end of its log."""
        text = self.log.read_text(encoding="utf-8", errors="replace")
        return text[-characters:]

    def stop(self, patience_seconds: float = STOP_SECONDS) -> int:
        """Stop it by SIGTERM, or SIGKILL where that does not help; return its exit code."""
        self._told_to_end = True
        if self._popen.poll() is None:
            self._popen.send_signal(signal.SIGTERM)
            try:
                self._popen.wait(patience_seconds)
            except subprocess.TimeoutExpired:
                self._popen.kill()
        return self._popen.wait()

    def kill(self) -> None:
        """End it by SIGKILL: it cannot clean up."""
        self._told_to_end = True
        self._popen.kill()
        self._popen.wait()


class Processes:
    """The programs of one owner, with their logs in one folder."""

    def __init__(self, logs: Path) -> None:
        self.logs = logs
        self._all: list[Process] = []

    def start(
        self, name: str, command: Sequence[str], variables: Mapping[str, str] | None = None
    ) -> Process:
        """Start `command`; its output is appended to `name`.log.

        Call it from the main thread: the kernel ends a program with the thread that started it.
        """
        self.logs.mkdir(parents=True, exist_ok=True)
        process = Process(name, command, self.logs / f"{name}.log", variables)
        self._all.append(process)
        return process

    def require_running(self) -> None:
        """Raise EndedEarly if one of them ended by itself."""
        for process in self._all:
            process.require_running()

    def ended_by_themselves(self) -> list[Process]:
        """Return those that are gone although nobody here stopped them."""
        return [process for process in self._all if process.ended_by_itself]

    def stop(self) -> None:
        """Stop all, newest first: each loses only programs that need it."""
        with held_back():
            while self._all:
                self._all.pop().stop()
