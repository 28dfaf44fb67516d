"""The ordered list of faults: which one acts on a call, and who waits because of one.

The list is short and calls are many: a call looks at the faults about its own RPC only, and a call
that no fault is about looks into one dictionary.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from mockdriver.cloud import Caller
from mockdriver.faults.compiling import CompiledFault, Override, compile_fault
from mockdriver.faults.errors import (
    BarrierNotFound,
    FaultExists,
    FaultNotFound,
    InjectedFailure,
    NotHeldInTime,
    TooManyFaults,
)
from mockdriver.faults.fault import MAX_FAULTS, Fault
from mockdriver.faults.rule import Fate, FaultState, Rule
from mockdriver.faults.subjects import Call
from mockdriver.faults.waiting import Barrier, Waiting, wake
from mockdriver.runtime import Runtime


class ActingFault:
    """The fault that acts on a call, and its way to let the call wait."""

    __slots__ = ("_rule", "_waiting", "overrides")

    def __init__(self, rule: Rule, overrides: tuple[Override, ...], waiting: Waiting) -> None:
        self._rule = rule
        self._waiting = waiting
        self.overrides = overrides

    @property
    def fault(self) -> Fault:
        """The fault as data."""
        return self._rule.fault

    def failure(self) -> InjectedFailure:
        """Return the error that the fault answers with, if it has a code."""
        return self._rule.compiled.failure()

    def wait(self, caller: Caller, call_number: int = 0) -> None:
        """Let the call wait as long as the fault says: its delay, and then at its barrier.

        `call_number` is its number in the record of calls. Raises CallerGone when the caller
        leaves, TooManyWaiting when so many wait already that this one cannot, and StateReplaced
        when the list is set back meanwhile.
        """
        fault = self._rule.fault
        if fault.delay_seconds > 0:
            self._waiting.delay(self._rule, fault.delay_seconds, caller)
        if fault.hold:
            self._waiting.hold(self._rule, fault.hold, call_number, caller)

    def never_answer(self, caller: Caller) -> None:
        """Let the call wait until its caller leaves; raises as `wait` does, and never returns."""
        while True:
            self._waiting.never_answer(self._rule, caller)


class Verdict(NamedTuple):
    """What one fault has to do with a call, and why."""

    fault: str
    acts: bool
    reason: str


class Snapshot(NamedTuple):
    """The list as it was at one moment: each fault with the seconds left of its lifetime.

    `compiled` are the same faults made ready, so that restoring takes no time.
    """

    faults: tuple[tuple[FaultState, float | None], ...]
    compiled: tuple[CompiledFault, ...]
    names_made: int


class FaultEngine:
    """The faults of one driver, in their order. All methods may be called from any thread.

    Counters: a call is looked at from the first fault to the last. Each fault that it is as says
    counts it as matched; if it is one of the fault's `calls`, the fault has acted fewer than
    `times`, and chance has it, the fault acts, counts that too, and no later one sees the call.
    Else the next fault gets its turn. A fault acts as soon as it is chosen, whatever becomes of the
    call later.
    """

    def __init__(self, runtime: Runtime, faults: Iterable[Fault] = ()) -> None:
        """Begin with some faults; raises FaultHasFlaws, FaultExists, TooManyFaults."""
        self._runtime = runtime
        self._lock = runtime.lock()
        self._waiting = Waiting(runtime, self._lock)
        self._rules: list[Rule] = []
        # Replaced, never changed: whoever asks needs no lock.
        self._about: Mapping[str, tuple[Rule, ...]] = {}
        self._next_expiry: float | None = None
        self._names_made = 0
        self.load(faults)

    # ------------------------------------------------------------------------- the list itself

    def create(self, fault: Fault, *, before: str = "") -> FaultState:
        """Add a fault at the end, or before the one with that name.

        An empty name is made up. Raises FaultHasFlaws, FaultExists, FaultNotFound (of `before`),
        TooManyFaults.
        """
        with self._lock:
            woken = self._expire()
            place = self._place(before) if before else len(self._rules)
            rule = self._new_rule(fault)
            self._rules.insert(place, rule)
            self._arrange()
            state = rule.state()
        wake(woken)
        return state

    def get(self, name: str) -> FaultState:
        """Return a fault with its counters; raises FaultNotFound."""
        with self._lock:
            woken = self._expire()
            state = self._rules[self._place(name)].state()
        wake(woken)
        return state

    def update(self, fault: Fault) -> FaultState:
        """Put a fault in the place of the one with its name; its counters begin at nothing.

        Calls that the old one holds are released. Raises FaultHasFlaws, FaultNotFound.
        """
        with self._lock:
            woken = self._expire()
            place = self._place(fault.name)
            rule = self._rule(fault)
            woken += self._remove(self._rules[place])
            self._rules[place] = rule
            self._arrange()
            state = rule.state()
        wake(woken)
        return state

    def enable(self, name: str, enabled: bool) -> FaultState:
        """Switch a fault on or off; counters stay, and so does who is held. Raises FaultNotFound.

        One that is off matches nothing.
        """
        with self._lock:
            woken = self._expire()
            rule = self._rules[self._place(name)]
            rule.switch(enabled)
            self._arrange()
            state = rule.state()
        wake(woken)
        return state

    def delete(self, name: str) -> None:
        """Remove a fault and release the calls that it holds; raises FaultNotFound."""
        with self._lock:
            woken = self._expire()
            rule = self._rules.pop(self._place(name))
            woken += self._remove(rule)
            self._arrange()
        wake(woken)

    def clear(self) -> int:
        """Remove all faults and release all calls that are held; return how many faults it were.

        Calls that are delayed or get no answer go on as they were.
        """
        with self._lock:
            woken = self._expire()
            removed = len(self._rules)
            for rule in self._rules:
                woken += self._remove(rule)
            woken += self._waiting.release("", 0)
            self._rules.clear()
            self._arrange()
        wake(woken)
        return removed

    def load(self, faults: Iterable[Fault]) -> None:
        """Begin anew with these faults; raises as `create` does, and then nothing has changed.

        Calls that wait because of a fault end with StateReplaced: what they would do belongs to a
        state that is gone.
        """
        wanted = tuple(faults)
        rules: list[Rule] = []
        with self._lock:
            old, names_made = self._rules, self._names_made
            self._rules, self._names_made = rules, 0
            # a name that is made up must not be one that a later fault has
            given = frozenset([fault.name for fault in wanted])
            try:
                for fault in wanted:
                    rules.append(self._new_rule(fault, given))  # noqa: PERF401 - one by one
            except BaseException:
                self._rules, self._names_made = old, names_made
                raise
            woken = self._set_back(old)
            self._arrange()
        wake(woken)

    def snapshot(self) -> Snapshot:
        """Return the list with its counters, for `restore`."""
        with self._lock:
            woken = self._expire()
            now_seconds = self._runtime.now()
            faults = [(rule.state(), rule.seconds_left(now_seconds)) for rule in self._rules]
            compiled = [rule.compiled for rule in self._rules]
            snapshot = Snapshot(tuple(faults), tuple(compiled), self._names_made)
        wake(woken)
        return snapshot

    def restore(self, snapshot: Snapshot) -> None:
        """Set the list back to what it was, counters too. Calls that wait end as in `load`."""
        with self._lock:
            old, now_seconds = self._rules, self._runtime.now()
            self._rules, self._names_made = [], snapshot.names_made
            kept = zip(snapshot.faults, snapshot.compiled, strict=True)
            for (state, lifetime_seconds), compiled in kept:
                rule = Rule(compiled, now_seconds, lifetime_seconds)
                rule.matched, rule.acted = state.matched, state.acted
                self._rules.append(rule)
            woken = self._set_back(old)
            self._arrange()
        wake(woken)

    # ---------------------------------------------------------------------------------- calls

    def concerns(self, name: str) -> bool:
        """Tell whether a fault may act on calls of an RPC or of a cloud API."""
        return name in self._about

    def choose(self, call: Call) -> ActingFault | None:
        """Return the fault that acts on a call, and count it; None if none does."""
        with self._lock:
            woken = self._expire()
            chosen = self._choose(call)
        wake(woken)
        return chosen

    def _choose(self, call: Call) -> ActingFault | None:
        for rule in self._about.get(call.name, ()):
            subject = rule.fits(call)
            if subject is None:
                continue
            rule.matched += 1
            if rule.passes_over(rule.matched) is None:
                rule.acted += 1
                return ActingFault(rule, subject.overrides, self._waiting)
        return None

    def explain(self, call: Call) -> tuple[Verdict, ...]:
        """Say of each fault what it would do to a call that came now. Counts nothing."""
        verdicts, first = list[Verdict](), ""
        with self._lock:
            woken = self._expire()
            for rule in self._rules:
                reason = rule.mismatch(call) or rule.passes_over(rule.matched + 1)
                acts = reason is None and not first
                if reason is None:
                    reason = f"fault {first} comes first" if first else "the call is as it says"
                if acts:
                    first = rule.fault.name
                verdicts.append(Verdict(rule.fault.name, acts, reason))
        wake(woken)
        return tuple(verdicts)

    # ------------------------------------------------------------------------------- barriers

    def barriers(self) -> tuple[Barrier, ...]:
        """Return all barriers: those that faults name, and those at which calls are held."""
        with self._lock:
            woken = self._expire()
            barriers = self._barriers()
        wake(woken)
        return barriers

    def wait_until_held(
        self, barrier: str, calls: int, timeout_seconds: float, caller: Caller
    ) -> Barrier:
        """Wait until so many calls are held at a barrier.

        Raises BarrierNotFound as soon as there is no such barrier, NotHeldInTime, CallerGone.
        """
        until_seconds = self._runtime.now() + timeout_seconds
        caller.prepare()
        self._waiting.watch(caller)
        try:
            while True:
                caller.prepare()
                found = self._barrier(barrier)
                if found.held >= calls:
                    return found
                if self._runtime.now() >= until_seconds:
                    raise NotHeldInTime(barrier, calls, found.held, timeout_seconds)
                caller.wait(until_seconds)
        finally:
            self._waiting.unwatch(caller)

    def release(self, barrier: str = "", calls: int = 0) -> int:
        """Let the longest held `calls` go on, all with 0; return how many there were.

        Without a barrier: of all barriers. What comes to the barrier later is held again. Raises
        BarrierNotFound.
        """
        if barrier:
            self._barrier(barrier)
        with self._lock:
            woken = self._waiting.release(barrier, calls)
        wake(woken)
        return len(woken)

    def waiting(self) -> int:
        """Return how many calls wait because of faults: delayed, held or without an answer."""
        return self._waiting.count()

    # -------------------------------------------------------------- with the lock of the list

    def _barrier(self, name: str) -> Barrier:
        barriers = self.barriers()
        for barrier in barriers:
            if barrier.name == name:
                return barrier
        raise BarrierNotFound(name, [barrier.name for barrier in barriers])

    def _barriers(self) -> tuple[Barrier, ...]:
        holds = (rule.fault.hold for rule in self._rules)
        return self._waiting.barriers(tuple(dict.fromkeys(name for name in holds if name)))

    def _place(self, name: str) -> int:
        for place, rule in enumerate(self._rules):
            if rule.fault.name == name:
                return place
        raise FaultNotFound(name, [rule.fault.name for rule in self._rules])

    def _new_rule(self, fault: Fault, taken: frozenset[str] = frozenset()) -> Rule:
        """Return a fault that can join the list; a made up name is none of those `taken`."""
        if len(self._rules) >= MAX_FAULTS:
            raise TooManyFaults(MAX_FAULTS)
        names = {rule.fault.name for rule in self._rules}
        if fault.name in names:
            raise FaultExists(fault.name)
        made = self._names_made
        while not fault.name:
            made += 1
            if f"fault-{made}" not in names | taken:
                fault = replace(fault, name=f"fault-{made}")
        rule = self._rule(fault)
        self._names_made = made
        return rule

    def _rule(self, fault: Fault) -> Rule:
        """Return a fault made ready, whose lifetime begins now; raises FaultHasFlaws."""
        return Rule(compile_fault(fault), self._runtime.now(), fault.lifetime_seconds)

    def _remove(self, rule: Rule) -> list[Caller]:
        """Give up a fault that leaves the list; return who has to be woken."""
        rule.fate = Fate.REMOVED
        return [*self._waiting.end_holds(rule), *self._waiting.watchers()]

    def _set_back(self, rules: Iterable[Rule]) -> list[Caller]:
        for rule in rules:
            rule.fate = Fate.SET_BACK
        return [*self._waiting.end_all(), *self._waiting.watchers()]

    def _expire(self) -> list[Caller]:
        """Remove the faults whose lifetime is over; return who has to be woken."""
        if self._next_expiry is None or self._runtime.now() < self._next_expiry:
            return []
        now_seconds, woken = self._runtime.now(), list[Caller]()
        for rule in tuple(self._rules):
            if rule.expires_at is not None and rule.expires_at <= now_seconds:
                self._rules.remove(rule)
                woken += self._remove(rule)
        self._arrange()
        return woken

    def _arrange(self) -> None:
        """Make what is looked up at each call anew, after a change of the list."""
        about: dict[str, list[Rule]] = {}
        for rule in self._rules:
            if rule.fault.enabled:
                for name in rule.compiled.on:
                    about.setdefault(name, []).append(rule)
        self._about = {name: tuple(rules) for name, rules in about.items()}
        ends = [rule.expires_at for rule in self._rules if rule.expires_at is not None]
        self._next_expiry = min(ends, default=None)

    # The last one, since its name hides the builtin type from the annotations after it.
    def list(self) -> tuple[FaultState, ...]:
        """Return all faults with their counters, in their order."""
        with self._lock:
            woken = self._expire()
            states = tuple([rule.state() for rule in self._rules])
        wake(woken)
        return states
