"""How long attaching and detaching take: at once, a time, a number of reads, or until released.

Nothing runs in the background. A transition is a fact on the attachment (`Pending`), and whoever
looks at the attachment next finds out whether it is over.
"""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Transition:
    """What a transition waits for; with no field set it is over at once."""

    after_seconds: float | None = None
    after_reads: int | None = None
    held: bool = False

    def begin(self, now_seconds: float) -> Pending | None:
        """Return what a transition that begins now waits for, or None if it is over at once."""
        if self.held:
            return Pending(held=True)
        if self.after_reads:
            return Pending(reads_left=self.after_reads)
        if self.after_seconds:
            return Pending(due_seconds=now_seconds + self.after_seconds)
        return None


IMMEDIATELY = Transition()


@dataclass(frozen=True, slots=True)
class Transitions:
    """The cloud's two transitions."""

    attach: Transition = IMMEDIATELY
    detach: Transition = IMMEDIATELY


NO_WAITING = Transitions()


@dataclass(frozen=True, slots=True)
class Pending:
    """What one running transition still waits for.

    `due_seconds` is on the runtime's clock. `reads_left` counts describe calls whose answer
    contains the attachment: each of those still shows the old state.
    """

    due_seconds: float | None = None
    reads_left: int | None = None
    held: bool = False

    def is_over(self, now_seconds: float) -> bool:
        """Tell whether the transition has ended."""
        if self.held:
            return False
        if self.reads_left is not None:
            return self.reads_left <= 0
        return self.due_seconds is None or self.due_seconds <= now_seconds

    def left(self, now_seconds: float) -> Transition:
        """Return the transition that, if it began now, would wait as long as this one still does.

        At least a nanosecond: what is not over yet is not over at once.
        """
        if self.held or self.due_seconds is None:
            return Transition(held=self.held, after_reads=self.reads_left)
        return Transition(after_seconds=max(1e-9, self.due_seconds - now_seconds))

    def later(self, seconds: float) -> Pending:
        """Return what is left to wait for when the clock reads so much more."""
        if self.due_seconds is None:
            return self
        return replace(self, due_seconds=self.due_seconds + seconds)

    def after_read(self) -> Pending:
        """Return what is left to wait for after one read."""
        if self.reads_left is None:
            return self
        return replace(self, reads_left=self.reads_left - 1)
