from __future__ import annotations

import re

import pytest

from mockdriver.scenario.durations import MAX_HOURS, PATTERN, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("50ms", 0.05),
        ("2s", 2.0),
        ("1.5s", 1.5),
        ("1m30s", 90.0),
        ("1h", 3600.0),
        ("1h2m3s4ms", 3723.004),
        ("0s", 0.0),
        (f"{MAX_HOURS}h", MAX_HOURS * 3600.0),
    ],
)
def test_a_duration_is_read_as_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == pytest.approx(seconds)
    assert re.search(PATTERN, text)


@pytest.mark.parametrize(
    "text",
    ["", "2", "s", "2 s", "-2s", "+2s", "2S", "2sec", "1e3s", ".5s", "2s ", "٣s", "2d", "infs"],
)
def test_what_is_not_a_duration_is_not_read(text: str) -> None:
    assert parse_duration(text) is None


@pytest.mark.parametrize("text", [f"{MAX_HOURS + 1}h", "9" * 400 + "s", "1h" * 10_000])
def test_a_duration_without_sense_is_not_read(text: str) -> None:
    assert parse_duration(text) is None
