"""The runtime of stories: free threads, and a clock that jumps when all work waits for it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random

from mockdriver.runtime.contract import Event, Lock, Thread

EPOCH_SECONDS = 1_767_225_600.0
"""Virtual time begins at 2026-01-01T00:00:00Z, so that two runs print the same times."""


class _Waiter:
    __slots__ = ("event", "until", "woken")

    def __init__(self, event: _VirtualEvent, until: float | None) -> None:
        self.event = event
        self.until = until
        self.woken = threading.Event()


class _VirtualEvent:
    __slots__ = ("flag", "runtime", "waiters")

    def __init__(self, runtime: VirtualRuntime) -> None:
        self.flag = False
        self.runtime = runtime
        self.waiters: list[_Waiter] = []

    def set(self) -> None:
        self.runtime._raise(self)

    def clear(self) -> None:
        self.flag = False

    def is_set(self) -> bool:
        return self.flag


class VirtualRuntime:
    """A clock that stands still while any work runs, and jumps to the next time waited for.

    Work is what is inside a `working` block. Each wait hands one piece of work back for as long as
    it lasts, so the clock moves exactly when nothing else can happen. The piece may have been
    counted by another thread, such as the client of a call whose handler waits; a thread that waits
    for nobody's work would take the piece of somebody else. The jump and the waking are one step:
    two waits that end at the same moment are both awake before either runs.
    """

    def __init__(self, seed: int = 0) -> None:
        self.epoch_seconds = EPOCH_SECONDS
        self._seed = seed
        self._mutex = threading.Lock()
        self._now = 0.0
        self._work = 0
        self._stopped = False
        self._waiters: dict[_Waiter, None] = {}
        self._settling: list[threading.Event] = []

    def now(self) -> float:
        """Return the virtual seconds since the start."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock and wake the waits that this ends."""
        with self._mutex:
            self._move_to(self._now + max(0.0, seconds))

    def stop_clock(self) -> None:
        """Let the clock stand still: it jumps no more."""
        with self._mutex:
            self._stopped = True

    def start_clock(self) -> None:
        """Let the clock jump again."""
        with self._mutex:
            self._stopped = False
            self._jump_if_idle()

    def clock_is_stopped(self) -> bool:
        """Tell whether the clock stands still."""
        return self._stopped

    def lock(self) -> Lock:
        """Make a plain lock."""
        return threading.Lock()

    def event(self) -> Event:
        """Make an event."""
        return _VirtualEvent(self)

    def wait(self, event: Event, until: float | None = None) -> bool:
        """Wait for the event or the virtual clock; no real time passes for the latter."""
        assert isinstance(event, _VirtualEvent)
        with self._mutex:
            if event.flag or (until is not None and until <= self._now):
                return event.flag
            waiter = _Waiter(event, until)
            event.waiters.append(waiter)
            self._waiters[waiter] = None
            self._work -= 1
            self._jump_if_idle()
        waiter.woken.wait()
        return event.flag

    def settle(self) -> None:
        """Wait until no other work goes on: all of it waits, or has ended.

        The caller is itself a piece of work, so the clock does not jump before it waits or ends.
        """
        with self._mutex:
            if self._work <= 1:
                return
            settled = threading.Event()
            self._settling.append(settled)
            self._work -= 1
        settled.wait()

    def start(self, target: Callable[[], None], name: str) -> Thread:
        """Start a daemon thread; it is not work until it enters `working`."""
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        return thread

    @contextmanager
    def working(self) -> Iterator[None]:
        """Keep the clock from moving while the block runs and does not wait."""
        with self._mutex:
            self._work += 1
        try:
            yield
        finally:
            with self._mutex:
                self._work -= 1
                self._jump_if_idle()

    def random(self, purpose: str) -> Random:
        """Return a seeded source for `purpose`."""
        return Random(f"{self._seed}:{purpose}")

    def _raise(self, event: _VirtualEvent) -> None:
        with self._mutex:
            event.flag = True
            for waiter in tuple(event.waiters):
                self._wake(waiter)

    def _wake(self, waiter: _Waiter) -> None:
        del self._waiters[waiter]
        waiter.event.waiters.remove(waiter)
        # The work is counted before the thread runs: else the clock could jump past it.
        self._work += 1
        waiter.woken.set()

    def _jump_if_idle(self) -> None:
        if self._work > 0 or self._stopped:
            return
        if self._settling:
            self._work += len(self._settling)
            for settled in self._settling:
                settled.set()
            self._settling.clear()
            return
        times = [waiter.until for waiter in self._waiters if waiter.until is not None]
        if times:
            self._move_to(min(times))

    def _move_to(self, moment: float) -> None:
        self._now = max(self._now, moment)
        for waiter in tuple(self._waiters):
            if waiter.until is not None and waiter.until <= self._now:
                self._wake(waiter)
