"""What a scalar in a YAML file means: the core schema of YAML 1.2, and no more.

Timestamps, `yes`, `0o`-less octals and numbers with underscores are text, as YAML 1.2 has it.
"""

from __future__ import annotations

import math
import re

Scalar = str | int | float | bool | None

TAG_PREFIX = "tag:yaml.org,2002:"
PLAIN_TAGS = ("str", "int", "float", "bool", "null", "map", "seq")
"""The tags that a file may write, each with `!!` before it."""

_NULL = re.compile(r"~|null|Null|NULL|")
_TRUE = re.compile(r"true|True|TRUE")
_FALSE = re.compile(r"false|False|FALSE")
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_OCTAL = re.compile(r"0o[0-7]+")
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]+")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_NOT_FINITE = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")

_MAX_DIGITS = 40
"""More significant digits than any number of 64 bits has, in any base."""


class NotAScalar(ValueError):
    """The text cannot be what it looks like, or what its tag says. The message says why."""


def plain_value(text: str) -> Scalar:
    """Return what an unquoted scalar means. Raises NotAScalar for numbers that cannot be used."""
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text) or _FALSE.fullmatch(text):
        return text[0] in "tT"
    whole = _whole(text)
    if whole is not None:
        return whole
    if _FLOAT.fullmatch(text) or _NOT_FINITE.fullmatch(text):
        return _fraction(text)
    return text


def tagged_value(tag: str, text: str) -> Scalar:
    """Return what a scalar with one of the plain tags means; raises NotAScalar."""
    kind = tag.removeprefix(TAG_PREFIX)
    if kind == "str":
        return text
    value = plain_value(text)
    if kind == "float" and type(value) is int:
        return float(value)
    wanted = {"int": int, "float": float, "bool": bool, "null": type(None)}.get(kind)
    if wanted is None or type(value) is not wanted:
        raise NotAScalar(f"the tag !!{kind} does not fit this value")
    return value


def _whole(text: str) -> int | None:
    for pattern, base, start in ((_DECIMAL, 10, 0), (_OCTAL, 8, 2), (_HEXADECIMAL, 16, 2)):
        if pattern.fullmatch(text):
            digits = text[start:].lstrip("+-0")
            value = int(digits or "0", base) if len(digits) <= _MAX_DIGITS else 2**64
            value = -value if text[0] == "-" else value
            if not -(2**63) <= value < 2**63:
                raise NotAScalar(
                    "a number of more than 64 bits, allowed: -9223372036854775808 to "
                    "9223372036854775807, or text in quotes"
                )
            return value
    return None


def _fraction(text: str) -> float:
    value = math.nan if _NOT_FINITE.fullmatch(text) else float(text)
    if not math.isfinite(value):
        raise NotAScalar("not a finite number, allowed: a finite number, or text in quotes")
    return value
