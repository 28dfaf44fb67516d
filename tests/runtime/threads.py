"""Threads in tests: a wake-up that was lost fails a test and does not hang it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from mockdriver.runtime import Thread

GUARD_SECONDS = 20.0
"""Far more than any of these threads needs; only a broken runtime reaches it."""

GUARD_SPINS = 5_000_000


def finish(*threads: Thread) -> None:
    """Wait until the threads have ended; fail for one that does not."""
    for thread in threads:
        assert isinstance(thread, threading.Thread)
        thread.join(GUARD_SECONDS)
        assert not thread.is_alive(), f"thread {thread.name} waits for ever"


def spin_until(condition: Callable[[], bool]) -> None:
    """Keep this thread busy, so that it never waits, until others have brought something about."""
    for _ in range(GUARD_SPINS):
        if condition():
            return
        os.sched_yield()
    raise AssertionError("it does not come about")
