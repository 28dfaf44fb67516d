from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from mockdriver.scenario import composing
from mockdriver.scenario.composing import compose
from mockdriver.scenario.mistakes import ScenarioMistakes


def data_of(text: str) -> Any:
    tree = compose(text, "f")
    assert tree.mistakes == ()
    return tree.root.value


def refusals_of(text: str) -> list[str]:
    """Return the lines about a text, whether or not composing went on, without the file's name."""
    try:
        found = compose(text, "f").mistakes
    except ScenarioMistakes as mistakes:
        found = mistakes.mistakes
    return [str(mistake).removeprefix("f:") for mistake in found]


def test_plain_data_comes_out() -> None:
    text = "a: [1, 2.5, x, 'y', \"z\", true, ~]\nb: {c: {d: !!str 5}}\n"
    assert data_of(text) == {"a": [1, 2.5, "x", "y", "z", True, None], "b": {"c": {"d": "5"}}}


def test_keys_are_text_as_it_is_written() -> None:
    assert data_of("25: a\ntrue: b\n'q': c\n~: d\n!!str e: f\n") == {
        "25": "a",
        "true": "b",
        "q": "c",
        "~": "d",
        "e": "f",
    }


def test_an_empty_text_is_nothing() -> None:
    assert data_of("") is None
    assert data_of("# only words\n") is None
    assert data_of("---\n") is None


def test_a_text_may_say_that_it_is_yaml() -> None:
    assert data_of("%YAML 1.2\n---\na: yes\n...\n") == {"a": "yes"}


def test_an_alias_stands_for_what_its_anchor_names() -> None:
    assert data_of("a: &x {b: [1]}\nc: *x\nd: [*x, *x]\n") == {
        "a": {"b": [1]},
        "c": {"b": [1]},
        "d": [{"b": [1]}, {"b": [1]}],
    }


def test_every_value_and_key_has_its_position() -> None:
    tree = compose("a:\n  b: [x, {c: y}]\n", "f")
    assert tree.position(("a", "b", 1, "c")) == (2, 14)
    assert tree.key_position(("a", "b", 1, "c")) == (2, 11)
    assert tree.position(("a",)) == (2, 3)
    assert tree.key_position(("a",)) == (1, 1)


def test_what_is_not_there_has_the_position_of_what_would_hold_it() -> None:
    tree = compose("a: {b: [x]}\n", "f")
    assert tree.position(("a", "c", "d")) == (1, 4)
    assert tree.position(("a", "b", 7)) == (1, 8)
    assert tree.key_position(("a", "c")) == (1, 4)
    assert tree.key_position(()) == (1, 1)


def test_what_is_wrong_behind_an_alias_is_where_the_anchor_is() -> None:
    tree = compose("a: &x {b: c}\nd: *x\n", "f")
    assert tree.position(("d",)) == (2, 4)
    assert tree.position(("d", "b")) == (1, 11)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a:\n\t- b\n", ["2:1: a: a tab where YAML allows spaces only"]),
        (
            "a: b: c\n",
            ["1:5: file: not readable as YAML: mapping values are not allowed here"],
        ),
        (
            "a: [b\n",
            [
                (
                    "2:1: a[1]: not readable as YAML: expected ',' or ']', but got '<stream end>', "
                    "while parsing a flow sequence"
                )
            ],
        ),
        ('a: "\\UFFFFFFFF"', ["1:7: a: not readable as YAML: an escape of no character"]),
        ("a: 1\n---\nb: 2\n", ["2:1: file: a second document, allowed: one in a file"]),
        (
            "%YAML 2.0\n---\na: b\n",
            [
                (
                    "1:1: file: not readable as YAML: found incompatible YAML document "
                    "(version 1.* is required)"
                )
            ],
        ),
    ],
    ids=["tab", "colon", "unclosed", "escape", "documents", "version"],
)
def test_what_is_not_yaml_is_one_mistake_with_its_position(text: str, lines: list[str]) -> None:
    assert refusals_of(text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a: 1\nb: 2\na: 3\n", ["3:1: a: this key is there already, at 1:1; once is allowed"]),
        (
            "x: {b: 1, b: 2}\n",
            ["1:11: x.b: this key is there already, at 1:5; once is allowed"],
        ),
        ("? [a]\n: b\n", ["1:3: file: a list or a mapping as a key, allowed: text"]),
        ("{{a: b}: c}\n", ["1:2: file: a list or a mapping as a key, allowed: text"]),
        (": a\n", ["1:1: file: an empty key, allowed: text"]),
        ("!!int 5: a\n", ['1:1: file: a key with the tag "!!int", allowed: text']),
        (
            "<<: {a: b}\n",
            ["1:1: file: merge keys (<<) are not known, allowed: keys written out"],
        ),
        ("a: &x b\n*x : c\n", ["2:1: file: an alias as a key, allowed: text"]),
        ('"\\ud800": a\n', ["1:1: file: half a character (\\ud800 to \\udfff) cannot be used"]),
    ],
    ids=["twice", "flow", "list", "mapping", "empty", "tag", "merge", "alias", "half"],
)
def test_a_key_is_text_that_is_given_once(text: str, lines: list[str]) -> None:
    assert refusals_of(text) == lines


def test_the_first_of_two_equal_keys_counts() -> None:
    assert compose("a: 1\na: 2\nb: 3\n", "f").root.value == {"a": 1, "b": 3}


