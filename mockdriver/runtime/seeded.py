"""The runtime of race tests: one thread at a time, in an order that a seed chooses."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from random import Random
from types import TracebackType

from mockdriver.runtime.contract import Event, Lock, Thread
from mockdriver.runtime.virtual import EPOCH_SECONDS


class Deadlock(Exception):
    """Every thread waits, and neither an event nor the clock can wake one."""


class _Task:
    """A thread that runs only while it holds the baton."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.baton = threading.Semaphore(0)
        self.finished = False
        self.blocked_on: object | None = None
        self.until: float | None = None


class _SeededThread:
    def __init__(self, runtime: SeededRuntime, task: _Task) -> None:
        self._runtime = runtime
        self._task = task

    def join(self) -> None:
        self._runtime._block_while(lambda: not self._task.finished, self._task)


class _SeededEvent:
    def __init__(self, runtime: SeededRuntime) -> None:
        self._runtime = runtime
        self.flag = False

    def set(self) -> None:
        self.flag = True
        self._runtime._unblock(self)
        self._runtime._switch()

    def clear(self) -> None:
        self.flag = False

    def is_set(self) -> bool:
        return self.flag


class _SeededLock:
    def __init__(self, runtime: SeededRuntime) -> None:
        self._runtime = runtime
        self._held = False

    def __enter__(self) -> object:
        self._runtime._switch()
        self._runtime._block_while(lambda: self._held, self)
        self._held = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._held = False
        self._runtime._unblock(self)
        self._runtime._switch()


class SeededRuntime:
    """Threads take turns; every lock, event, wait and start is a place where the turn may change.

    The same seed and the same program give the same order, so a race that was found once is found
    again. The clock is virtual and jumps when every thread waits.
    """

    def __init__(self, seed: int) -> None:
        self.epoch_seconds = EPOCH_SECONDS
        self._seed = seed
        self._order = Random(f"{seed}:order")
        self._now = 0.0
        self._stopped = False
        self._tasks: list[_Task] = []
        self._current: _Task | None = None
        self._idle = threading.Semaphore(0)
        self._error: BaseException | None = None

    def run(self, *targets: Callable[[], None]) -> None:
        """Run `targets` as threads until all of them, and all that they started, have ended.

        Raises what a thread raised first, and `Deadlock` when no thread can go on.
        """
        for number, target in enumerate(targets):
            self.start(target, f"task-{number}")
        self._hand_on()
        self._idle.acquire()
        self._current = None
        if self._error is not None:
            error, self._error = self._error, None
            raise error

    def now(self) -> float:
        """Return the virtual seconds since the start."""
        return self._now

    def advance(self, seconds: float) -> None:
        """Move the clock and wake the waits that this ends."""
        self._now += max(0.0, seconds)
        self._switch()

    def stop_clock(self) -> None:
        """Let the clock stand still: it jumps no more, and who waits for it alone is stuck."""
        self._stopped = True
        self._switch()

    def start_clock(self) -> None:
        """Let the clock jump again."""
        self._stopped = False
        self._switch()

    def clock_is_stopped(self) -> bool:
        """Tell whether the clock stands still."""
        return self._stopped

    def lock(self) -> Lock:
        """Make a lock whose taking and giving back are turning points."""
        return _SeededLock(self)

    def event(self) -> Event:
        """Make an event whose setting is a turning point."""
        return _SeededEvent(self)

    def wait(self, event: Event, until: float | None = None) -> bool:
        """Give the turn away until the event's flag is up or the clock reads `until`."""
        assert isinstance(event, _SeededEvent)
        self._switch()
        self._block_while(
            lambda: not event.flag and (until is None or self._now < until), event, until
        )
        return event.flag

    def start(self, target: Callable[[], None], name: str) -> Thread:
        """Add a thread that gets its first turn when the seed says so."""
        task = _Task(name)
        self._tasks.append(task)

        def body() -> None:
            task.baton.acquire()
            try:
                target()
            except BaseException as error:  # run() raises it again
                self._error = self._error or error
            task.finished = True
            self._tasks.remove(task)
            self._unblock(task)
            self._hand_on()

        threading.Thread(target=body, name=name, daemon=True).start()
        self._switch()
        return _SeededThread(self, task)

    @contextmanager
    def working(self) -> Iterator[None]:
        """Count nothing: this runtime knows each thread."""
        yield

    def random(self, purpose: str) -> Random:
        """Return a seeded source for `purpose`."""
        return Random(f"{self._seed}:{purpose}")

    def _switch(self) -> None:
        """Let the seed choose who goes on."""
        task = self._current
        if task is not None:
            self._hand_on()
            task.baton.acquire()

    def _block_while(
        self, condition: Callable[[], bool], on: object, until: float | None = None
    ) -> None:
        while condition():
            task = self._current
            if task is None:
                raise Deadlock("a wait outside run() would never end")
            task.blocked_on, task.until = on, until
            self._hand_on()
            task.baton.acquire()

    def _unblock(self, on: object) -> None:
        for task in self._tasks:
            if task.blocked_on is on:
                task.blocked_on = task.until = None

    def _hand_on(self) -> None:
        """Give the baton to a thread that can run; move the clock if only time can help."""
        if not self._tasks:
            self._idle.release()
            return
        ready = [task for task in self._tasks if self._can_run(task)]
        if not ready:
            times = [task.until for task in self._tasks if task.until is not None]
            if not times or self._stopped:
                waiting = ", ".join(task.name for task in self._tasks)
                self._error = self._error or Deadlock(f"no thread can go on: {waiting}")
                self._idle.release()
                return
            self._now = max(self._now, min(times))
            ready = [task for task in self._tasks if self._can_run(task)]
        task = self._order.choice(ready)
        task.blocked_on = task.until = None
        self._current = task
        task.baton.release()

    def _can_run(self, task: _Task) -> bool:
        due = task.until is not None and task.until <= self._now
        return task.blocked_on is None or due
