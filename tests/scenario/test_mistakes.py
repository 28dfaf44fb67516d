from __future__ import annotations

import pytest

from mockdriver.scenario.mistakes import (
    Mistake,
    ScenarioMistakes,
    nearest,
    path_text,
    quoted,
    shown,
    unknown_name,
)


def test_a_mistake_is_a_line_with_file_position_path_and_text() -> None:
    mistake = Mistake("a.yaml", 3, 7, "cloud.zones[0]", "5 is not allowed, allowed: text")
    assert str(mistake) == "a.yaml:3:7: cloud.zones[0]: 5 is not allowed, allowed: text"


def test_mistakes_are_in_the_order_of_their_positions_and_none_is_there_twice() -> None:
    first, second, third = (Mistake("f", *at, "p", "t") for at in [(1, 9), (2, 1), (10, 1)])
    assert ScenarioMistakes([third, first, second, first]).mistakes == (first, second, third)


def test_a_hundred_mistakes_are_shown_and_the_rest_is_counted() -> None:
    mistakes = ScenarioMistakes(Mistake("f", n, 1, "p", "t") for n in range(1, 131))
    lines = str(mistakes).splitlines()
    assert lines[99:] == ["f:100:1: p: t", "f: and 30 more"]


def test_where_counting_stopped_the_rest_is_at_least_so_many() -> None:
    mistakes = ScenarioMistakes(Mistake("f", n, 1, "p", "t") for n in range(1, 1001))
    assert str(mistakes).splitlines()[-1] == "f: and at least 900 more"


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ((), "file"),
        (("a",), "a"),
        (("a", 0, "b_c-d", 12), "a[0].b_c-d[12]"),
        ((3,), "[3]"),
        (("instance_types", "m5.large", "slots"), 'instance_types["m5.large"].slots'),
        (("a b",), '["a b"]'),
        (("a\nb",), '["a\\x0ab"]'),
        (("x" * 300,), f'["{"x" * 100}"… (300 characters)]'),
    ],
)
def test_a_path_is_written_as_people_write_it(path: tuple[str | int, ...], text: str) -> None:
    assert path_text(path) == text


@pytest.mark.parametrize(
    ("text", "in_quotes"),
    [
        ("a", '"a"'),
        ('a"b\\', '"a\\"b\\\\"'),
        ("a\nb\x00\x1b", '"a\\x0ab\\x00\\x1b"'),
        ("å", '"å"'),
        ("\u202ex\ud800\U000e0001", '"\\u202ex\\ud800\\U000e0001"'),
        ("y" * 101, f'"{"y" * 100}"… (101 characters)'),
    ],
)
def test_quoted_text_is_printable_and_short(text: str, in_quotes: str) -> None:
    assert quoted(text) == in_quotes


def test_any_value_can_be_shown() -> None:
    values = [None, True, False, "x", 5, 1.5, [1], {"a": 1}]
    assert [shown(value) for value in values] == [
        "nothing", "true", "false", '"x"', "5", "1.5", "a list", "a mapping",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("regster", ["register", "refresh"], "register"),
        ("boot-disk", ["boot_disk", "attached"], "boot_disk"),
        ("get_node_info", ["GET_NODE_INFO", "GET_VOLUME"], "GET_NODE_INFO"),
        ("zone-3", ["zone-1", "zone-2"], "zone-1"),
        ("xyz", ["register", "refresh"], None),
        ("a", [], None),
    ],
)
def test_the_nearest_known_name_is_found(name: str, known: list[str], near: str | None) -> None:
    assert nearest(name, known) == near


def test_what_nobody_can_survey_is_not_compared() -> None:
    long = "a" * 49
    assert nearest(long, [long]) is None
    assert nearest("i-x", [f"j{n}" for n in range(50)] + ["i-x-"]) is None


def test_a_long_list_of_known_names_is_cut() -> None:
    names = [f"name{n}" for n in range(25)]
    text = unknown_name("thing", "name", names)
    assert text.startswith('unknown thing "name", allowed: name0, name1, ')
    assert ', name19 and 5 more, did you mean "name' in text
