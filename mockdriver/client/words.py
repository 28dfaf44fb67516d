"""Values of Python as the words that the control API takes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta

import grpc

Duration = str | timedelta
"""Text as in scenario files ("50ms", "2s", "1m30s"), or a timedelta."""

Code = str | grpc.StatusCode
"""A status code, or its name."""


def duration(value: Duration) -> str:
    """Return the text of a duration. The server refuses what is none."""
    if isinstance(value, str):
        return value
    micros = value // timedelta(microseconds=1)
    whole, rest = divmod(micros, 1000)
    return f"{whole}.{rest:03}ms" if rest else f"{whole}ms"


def seconds(value: float) -> str:
    """Return the text of a duration given in seconds."""
    return duration(timedelta(seconds=value))


def code(value: Code) -> str:
    """Return the name of a status code."""
    return value if isinstance(value, str) else value.name


def as_text(value: object) -> str:
    """Return a field's value as the text that it is compared with: `true`, `3`, `pvc-*`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def texts(values: Mapping[str, object]) -> dict[str, str]:
    """Return fields by path, each value as text."""
    return {path: as_text(value) for path, value in values.items()}


def as_json(values: Mapping[str, object]) -> dict[str, str]:
    """Return fields by path, each value as JSON."""
    return {path: json.dumps(value) for path, value in values.items()}
