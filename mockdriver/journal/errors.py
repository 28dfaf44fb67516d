"""What the journal refuses, as typed errors."""

from __future__ import annotations

from collections.abc import Sequence


class QueryMistake(Exception):
    """A question to the journal that makes no sense. `field` is where, the text says what."""

    def __init__(self, field: str, problem: str) -> None:
        self.field, self.problem = field, problem
        super().__init__(f"{field}: {problem}")

    def inside(self, field: str) -> QueryMistake:
        """Return the same mistake, in a part of a larger question."""
        return QueryMistake(f"{field}.{self.field}", self.problem)


class CallsNotSeen(Exception):
    """The calls that were waited for did not come in time; the text names the nearest ones."""


class CallNotFound(Exception):
    """The record has no call of this number: it is forgotten, or is still to come."""

    def __init__(self, sequence: int, remembered: Sequence[int]) -> None:
        self.sequence = sequence
        known = f"{min(remembered)} to {max(remembered)}" if remembered else "none"
        super().__init__(f"call {sequence} is not in the record, remembered are: {known}")


class TooFarBehind(Exception):
    """Whoever watches is so slow that he has missed calls."""

    def __init__(self, missed: int, last_sequence: int) -> None:
        self.missed, self.last_sequence = missed, last_sequence
        super().__init__(
            f"this reader is too slow and has missed {missed} messages; the last one was of call "
            f"{last_sequence}: list or watch what came after it"
        )