TAGS = "allowed: !!str, !!int, !!float, !!bool, !!null, !!map, !!seq"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "a: !!python/object/apply:os.system [id]\n",
            f'1:4: a: unknown tag "!!python/object/apply:os.system", {TAGS}',
        ),
        ("a: !mine b\n", f'1:4: a: unknown tag "!mine", {TAGS}'),
        ("a: !!timestamp 2026-11-30\n", f'1:4: a: unknown tag "!!timestamp", {TAGS}'),
        ("a: !!set {b}\n", f'1:4: a: unknown tag "!!set", {TAGS}'),
        ("a: !!binary aGk=\n", f'1:4: a: unknown tag "!!binary", {TAGS}'),
        ("a: !!map [b]\n", '1:4: a: the tag "!!map" does not fit this value'),
        ("a: !!int b\n", "1:4: a: the tag !!int does not fit this value"),
        ("a: .nan\n", "1:4: a: not a finite number, allowed: a finite number, or text in quotes"),
        (
            "a: 18446744073709551616\n",
            (
                "1:4: a: a number of more than 64 bits, allowed: -9223372036854775808 to "
                "9223372036854775807, or text in quotes"
            ),
        ),
        ('a: "\\udfff"\n', "1:4: a: half a character (\\ud800 to \\udfff) cannot be used"),
        ("a: *b\n", '1:4: a: the alias "*b" has no anchor before it'),
        ("a: &b [*b]\n", '1:8: a[0]: the alias "*b" stands for itself'),
    ],
)
def test_a_value_that_cannot_be_used_is_a_mistake_with_its_position(text: str, line: str) -> None:
    assert refusals_of(text) == [line]


def test_composing_goes_on_after_a_mistake_that_does_not_hinder_it() -> None:
    assert refusals_of("a: !x b\nc: .inf\nc: d\ne: *f\ng: [\n") == [
        f'1:4: a: unknown tag "!x", {TAGS}',
        "2:4: c: not a finite number, allowed: a finite number, or text in quotes",
        "3:1: c: this key is there already, at 2:1; once is allowed",
        '4:4: e: the alias "*f" has no anchor before it',
        (
            "6:1: g[0]: not readable as YAML: expected the node content, but found '<stream end>', "
            "while parsing a flow node"
        ),
    ]


def test_what_stands_for_something_broken_is_broken() -> None:
    tree = compose("a: &x !t {b: c}\nd: *x\n", "f")
    assert tree.is_broken(("d", "b"))


def test_a_path_that_is_broken_is_known_below_it_too() -> None:
    tree = compose("a: {b: !x {c: d}}\n", "f")
    assert tree.is_broken(("a", "b", "c"))
    assert tree.is_broken(("a", "b"))
    assert not tree.is_broken(("a",))


@pytest.fixture
def few_values(monkeypatch: pytest.MonkeyPatch) -> str:
    """Lower the cap on values, which saves seconds; return the text of what is over it."""
    monkeypatch.setattr(composing, "MAX_NODES", 900)
    return "too many values, allowed: at most 900, aliases as what they stand for"


@pytest.mark.parametrize("piece", ["a,", "[],", "{},", "&a ,", "'',"])
def test_values_are_counted_while_composing(piece: str, few_values: str) -> None:
    (line,) = refusals_of("[" + piece * 150_000)
    assert line.endswith(f": [899]: {few_values}")


def test_keys_are_counted_too(few_values: str) -> None:
    (line,) = refusals_of("{" + ",".join(f"k{n}: v" for n in range(1000)))
    assert line.endswith(f": k449: {few_values}")


def test_as_many_values_as_are_allowed_are_composed(few_values: str) -> None:
    assert len(data_of("[" + "a," * 899 + "]")) == 899


def test_an_alias_counts_as_what_it_stands_for(few_values: str) -> None:
    lines = ["a: &a [x,x,x,x,x,x,x,x,x]"]
    lines += [f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]" for a, b in pairwise("abcdefghi")]
    (line,) = refusals_of("\n".join(lines))
    assert line == f"3:32: c[8]: {few_values}"


def test_tens_of_thousands_of_values_are_too_many() -> None:
    (line,) = refusals_of("[" + "a," * 20_000 + "]")
    assert "too many values, allowed: at most 20000" in line


@pytest.mark.parametrize(
    "text",
    [
        "[" * 500_000,
        "{a: " * 100_000,
        "- " * 100_000,
        "\n".join(" " * n + "a:" for n in range(900)),
    ],
    ids=["lists", "mappings", "blocks", "lines"],
)
def test_depth_is_counted_while_composing(text: str) -> None:
    (line,) = refusals_of(text)
    assert line.endswith("nested too deep, allowed: at most 40 levels")


def test_depth_is_counted_through_aliases() -> None:
    text = "a0: &a0 [x]\n" + "\n".join(f"a{n + 1}: &a{n + 1} [*a{n}]" for n in range(100))
    (line,) = refusals_of(text)
    assert line == "39:12: a38[0]: nested too deep, allowed: at most 40 levels"


def test_as_deep_as_is_allowed_is_composed() -> None:
    assert data_of("[" * composing.MAX_DEPTH + "]" * composing.MAX_DEPTH)


def test_a_long_tag_is_refused_before_the_scanner_reads_it() -> None:
    # ruamel takes quadratic time over it: 18 seconds for a mebibyte
    assert refusals_of("!<" + "a" * 900_000 + "> b") == [
        "1:1: file: not readable as YAML: a tag of more than 256 characters"
    ]


def test_many_directives_are_refused() -> None:
    assert refusals_of("%A b\n" * 40_000 + "---\na: b\n") == [
        "9:1: file: not readable as YAML: more than 8 directives"
    ]


def test_a_file_full_of_mistakes_is_given_up() -> None:
    assert len(refusals_of("[" + "!a ," * 15_000 + "]")) == 1000


def test_a_message_about_yaml_is_one_short_line() -> None:
    (line,) = refusals_of("%TAG !" + "b" * 5000 + "\n")
    assert "\n" not in line
    assert len(line) < 300
