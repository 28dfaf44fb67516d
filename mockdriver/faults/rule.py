"""A fault in the list: what it is about, and how often it has matched and acted."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from typing import NamedTuple

from mockdriver.faults.compiling import CompiledFault, OnSubject
from mockdriver.faults.fault import Fault
from mockdriver.faults.pattern import Pattern
from mockdriver.faults.subjects import Call


class Fate(Enum):
    """What became of a fault: calls that it let wait have to know."""

    LISTED = "listed"
    REMOVED = "removed"
    SET_BACK = "set back"


class FaultState(NamedTuple):
    """A fault as it is in the list, with its counters.

    `matched` counts the calls that were as it says and that no fault before it acted on; `acted`
    those of them that it acted on.
    """

    fault: Fault
    matched: int = 0
    acted: int = 0


class Rule:
    """One fault of the list. Whoever has the lock of the list may change it."""

    __slots__ = ("_compiled", "acted", "expires_at", "fate", "matched")

    def __init__(
        self, compiled: CompiledFault, now_seconds: float, lifetime_seconds: float | None
    ) -> None:
        """Begin to count; `lifetime_seconds` is what is left of its lifetime."""
        self._compiled = compiled
        self.matched = 0
        self.acted = 0
        self.fate = Fate.LISTED
        self.expires_at = None if lifetime_seconds is None else now_seconds + lifetime_seconds

    @property
    def fault(self) -> Fault:
        """The fault as data."""
        return self._compiled.fault

    @property
    def compiled(self) -> CompiledFault:
        """The fault made ready."""
        return self._compiled

    def state(self) -> FaultState:
        """Return how it stands now."""
        return FaultState(self.fault, self.matched, self.acted)

    def seconds_left(self, now_seconds: float) -> float | None:
        """Return what is left of its lifetime, None if it has none."""
        return None if self.expires_at is None else self.expires_at - now_seconds

    def switch(self, enabled: bool) -> None:
        """Switch it on or off."""
        fault = replace(self.fault, enabled=enabled)
        self._compiled = self._compiled._replace(fault=fault)

    def fits(self, call: Call) -> OnSubject | None:
        """Return what it has to do with a call, None if the call is not as it says.

        It is asked only about calls that it is about.
        """
        subject = self._compiled.on[call.name]
        for condition in subject.conditions:
            if not condition.is_met(call):
                return None
        return subject

    def mismatch(self, call: Call) -> str | None:
        """Say why a call is not as the fault says, None if it is."""
        if not self.fault.enabled:
            return "it is switched off"
        subject = self._compiled.on.get(call.name)
        if subject is None:
            return self._other_subject(call.name)
        for condition in subject.conditions:
            if not condition.is_met(call):
                return condition.mismatch(call)
        return None

    def _other_subject(self, name: str) -> str:
        wanted = self.fault.rpc or self.fault.cloud_api
        if Pattern(wanted).matches(name):  # one of several, whose fields are not those of the fault
            return f"a call of {name} has not all the fields that it is about"
        return f"it is about {wanted}"

    def passes_over(self, number: int) -> str | None:
        """Say why it does not act on the call that matches as the `number`-th, None if it does."""
        fault = self._compiled.fault
        if not self._compiled.numbers.have(number):
            return f"it is call {number} that matches, it acts on calls {fault.calls}"
        if fault.times is not None and self.acted >= fault.times:
            calls = "1 call" if self.acted == 1 else f"{self.acted} calls"
            return f"it has acted on {calls}, which is the most"
        if fault.probability is not None:
            drawn = draw(fault.seed, number)
            if drawn >= fault.probability:
                return f"chance: call {number} draws {drawn:.3f}, it acts below {fault.probability}"
        return None


def draw(seed: int, number: int) -> float:
    """Return the chance of the `number`-th call, from 0 to 1: the same for the same seed, always.

    It is made of the two numbers alone, so that no other call and no other fault can change it.
    """
    from hashlib import sha256  # noqa: PLC0415 - few servers have faults that leave it to chance

    digest = sha256(f"{seed}:{number}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64
