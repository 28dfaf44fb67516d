"""Every command of `mockdriver ctl`, and every option, stands in docs/ctl.md."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from mockdriver.cli.ctl import SECTIONS, ctl
from mockdriver.cli.ctl.asking import ENDPOINT_VARIABLES
from mockdriver.cli.ctl.grammar import ALSO_CALLED, Noun
from tests.docs.blocks import text_of
from tests.docs.test_completeness import codes_in, rows

CTL = "docs/ctl.md"
SETTINGS = {"output", "endpoint"}
SHARED = {
    "calls": {"list": ("Which calls",)},
    "expect": {"": ("Which calls",)},
    "wait": {"": ("Which calls",)},
    "faults": {
        "add": ("What a fault can have",),
        "change": ("What a fault can have",),
    },
    "hold": {"": ("What a fault can have",)},
}
"""Where else the options of a verb stand, by noun."""

CONTEXT = click.Context(ctl)
NAMES = [name for part in SECTIONS.values() for name in part]


def verbs(name: str) -> Iterator[tuple[str, click.Command]]:
    """Yield the verbs of a noun, or a command without one under an empty name."""
    command = ctl.get_command(CONTEXT, name)
    assert command is not None
    if isinstance(command, Noun):
        yield from command.commands.items()
    else:
        yield "", command


def usage(name: str, verb: str, command: click.Command) -> str:
    """Return how a command is written: a noun's own verb is left out."""
    noun = ctl.get_command(CONTEXT, name)
    words = [name] if isinstance(noun, Noun) and verb == noun.default else [name, verb]
    arguments = [
        parameter.make_metavar(CONTEXT)
        for parameter in command.params
        if isinstance(parameter, click.Argument)
    ]
    return " ".join(filter(None, [*words, *arguments]))


def spelling(option: click.Option) -> str:
    """Return how an option is written, with what it takes."""
    [name] = [item for item in option.opts if item.startswith("--")]
    names = "`, `".join([name, *option.secondary_opts])
    return names if option.is_flag else f"{names} {option.make_metavar(CONTEXT)}"


def options(command: click.Command) -> list[str]:
    """Return the options of a command, without the two that all have."""
    return [
        spelling(item)
        for item in command.params
        if isinstance(item, click.Option) and item.name not in SETTINGS
    ]


def described(name: str) -> dict[str, set[str]]:
    """Return the verbs that the table under a command's heading tells of, by option."""
    found: dict[str, set[str]] = {}
    for cells in rows(CTL, name):
        if cells[0].startswith("`--"):
            option = cells[0].strip("`")
            of = codes_in(cells[1]) if len(cells) == 3 else [""]
            assert cells[-1], f"{name} {option} is not described"
            found.setdefault(option, set()).update(of)
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_are_listed_and_no_others(name: str) -> None:
    listed = [codes_in(cells[0])[0] for cells in rows(CTL, name) if cells[0].startswith("`" + name)]

    assert listed == [usage(name, verb, command) for verb, command in verbs(name)]


@pytest.mark.parametrize("name", NAMES)
def test_the_options_of_each_command_are_listed_and_no_others(name: str) -> None:
    elsewhere = {
        verb: {option for heading in headings for option in described(heading)}
        for verb, headings in SHARED.get(name, {}).items()
    }
    has = {(option, verb) for verb, command in verbs(name) for option in options(command)}
    here = {(option, verb) for option, of in described(name).items() for verb in of}

    missing = {item for item in has - here if item[0] not in elsewhere.get(item[1], ())}
    assert missing == set()
    assert here - has == set()


@pytest.mark.parametrize("heading", ["Which calls", "What a fault can have"])
def test_shared_options_are_all_taken(heading: str) -> None:
    taken = {
        option
        for name, by_verb in SHARED.items()
        for verb, command in verbs(name)
        if heading in by_verb.get(verb, ())
        for option in options(command)
    }

    assert set(described(heading)) - taken == set()


def test_headings_are_in_the_order_of_the_help() -> None:
    headings = re.findall(r"^## ([a-z-]+)$", text_of(CTL), re.MULTILINE)

    assert headings == NAMES


def test_the_two_settings_are_listed_with_their_variables() -> None:
    listed = {codes_in(cells[0])[0]: cells for cells in rows(CTL, "How commands are built")[1:]}

    assert set(listed) == {"--endpoint", "--output"}
    assert codes_in(listed["--endpoint"][1]) == ENDPOINT_VARIABLES
    assert codes_in(listed["--output"][1]) == ["MOCKDRIVER_CTL_OUTPUT"]


@pytest.mark.parametrize("word", ALSO_CALLED)
def test_words_of_other_programs_are_named(word: str) -> None:
    assert f"`{word}`" in text_of(CTL)
