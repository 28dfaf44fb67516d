"""Calls that wait because of faults: delayed, held at a barrier, or left without an answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from mockdriver.cloud import Caller
from mockdriver.faults.errors import StateReplaced, TooManyWaiting
from mockdriver.faults.rule import Fate, Rule
from mockdriver.runtime import Lock, Runtime

MAX_WAITING = 800
"""Each call that waits keeps a thread, of 1,000: the rest are for calls that are to be answered."""


class Barrier(NamedTuple):
    """Where calls are held.

    `calls` are their numbers in the record of calls, longest held first; 0 for one that is not
    recorded.
    """

    name: str
    calls: tuple[int, ...] = ()

    @property
    def held(self) -> int:
        """How many calls are held there."""
        return len(self.calls)


class _Wait:
    """One call's wait. `barrier` is None unless it is held at one."""

    __slots__ = ("barrier", "call_number", "caller", "is_over", "rule")

    def __init__(self, caller: Caller, rule: Rule, call_number: int, barrier: str | None) -> None:
        self.caller = caller
        self.rule = rule
        self.call_number = call_number
        self.barrier = barrier
        self.is_over = False


class Waiting:
    """Who waits now, in the order in which they began. `lock` is that of the list of faults."""

    def __init__(self, runtime: Runtime, lock: Lock) -> None:
        self._runtime = runtime
        self._lock = lock
        self._waits: dict[_Wait, None] = {}
        self._watchers: dict[Caller, None] = {}

    # ------------------------------------------------------------------------- those who wait

    def delay(self, rule: Rule, seconds: float, caller: Caller) -> None:
        """Let a call wait for so long; raises CallerGone, TooManyWaiting, StateReplaced."""
        self._stay(_Wait(caller, rule, 0, None), self._runtime.now() + seconds)

    def hold(self, rule: Rule, barrier: str, call_number: int, caller: Caller) -> None:
        """Let a call wait until it is released, or the fault is gone.

        Raises CallerGone, TooManyWaiting, StateReplaced.
        """
        self._stay(_Wait(caller, rule, call_number, barrier), rule.expires_at)

    def never_answer(self, rule: Rule, caller: Caller) -> None:
        """Let a call wait until its caller leaves; raises CallerGone, TooManyWaiting."""
        self._stay(_Wait(caller, rule, 0, None), None)

    def _stay(self, wait: _Wait, until_seconds: float | None) -> None:
        caller = wait.caller
        with caller.aside():
            caller.prepare()
            self._enter(wait)
            try:
                while not wait.is_over and not self._is_late(until_seconds):
                    caller.wait(until_seconds)
                    caller.prepare()
            finally:
                with self._lock:
                    self._waits.pop(wait, None)
        if wait.rule.fate is Fate.SET_BACK:
            raise StateReplaced(wait.rule.fault.name)

    def _is_late(self, until_seconds: float | None) -> bool:
        return until_seconds is not None and self._runtime.now() >= until_seconds

    def _enter(self, wait: _Wait) -> None:
        with self._lock:
            # Whoever removed the fault has released those who waited then, and not this call.
            gone = wait.barrier is not None and wait.rule.fate is Fate.REMOVED
            if gone or wait.rule.fate is Fate.SET_BACK:
                wait.is_over = True
                return
            if len(self._waits) >= MAX_WAITING:
                raise TooManyWaiting(MAX_WAITING)
            self._waits[wait] = None
            watchers = tuple(self._watchers) if wait.barrier is not None else ()
        wake(watchers)

    # ------------------------------------------------------- those who have the list's lock

    def end_holds(self, rule: Rule) -> list[Caller]:
        """Release the calls that a fault holds; return who has to be woken without the lock."""
        return self._end([wait for wait in self._waits if wait.rule is rule and wait.barrier])

    def end_all(self) -> list[Caller]:
        """End every wait; return who has to be woken without the lock."""
        return self._end(list(self._waits))

    def release(self, barrier: str, calls: int) -> list[Caller]:
        """Release the longest held `calls` at a barrier, 0 for all; "" is every barrier."""
        held = [wait for wait in self._waits if wait.barrier and barrier in ("", wait.barrier)]
        return self._end(held[:calls] if calls else held)

    def barriers(self, named: tuple[str, ...]) -> tuple[Barrier, ...]:
        """Return the barriers that have a name in `named`, and those at which calls are held."""
        held: dict[str, list[int]] = {name: [] for name in named}
        for wait in self._waits:
            if wait.barrier:
                held.setdefault(wait.barrier, []).append(wait.call_number)
        return tuple([Barrier(name, tuple(numbers)) for name, numbers in held.items()])

    def watchers(self) -> list[Caller]:
        """Return who waits for calls to be held."""
        return list(self._watchers)

    def count(self) -> int:
        """Return how many calls wait."""
        return len(self._waits)

    def _end(self, waits: list[_Wait]) -> list[Caller]:
        for wait in waits:
            wait.is_over = True
            del self._waits[wait]
        return [wait.caller for wait in waits]

    # ------------------------------------------------------------------ those who wait for them

    def watch(self, caller: Caller) -> None:
        """Wake `caller` whenever a call comes to a barrier, or a fault is gone."""
        with self._lock:
            self._watchers[caller] = None

    def unwatch(self, caller: Caller) -> None:
        """End that."""
        with self._lock:
            del self._watchers[caller]


def wake(callers: Iterable[Caller]) -> None:
    """Wake callers; whoever does so has no lock."""
    # Without the lock: whoever wakes up takes it first of all.
    for caller in callers:
        caller.wake()
