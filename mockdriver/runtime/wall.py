"""The runtime of a real server: the wall clock, free threads."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from random import Random

from mockdriver.runtime.contract import Event, Lock, Thread


class _WallEvent:
    """An event whose waiters are woken one by one, so that a thousand of them cost nothing."""

    __slots__ = ("flag", "waiters")

    def __init__(self) -> None:
        self.flag = False
        self.waiters: list[threading.Event] = []

    def set(self) -> None:
        self.flag = True
        for waiter in tuple(self.waiters):
            waiter.set()

    def clear(self) -> None:
        self.flag = False

    def is_set(self) -> bool:
        return self.flag


class WallRuntime:
    """Real time that `advance` can push forward and that can be stopped; threads run freely."""

    def __init__(self, seed: int = 0) -> None:
        self.epoch_seconds = time.time()
        self._start = time.monotonic()
        self._offset = 0.0
        self._stopped_at: float | None = None
        self._changes = 0  # of the two above; odd while one is under way
        self._seed = seed
        self._mutex = threading.Lock()
        self._timed: set[threading.Event] = set()
        self._nothing: AbstractContextManager[None] = nullcontext()

    def now(self) -> float:
        """Return the seconds since this runtime was made, plus what was advanced, less stops.

        Without the lock, since every call asks several times; with it only if the clock was changed
        meanwhile: a reading from before the change must not be seen after one from behind it.
        """
        changes = self._changes
        moment = self._read()
        if changes & 1 or changes != self._changes:
            with self._mutex:
                return self._read()
        return moment

    def advance(self, seconds: float) -> None:
        """Push the clock forward and let the timed waits look at it again."""
        with self._changing():
            if self._stopped_at is None:
                self._offset += max(0.0, seconds)
            else:
                self._stopped_at += max(0.0, seconds)

    def stop_clock(self) -> None:
        """Let the clock stand still."""
        with self._changing():
            self._stopped_at = self._read()

    def start_clock(self) -> None:
        """Let the clock go on from where it stands, and the timed waits look at it again."""
        with self._changing():
            if self._stopped_at is not None:
                self._offset = self._stopped_at - (time.monotonic() - self._start)
                self._stopped_at = None

    def clock_is_stopped(self) -> bool:
        """Tell whether the clock stands still."""
        return self._stopped_at is not None

    def _read(self) -> float:
        stopped_at = self._stopped_at
        return time.monotonic() - self._start + self._offset if stopped_at is None else stopped_at

    @contextmanager
    def _changing(self) -> Iterator[None]:
        """Change the clock, and wake the timed waits afterwards."""
        with self._mutex:
            self._changes += 1
            try:
                yield
            finally:
                self._changes += 1
            timed = tuple(self._timed)
        for waiter in timed:
            waiter.set()

    def lock(self) -> Lock:
        """Make a plain lock."""
        return threading.Lock()

    def event(self) -> Event:
        """Make an event."""
        return _WallEvent()

    def wait(self, event: Event, until: float | None = None) -> bool:
        """Wait for the event or the clock; the thread sleeps meanwhile."""
        assert isinstance(event, _WallEvent)
        waiter = threading.Event()
        event.waiters.append(waiter)
        if until is not None:
            with self._mutex:
                self._timed.add(waiter)
        try:
            # The flag is looked at after the waiter is listed: a set() in between wakes it.
            while not event.flag:
                remaining = None if until is None else until - self.now()
                if remaining is not None and remaining <= 0:
                    break
                if remaining is None or self._stopped_at is not None:
                    waiter.wait()
                else:
                    waiter.wait(min(remaining, threading.TIMEOUT_MAX))
                waiter.clear()
            return event.flag
        finally:
            event.waiters.remove(waiter)
            if until is not None:
                with self._mutex:
                    self._timed.discard(waiter)

    def start(self, target: Callable[[], None], name: str) -> Thread:
        """Start a daemon thread."""
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        return thread

    def working(self) -> AbstractContextManager[None]:
        """Count nothing: real time passes by itself."""
        return self._nothing

    def random(self, purpose: str) -> Random:
        """Return a seeded source for `purpose`."""
        return Random(f"{self._seed}:{purpose}")
