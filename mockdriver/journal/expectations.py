"""What somebody expects of the calls so far, and why it is not so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from mockdriver.journal.entry import Moment
from mockdriver.journal.errors import QueryMistake
from mockdriver.journal.filters import CallFilter
from mockdriver.journal.journal import Journal
from mockdriver.journal.nearest import in_words, nearest, without


@dataclass(frozen=True)
class Verdict:
    """Whether the calls are as expected. If not, `problem` says why and `nearest` shows calls.

    `count` is how many calls match; of an order, how many of its places are taken.
    """

    met: bool
    count: int
    problem: str = ""
    nearest: tuple[Moment, ...] = ()


@dataclass(frozen=True)
class Count:
    """How many calls match: `at_least` and `at_most` so many; None is no bound."""

    at_least: int | None = None
    at_most: int | None = None

    def judge(self, journal: Journal, wanted: CallFilter) -> Verdict:
        """Count the calls that match.

        Where the bounded record has lost calls that could have matched, a count says nothing about
        how many there are at most: such an expectation is not met.
        """
        moments, lost = journal.view(wanted.after)
        matching = wanted.matching(moments)
        count = len(matching)
        if self.at_least is not None and count < self.at_least:
            others = nearest(wanted, without(moments, matching))
            problem = f"{self._expected(wanted)}, found {count}{_lost(lost)}"
            return Verdict(False, count, _joined(problem, wanted, others), tuple(others))
        if self.at_most is not None and count > self.at_most:
            found = nearest(wanted, matching)
            problem = f"{self._expected(wanted)}, found {count}"
            return Verdict(False, count, _joined(problem, wanted, found), tuple(found))
        if self.at_most is not None and lost:
            problem = f"{self._expected(wanted)}, found {count}, but that says little{_lost(lost)}"
            return Verdict(False, count, problem)
        return Verdict(True, count)

    def _expected(self, wanted: CallFilter) -> str:
        if self.at_most == 0:
            number = "no call"
        elif self.at_least == self.at_most:
            number = f"exactly {_calls(self.at_most)}"
        elif self.at_most is None:
            number = f"at least {_calls(self.at_least)}"
        elif self.at_least is None:
            number = f"at most {_calls(self.at_most)}"
        else:
            number = f"{self.at_least} to {self.at_most} calls"
        return f"expected {number}{wanted}"


@dataclass(frozen=True)
class InThisOrder:
    """A call for each of the `places`, one after the other by arrival; others may lie between.

    Raises QueryMistake if there are no places.
    """

    places: tuple[CallFilter, ...]

    def __post_init__(self) -> None:
        if not self.places:
            raise QueryMistake("in_this_order", "is empty, allowed: one filter or more")

    def judge(self, journal: Journal, within: CallFilter) -> Verdict:
        """Look for the order among the calls that match `within`."""
        seen, lost = journal.view(within.after)
        moments = within.matching(seen)
        start, taken = 0, 0
        for place in self.places:
            position = _first(place, moments, start)
            if position is None:
                return self._missing(taken, moments, start, lost)
            start, taken = position + 1, taken + 1
        return Verdict(True, taken)

    def _missing(self, taken: int, moments: Sequence[Moment], start: int, lost: int) -> Verdict:
        wanted = self.places[taken]
        problem = f"expected, in place {taken + 1} of {len(self.places)}, a call{wanted}"
        if taken:
            before = moments[start - 1].entry
            problem += f", after call {before.sequence}, {before.rpc}"
        problem += f": found none{_lost(lost)}"
        earlier = len(wanted.matching(moments[:start]))
        if earlier:
            problem += f", but {earlier} before"
        found = nearest(wanted, moments)
        return Verdict(False, taken, _joined(problem, wanted, found), tuple(found))


def _first(place: CallFilter, moments: Sequence[Moment], start: int) -> int | None:
    positions = range(start, len(moments))
    return next((position for position in positions if place.matches(moments[position])), None)


def _joined(problem: str, wanted: CallFilter, found: Sequence[Moment]) -> str:
    return f"{problem}; {in_words(wanted, found)}"


def _calls(number: int | None) -> str:
    return "1 call" if number == 1 else f"{number} calls"


def _lost(number: int) -> str:
    if not number:
        return ""
    return f" ({number} older calls are forgotten, the record is bounded: see --journal-size)"
