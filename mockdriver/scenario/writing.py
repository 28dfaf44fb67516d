"""Plain data as the text of a scenario file, which reads it back as it was."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from mockdriver.scenario.mistakes import printable

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*( [A-Za-z0-9_./-]+)*")
_NOT_PLAIN = re.compile(r"true|false|null|yes|no|on|off|y|n", re.IGNORECASE)
"""What is no text to this reader, or to those of YAML 1.1."""

_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}

_BLOCKS = 2
"""So many levels of mappings are written with a line for each key."""


def file_text(data: Mapping[str, Any], comments: Iterable[str] = ()) -> str:
    """Return the text of a file that says `data`, below lines of comment."""
    lines = [f"# {printable(comment)}".rstrip() for comment in comments]
    lines.extend(_mapping(data, 0))
    return "".join(f"{line}\n" for line in lines)


def _mapping(data: Mapping[str, Any], level: int) -> Iterator[str]:
    indent = "  " * level
    for key, value in data.items():
        start = f"{indent}{_scalar(key)}:"
        if isinstance(value, Mapping) and value and level + 1 < _BLOCKS:
            yield start
            yield from _mapping(value, level + 1)
        elif isinstance(value, Mapping) and _holds(value.values(), Mapping):
            yield start
            yield from (f"{indent}  {_scalar(name)}: {_flow(item)}" for name, item in value.items())
        elif _is_list(value) and _holds(value, Mapping):
            yield start
            yield from (f"{indent}  - {_flow(item)}" for item in value)
        else:
            yield f"{start} {_flow(value)}"


def _holds(items: Iterable[Any], kind: type) -> bool:
    found = list(items)
    return bool(found) and all(isinstance(item, kind) for item in found)


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{_scalar(key)}: {_flow(item)}' for key, item in value.items())}}}"
    if _is_list(value):
        return f"[{', '.join(map(_flow, value))}]"
    return _scalar(value)


def _scalar(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return repr(value)
        case str():
            return _text(value)
        case _:
            raise TypeError(f"no value of a file: {type(value).__name__}")


def _text(text: str) -> str:
    if _PLAIN.fullmatch(text) and not _NOT_PLAIN.fullmatch(text):
        return str(text)
    return f'"{"".join(_ESCAPES.get(item) or printable(item) for item in text)}"'
