"""Patterns of text, as in a shell."""

from __future__ import annotations

import re
from fnmatch import fnmatchcase

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockdriver.faults.pattern import Pattern


@pytest.mark.parametrize(
    ("pattern", "texts", "others"),
    [
        ("vol-1", ["vol-1"], ["vol-10", "Vol-1", ""]),
        ("", [""], ["a"]),
        ("*", ["", "a", "a\nb"], []),
        ("vol-*", ["vol-", "vol-1"], ["avol-1", "vol"]),
        ("*-1", ["-1", "vol-1"], ["vol-10"]),
        ("a*c", ["ac", "abc", "acc"], ["abcd", "a"]),
        ("ab*bc", ["abbc", "abxbc"], ["abc"]),
        ("?", ["a", "å", "\n"], ["", "ab"]),
        ("?*", ["a", "ab"], [""]),
        ("a**b", ["ab", "axb"], ["a"]),
        ("[a-c]", ["[a-c]"], ["a"]),
        (r"\*", ["*"], ["a", r"\*"]),
        (r"\?\*x*", ["?*x", "?*xy"], ["ab"]),
        (r"a\b", ["ab"], [r"a\b"]),
        (r"a\\b", [r"a\b"], ["ab"]),
        ("a\\", ["a\\"], ["a"]),
    ],
)
def test_a_pattern_matches_whole_texts(pattern: str, texts: list[str], others: list[str]) -> None:
    found = Pattern(pattern)
    assert [text for text in [*texts, *others] if found.matches(text)] == texts


@pytest.mark.parametrize(
    ("pattern", "exact"), [("vol-1", "vol-1"), (r"a\*", "a*"), ("", ""), ("a*", None), ("?", None)]
)
def test_a_pattern_knows_the_only_text_that_it_matches(pattern: str, exact: str | None) -> None:
    assert Pattern(pattern).exact == exact


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=10))
def test_stars_and_question_marks_are_those_of_a_shell(pattern: str, text: str) -> None:
    assert Pattern(pattern).matches(text) == fnmatchcase(text, pattern)


@given(st.text(max_size=20))
def test_an_escaped_text_matches_itself_and_nothing_else(text: str) -> None:
    pattern = Pattern(re.sub(r"([*?\\])", r"\\\1", text))
    assert pattern.exact == text
    assert pattern.matches(text)
    assert not pattern.matches(text + "x")


@pytest.mark.parametrize("pattern", ["*a" * 2_000, "*" + "a?" * 2_000 + "b", "*" * 4_000 + "b"])
def test_no_pattern_takes_more_than_a_moment(pattern: str) -> None:
    # a matcher that goes back over its stars would not return in the life of the universe
    assert not Pattern(pattern).matches("a" * 1_000 + "c")
