"""Instances that are alike, one after the other, as one line with a count."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from mockdriver.scenario.plan import NUMBER_PLACE

SHORTEST = 3

_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_DIGITS = re.compile(r"[0-9]+")
_WITH_NUMBERS = ("id", "boot_disk", "network_interfaces", "attached", "published")
"""The keys in whose ids `{n}` stands for a number."""

Data = dict[str, Any]


def in_runs(instances: Iterable[Data]) -> list[Data]:
    """Return the instances; those that differ in a number that counts up are one with a count."""
    found: list[Data] = []
    for run, pattern, first in _runs(instances):
        if len(run) < SHORTEST or pattern is None:
            found.extend(run)
            continue
        counted = {**pattern, "count": len(run)}
        if first != 1:
            counted["count_from"] = first
        found.append(counted)
    return found


def _runs(instances: Iterable[Data]) -> Iterator[tuple[list[Data], Data | None, int]]:
    """Yield instances in a row that have one pattern, the pattern, and the first one's number."""
    run: list[Data] = []
    pattern: Data | None = None
    first = 0
    for instance in instances:
        number = _number_in(instance["id"])
        own = None if number is None or number < 1 else _pattern(instance, number)
        if run and own is not None and own == pattern and number == first + len(run):
            run.append(instance)
            continue
        if run:
            yield run, pattern, first
        run, pattern, first = [instance], own, number or 0
    if run:
        yield run, pattern, first


def _number_in(id: str) -> int | None:
    """Return the last number in an id."""
    groups = _DIGITS.findall(id)
    return int(groups[-1]) if groups and _NUMBER.fullmatch(groups[-1]) else None


def _pattern(instance: Data, number: int) -> Data | None:
    """Return the instance with `{n}` for its number, None if it has such a text itself."""
    found = dict(instance)
    for key in _WITH_NUMBERS:
        value = instance.get(key)
        ids = [value] if isinstance(value, str) else value if isinstance(value, list) else []
        if any(NUMBER_PLACE in id for id in ids):
            return None
        replaced = [_with_place(id, str(number)) for id in ids]
        if isinstance(value, str):
            found[key] = replaced[0]
        elif isinstance(value, list):
            found[key] = replaced
    return found


def _with_place(id: str, number: str) -> str:
    return _DIGITS.sub(lambda found: NUMBER_PLACE if found[0] == number else found[0], id)
