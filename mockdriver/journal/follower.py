"""Somebody who is told of each call as it arrives and as it ends, at his own pace."""

from __future__ import annotations

from mockdriver.cloud import Caller
from mockdriver.journal.entry import Moment
from mockdriver.runtime import Lock

MAX_BEHIND = 10_000
"""How many moments wait for a follower; one that is further behind misses some."""


class Follower:
    """A queue between the calls, which never wait for it, and one reader.

    It holds at most `MAX_BEHIND` moments. What comes on top is dropped and counted.
    """

    __slots__ = ("_caller", "_lock", "_missed", "_queue")

    def __init__(self, lock: Lock, caller: Caller) -> None:
        self._lock = lock
        self._caller = caller
        self._queue: list[Moment] = []
        self._missed = 0

    def put(self, moment: Moment) -> bool:
        """Add a moment, under the journal's lock; return whether the reader may be asleep."""
        if len(self._queue) >= MAX_BEHIND:
            self._missed += 1
            return False
        self._queue.append(moment)
        return len(self._queue) == 1

    def wake(self) -> None:
        """Wake the reader."""
        self._caller.wake()

    def take(self) -> tuple[list[Moment], int]:
        """Return what came since the last time, in order, and how many were missed after it."""
        with self._lock:
            moments, self._queue = self._queue, []
            missed, self._missed = self._missed, 0
        return moments, missed
