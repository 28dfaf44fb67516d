"""Which of the calls that match: `3`, `3-5`, `first 2`, `from 3`, `every 2`."""

from __future__ import annotations

import re

import pytest

from mockdriver.faults.call_numbers import ALL, PATTERN, parse


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1", [1]),
        ("3", [3]),
        ("3-5", [3, 4, 5]),
        ("3 - 5", [3, 4, 5]),
        ("4-4", [4]),
        ("first 2", [1, 2]),
        ("from 8", [8, 9, 10]),
        ("every 1", [*range(1, 11)]),
        ("every 2", [2, 4, 6, 8, 10]),
        ("every 3", [3, 6, 9]),
        (" every  3 ", [3, 6, 9]),
    ],
)
def test_a_selector_means_these_of_the_first_ten_calls(text: str, numbers: list[int]) -> None:
    found = parse(text)
    assert found is not None
    assert [number for number in range(1, 11) if found.have(number)] == numbers
    assert re.fullmatch(PATTERN, text)


def test_without_a_selector_every_call_is_meant() -> None:
    assert all(ALL.have(number) for number in (1, 2, 10**15))


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "0", "-1", "1.5", "3rd", "three", "5-3", "0-3", "3-", "-3", "1,2", "1-2-3"),
        *("first", "first 0", "every 0", "last 2", "every -2", "First 2", "first2", "1 2", "٣"),
        *("9" * 40, "every " + "9" * 40, "1" * 1_000, "first 1\nfirst 2"),
    ],
)
def test_nothing_else_is_one(text: str) -> None:
    assert parse(text) is None
