from __future__ import annotations

import pytest

from mockdriver.scenario.scalars import TAG_PREFIX, NotAScalar, plain_value, tagged_value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("FALSE", False),
        ("0", 0),
        ("-17", -17),
        ("+5", 5),
        ("007", 7),
        ("0o17", 15),
        ("0x1F", 31),
        ("9223372036854775807", 2**63 - 1),
        ("-9223372036854775808", -(2**63)),
        ("0000000000000000000000000000000000000000000000001", 1),
        ("1.5", 1.5),
        (".5", 0.5),
        ("-2e3", -2000.0),
        ("yes", "yes"),
        ("on", "on"),
        ("1_000", "1_000"),
        ("2026-11-30", "2026-11-30"),
        ("12:30:45", "12:30:45"),
        ("i-1", "i-1"),
        ("-", "-"),
        ("0b1", "0b1"),
        ("1e", "1e"),
    ],
)
def test_a_plain_scalar_means_what_yaml_1_2_says(text: str, value: object) -> None:
    found = plain_value(text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "9" * 10_000])
def test_a_whole_number_of_more_than_64_bits_is_refused(text: str) -> None:
    with pytest.raises(NotAScalar, match="64 bits"):
        plain_value(text)


def test_a_hexadecimal_number_of_more_than_64_bits_is_refused() -> None:
    with pytest.raises(NotAScalar, match="64 bits"):
        plain_value("0x8000000000000000")


@pytest.mark.parametrize("text", [".nan", ".NaN", ".inf", "-.Inf", "1e999", "9" * 1000 + ".0"])
def test_a_number_that_is_not_finite_is_refused(text: str) -> None:
    with pytest.raises(NotAScalar, match="finite"):
        plain_value(text)


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        ("str", "5", "5"),
        ("int", "5", 5),
        ("float", "5", 5.0),
        ("bool", "true", True),
        ("null", "", None),
    ],
)
def test_a_plain_tag_says_what_a_scalar_means(kind: str, text: str, value: object) -> None:
    found = tagged_value(TAG_PREFIX + kind, text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("kind", "text"), [("int", "x"), ("int", "1.5"), ("bool", "yes"), ("null", "x"), ("map", "x")]
)
def test_a_tag_that_does_not_fit_its_scalar_is_refused(kind: str, text: str) -> None:
    with pytest.raises(NotAScalar, match=f"!!{kind}"):
        tagged_value(TAG_PREFIX + kind, text)
