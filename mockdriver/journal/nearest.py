"""The calls that came nearest to what somebody asked for, and what they lack."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

from mockdriver.journal.entry import Moment
from mockdriver.journal.filters import CallFilter
from mockdriver.scenario.mistakes import quoted

NEAREST = 5
"""How many calls are shown."""

_IN_WORDS = 3
_SHOWN_TEXTS = 3


def nearest(wanted: CallFilter, moments: Iterable[Moment]) -> list[Moment]:
    """Return the calls that meet the most conditions, and of those the newest; best first.

    Only calls that the filter looks at, those after `after`.
    """
    candidates = [moment for moment in moments if moment.entry.sequence > wanted.after]
    return heapq.nlargest(
        NEAREST,
        candidates,
        key=lambda moment: (
            sum(condition.test(moment) for condition in wanted.conditions),
            moment.entry.sequence,
        ),
    )


def without(moments: Iterable[Moment], left_out: Iterable[Moment]) -> list[Moment]:
    """Return the calls but for those that are left out."""
    numbers = {moment.entry.sequence for moment in left_out}
    return [moment for moment in moments if moment.entry.sequence not in numbers]


def in_words(wanted: CallFilter, found: Sequence[Moment]) -> str:
    """Say which calls came nearest, and what each has instead of what was wanted."""
    if not found:
        return "there are no others"
    return "nearest: " + "; ".join(_line(wanted, moment) for moment in found[:_IN_WORDS])


def _line(wanted: CallFilter, moment: Moment) -> str:
    lacking = [
        f"its {condition.name} is {_texts(condition.found(moment))}"
        for condition in wanted.conditions
        # The line begins with these two.
        if condition.name not in ("rpc", "code") and not condition.test(moment)
    ]
    line = f"call {moment.entry.sequence}, {moment.entry.rpc} {moment.code}"
    return f"{line} ({', '.join(lacking)})" if lacking else line


def _texts(texts: Sequence[str | None]) -> str:
    there = [quoted(text) for text in texts if text is not None]
    more = len(there) - _SHOWN_TEXTS
    shown = ", ".join(there[:_SHOWN_TEXTS]) + (f" and {more} more" if more > 0 else "")
    return shown or "not set"
