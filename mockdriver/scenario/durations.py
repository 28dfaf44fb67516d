"""Durations as scenario files write them: `50ms`, `2s`, `1m30s`, `1h`."""

from __future__ import annotations

import re
from decimal import Decimal

MAX_HOURS = 8760
ALLOWED = f"a duration such as 50ms, 2s, 1m30s or 1h, at most {MAX_HOURS}h"
PATTERN = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"
"""What a duration looks like, for JSON Schema."""

_MAX_DECIMALS = 12
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DIGITS = 9
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)(ms|s|m|h)")
_WHOLE = re.compile(rf"(?:{_PART.pattern}){{1,8}}")


def parse_duration(text: str) -> float | None:
    """Return the duration in seconds, or None if `text` is not one that is allowed.

    It is rounded to nanoseconds, so that `format_duration` can write it again.
    """
    if _WHOLE.fullmatch(text) is None:
        return None
    parts = (float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    seconds = round(sum(parts), _DIGITS)
    return seconds if seconds <= MAX_HOURS * _SECONDS["h"] else None


def format_duration(seconds: float) -> str:
    """Return a number of seconds as a duration that `parse_duration` reads as the same number.

    It is rounded to nanoseconds.
    """
    seconds = round(seconds, _DIGITS)
    if seconds < 1:
        milliseconds = f"{_decimal(seconds * 1000)}ms"
        if seconds > 0 and parse_duration(milliseconds) == seconds:
            return milliseconds
    return f"{_decimal(seconds)}s"


def _decimal(number: float) -> str:
    text = format(Decimal(repr(number)), "f")
    if len(text.partition(".")[2]) > _MAX_DECIMALS:
        # A product of fractions can be longer than a duration may be written.
        text = f"{number:.{_MAX_DECIMALS}f}".rstrip("0")
    return text.removesuffix(".0").removesuffix(".")
