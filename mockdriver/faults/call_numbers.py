"""Which of the calls that match a fault acts on: `3`, `3-5`, `first 2`, `from 3`, `every 2`."""

from __future__ import annotations

import re
from typing import NamedTuple

ALLOWED = 'which calls, as in "3", "3-5", "first 2", "from 3" or "every 2"'

_WORDS = re.compile(
    r"(?P<only>[0-9]+)|(?P<start>[0-9]+) *- *(?P<end>[0-9]+)"
    r"|first +(?P<first>[0-9]+)|from +(?P<onward>[0-9]+)|every +(?P<every>[0-9]+)"
)
PATTERN = r"^\s*([1-9][0-9]*( *- *[1-9][0-9]*)?|(first|from|every) +[1-9][0-9]*)\s*$"
"""What it looks like, for JSON Schema."""

_MAX_CHARACTERS = 60
_MAX_NUMBER = 10**18


class CallNumbers(NamedTuple):
    """Numbers of calls, counted from 1: `start` to `end` (None: without end), each `step`-th."""

    start: int = 1
    end: int | None = None
    step: int = 1

    def have(self, number: int) -> bool:
        """Tell whether a number is one of them."""
        if number < self.start or (self.end is not None and number > self.end):
            return False
        return (number - self.start) % self.step == 0


ALL = CallNumbers()


def parse(text: str) -> CallNumbers | None:
    """Return the numbers that a text means; None if it is none that is allowed."""
    found = _WORDS.fullmatch(text.strip()) if len(text) <= _MAX_CHARACTERS else None
    if found is None:
        return None
    given = {name: int(digits) for name, digits in found.groupdict().items() if digits is not None}
    if not all(0 < number <= _MAX_NUMBER for number in given.values()):
        return None
    match given:
        case {"only": only}:
            numbers = CallNumbers(only, only)
        case {"first": first}:
            numbers = CallNumbers(1, first)
        case {"onward": onward}:
            numbers = CallNumbers(onward)
        case {"every": every}:
            numbers = CallNumbers(every, step=every)
        case _:
            numbers = CallNumbers(given["start"], given["end"])
    return None if numbers.end is not None and numbers.end < numbers.start else numbers
