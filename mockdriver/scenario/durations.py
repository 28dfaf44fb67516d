"""Durations as scenario files write them: `50ms`, `2s`, `1m30s`, `1h`."""

from __future__ import annotations

import re

MAX_HOURS = 8760
ALLOWED = f"a duration such as 50ms, 2s, 1m30s or 1h, at most {MAX_HOURS}h"
PATTERN = r"^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$"
"""What a duration looks like, for JSON Schema."""

_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}
_DIGITS = 9
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,12})?)(ms|s|m|h)")
_WHOLE = re.compile(rf"(?:{_PART.pattern}){{1,8}}")


def parse_duration(text: str) -> float | None:
    """Return the duration in seconds, or None if `text` is not one that is allowed.

    It is rounded to nanoseconds, so that `duration_text` can write it again.
    """
    if _WHOLE.fullmatch(text) is None:
        return None
    parts = (float(number) * _SECONDS[unit] for number, unit in _PART.findall(text))
    seconds = round(sum(parts), _DIGITS)
    return seconds if seconds <= MAX_HOURS * _SECONDS["h"] else None


def duration_text(seconds: float) -> str:
    """Return the text of a duration of at least nothing, to the nanosecond."""
    if 0 < seconds < 1 and seconds == round(seconds, 3):
        return f"{round(seconds * 1000)}ms"
    return f"{seconds:.{_DIGITS}f}".rstrip("0").rstrip(".") + "s"
