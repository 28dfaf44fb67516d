"""A list of faults as naive as can be, to compare the real one with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import Any

from mockdriver.faults import Fault


@dataclass
class NaiveFault:
    """A fault with its counters. `ends_at` is when its lifetime is over."""

    fault: Fault
    ends_at: float | None
    matched: int = 0
    acted: int = 0


@dataclass
class NaiveFaults:
    """What the list must do, written down as it is described, without any haste."""

    now: float = 0.0
    names_made: int = 0
    items: list[NaiveFault] = field(default_factory=list)

    def expire(self) -> None:
        self.items = [
            item for item in self.items if item.ends_at is None or self.now < item.ends_at
        ]

    def made(self, fault: Fault) -> NaiveFault:
        names = [item.fault.name for item in self.items]
        if not fault.name:
            while True:
                self.names_made += 1
                if f"fault-{self.names_made}" not in names:
                    break
            fault = replace(fault, name=f"fault-{self.names_made}")
        lifetime = fault.lifetime_seconds
        return NaiveFault(fault, None if lifetime is None else self.now + lifetime)

    def place(self, name: str) -> int | None:
        return next((i for i, item in enumerate(self.items) if item.fault.name == name), None)

    def acting(self, rpc: str, fields: dict[str, str]) -> str | None:
        """Make a call; return who acts on it."""
        for item in self.items:
            if not item.fault.enabled or not matches(item.fault, rpc, fields):
                continue
            item.matched += 1
            if acts(item):
                item.acted += 1
                return item.fault.name
        return None

    def states(self) -> list[tuple[str, bool, int, int]]:
        return [
            (item.fault.name, item.fault.enabled, item.matched, item.acted) for item in self.items
        ]

    def copy(self) -> Any:
        left = [None if item.ends_at is None else item.ends_at - self.now for item in self.items]
        return [replace(item) for item in self.items], left, self.names_made

    def restore(self, copied: Any) -> None:
        items, left, self.names_made = copied
        self.items = [
            replace(item, ends_at=None if seconds is None else self.now + seconds)
            for item, seconds in zip(items, left, strict=True)
        ]


def matches(fault: Fault, rpc: str, fields: dict[str, str]) -> bool:
    if fault.rpc not in ("*", rpc):
        return False
    wanted = {**fault.request, **({"node_id": fault.node_id} if fault.node_id else {})}
    return all(fields.get(name) == value for name, value in wanted.items())


def acts(item: NaiveFault) -> bool:
    fault = item.fault
    if fault.calls and item.matched not in numbers(fault.calls):
        return False
    if fault.times is not None and item.acted >= fault.times:
        return False
    if fault.probability is None:
        return True
    digest = sha256(f"{fault.seed}:{item.matched}".encode()).hexdigest()
    return int(digest[:16], 16) < fault.probability * 2**64


def numbers(calls: str) -> set[int]:
    """Return the first thousand numbers that a selector means."""
    word, _, number = calls.rpartition(" ")
    if word == "first":
        return set(range(1, int(number) + 1))
    if word == "every":
        return set(range(int(number), 1_000, int(number)))
    if word == "from":
        return set(range(int(number), 1_000))
    first, _, last = calls.partition("-")
    return set(range(int(first), int(last or first) + 1))
