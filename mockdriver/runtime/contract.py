"""What a runtime offers to the code that it is injected into."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from random import Random
from typing import Protocol

Lock = AbstractContextManager[object]
"""A lock that is held for the length of a ``with`` block and is not reentrant."""


class Event(Protocol):
    """A flag that one thread waits for and others raise."""

    def set(self) -> None:
        """Raise the flag and wake whoever waits for it."""

    def clear(self) -> None:
        """Lower the flag, so that the next wait really waits."""

    def is_set(self) -> bool:
        """Tell whether the flag is up."""


class Thread(Protocol):
    """A started thread."""

    def join(self) -> None:
        """Wait until the thread has ended."""


class Runtime(Protocol):
    """Clock, waiting, locks, threads and randomness for all code below the composition root."""

    epoch_seconds: float
    """UTC seconds since 1970 at the moment that `now` calls 0."""

    def now(self) -> float:
        """Return the seconds since this runtime began; never goes backwards."""

    def advance(self, seconds: float) -> None:
        """Move the clock forward by `seconds` and wake the waits that this ends."""

    def stop_clock(self) -> None:
        """Let the clock stand still, but for `advance`: waits for a later time go on waiting."""

    def start_clock(self) -> None:
        """Let the clock go on from where it stands."""

    def clock_is_stopped(self) -> bool:
        """Tell whether the clock stands still."""

    def lock(self) -> Lock:
        """Make a lock."""

    def event(self) -> Event:
        """Make an event, with its flag down."""

    def wait(self, event: Event, until: float | None = None) -> bool:
        """Wait until the event's flag is up or the clock reads `until` (seconds, as `now`).

        Without `until` only the event ends the wait. Returns whether the flag is up.
        """

    def start(self, target: Callable[[], None], name: str) -> Thread:
        """Start a thread that runs `target` and does not keep the process alive."""

    def working(self) -> AbstractContextManager[None]:
        """Count a piece of work as under way for the length of the block.

        A virtual clock stands still while work is under way that does not wait.
        """

    def random(self, purpose: str) -> Random:
        """Return a source of randomness of its own for `purpose`, fixed by the runtime's seed."""
