"""How scenario files write what a transition waits for, as text, and back."""

from __future__ import annotations

import re
from typing import Annotated

from mockdriver.cloud import Transition
from mockdriver.scenario.durations import PATTERN, format_duration, parse_duration
from mockdriver.scenario.kinds import Kind, mistake
from mockdriver.scenario.mistakes import not_allowed

_READS = re.compile(r"([0-9]{1,9}) reads?")
TRANSITIONS = "immediately, held, after a duration (after 2s), after some reads (after 3 reads)"
_WAITS = "held, a duration (1.5s), some reads (2 reads)"


def _after(text: str) -> Transition | None:
    """Return the transition that waits for a duration or for reads."""
    reads = _READS.fullmatch(text)
    if reads is not None:
        return Transition(after_reads=int(reads[1]))
    seconds = parse_duration(text)
    return None if seconds is None else Transition(after_seconds=seconds)


def _check_transition(value: object) -> Transition:
    if value == "immediately":
        return Transition()
    if value == "held":
        return Transition(held=True)
    if isinstance(value, str) and value.startswith("after "):
        found = _after(value.removeprefix("after "))
        if found is not None:
            return found
    raise mistake(not_allowed(value, TRANSITIONS))


def _check_wait(value: object) -> Transition:
    if value == "held":
        return Transition(held=True)
    found = _after(value) if isinstance(value, str) else None
    if found is None or not (found.after_seconds or found.after_reads):
        raise mistake(not_allowed(value, _WAITS))
    return found


def transition_text(transition: Transition) -> str:
    """Return a transition as a file writes it."""
    text = wait_text(transition)
    return text if text in ("immediately", "held") else f"after {text}"


def wait_text(transition: Transition) -> str:
    """Return what is waited for as a file writes it; `immediately` if nothing is."""
    if transition.held:
        return "held"
    if transition.after_reads:
        return "1 read" if transition.after_reads == 1 else f"{transition.after_reads} reads"
    if transition.after_seconds:
        return format_duration(transition.after_seconds)
    return "immediately"


_TIME_OR_READS = rf"({PATTERN[1:-1]}|[0-9]+ reads?)"

TransitionRule = Annotated[
    Transition,
    Kind(
        _check_transition,
        {
            "anyOf": [
                {"enum": ["immediately", "held"]},
                {"type": "string", "pattern": f"^after {_TIME_OR_READS}$"},
            ]
        },
        transition_text,
    ),
]
"""How long a transition takes."""

Waiting = Annotated[
    Transition,
    Kind(
        _check_wait,
        {
            "anyOf": [
                {"const": "held"},
                {"type": "string", "pattern": f"^{_TIME_OR_READS}$"},
            ]
        },
        wait_text,
    ),
]
"""What a transition that is under way still waits for."""
