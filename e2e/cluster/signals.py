"""Signals that end a run: in a session of pytest they unwind it, and never half of the clean-up."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""Ctrl-C, `kill`, and the end of a terminal."""


def interrupt_at_ending_signals() -> None:
    """Let the first of them do what Ctrl-C does: raise KeyboardInterrupt where we are.

    Those after it are ignored, or impatience would interrupt the clean-up, which takes seconds. An
    ignored SIGHUP stays so: `nohup` means it. An ignored SIGINT does not: a script that starts us
    in the background has us ignore it without meaning it.
    """
    for number in ENDING:
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _interrupt)


@contextmanager
def held_back() -> Iterator[None]:
    """Hold them back while the block runs; they come when it has ended."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _interrupt(number: int, frame: FrameType | None) -> None:
    for ending in ENDING:
        signal.signal(ending, signal.SIG_IGN)
    raise KeyboardInterrupt(signal.Signals(number).name)
