"""What commands print: tables for people, JSON and YAML for programs.

Text from a server may hold anything. What a terminal would not show as text is escaped.
"""

from __future__ import annotations

import json
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import click

from mockdriver.cli.ctl.plain import plain
from mockdriver.scenario.mistakes import printable

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from google.protobuf.timestamp_pb2 import Timestamp

GAP = "  "
_LEAST_ROOM = 16
"""Where less is left for the last column, the terminal wraps the line."""


class Styled(str):
    """Text with a colour, where there are colours."""

    colour: str

    def __new__(cls, text: str, colour: str) -> Self:
        """Return the text with a colour's name as click has them."""
        made = super().__new__(cls, printable(text))
        made.colour = colour
        return made


Row = Sequence[str]


class Printer:
    """Prints what a command has to say, in the form that was asked for."""

    def __init__(self, form: str) -> None:
        """Take one of table, json, yaml."""
        self.form = form

    @property
    def for_people(self) -> bool:
        """Tell whether people read it."""
        return self.form == "table"

    def answer(self, message: Message, for_people: Callable[[], object]) -> None:
        """Print an answer of the API, or call what prints it for people."""
        if self.for_people:
            for_people()
        else:
            self.data(plain(message))

    def under(self, name: str, message: Message, for_people: Callable[[], object]) -> None:
        """Print a message as the field `name` of an answer."""
        if self.for_people:
            for_people()
        else:
            self.data({name: plain(message)})

    def listed(
        self, name: str, messages: Iterable[Message], for_people: Callable[[], object]
    ) -> None:
        """Print messages as the repeated field `name` of an answer."""
        if self.for_people:
            for_people()
        else:
            self.data({name: [plain(message) for message in messages]})

    def values(self, values: Mapping[str, Any], sentence: str) -> None:
        """Print fields of an answer, for people as one sentence."""
        if self.for_people:
            line(sentence)
        else:
            self.data(values)

    def done(self, sentence: str) -> None:
        """Say that it is done, where the API's answer has no fields."""
        self.values({}, sentence)

    def in_stream(self, message: Message) -> None:
        """Print one message of many: JSON on a line of its own, YAML as a document."""
        self.data(plain(message), in_a_stream=True)

    def data(self, value: Mapping[str, Any], *, in_a_stream: bool = False) -> None:
        """Print plain data: in a stream on a line of its own, or as a YAML document."""
        if self.form == "json":
            click.echo(as_json(value, indent=None if in_a_stream else 2))
        else:
            click.echo(("---\n" if in_a_stream else "") + _as_yaml(value), nl=False)


def line(text: str) -> None:
    """Print one line for people."""
    click.echo(printable(text))


def note(text: str) -> None:
    """Print one line for people where it is in no program's way."""
    click.echo(printable(text), err=True)


def file_text(text: str) -> None:
    """Print the text of a file, for a terminal with what it would not show escaped."""
    if not sys.stdout.isatty():
        click.echo(text, nl=not text.endswith("\n"))
        return
    for part in text.splitlines():
        line(part)


def time_of(timestamp: Timestamp) -> str:
    """Return a moment in UTC, to the millisecond."""
    moment = timestamp.ToDatetime()
    return f"{moment:%Y-%m-%d %H:%M:%S}.{moment.microsecond // 1000:03}Z"


def table(headings: Row, rows: Iterable[Row], *, nothing: str) -> None:
    """Print rows in columns that are as wide as they must be; without rows say `nothing`."""
    cells = [[_cell(text) for text in row] for row in rows]
    if not cells:
        note(nothing)
        return
    columns = Columns(headings, [max(map(width, column)) for column in zip(*cells, strict=True)])
    columns.print_headings()
    for row in cells:
        columns.print_row(row)


def fields(pairs: Iterable[tuple[str, str]]) -> None:
    """Print names with their values below one another."""
    shown = [(name, _cell(value)) for name, value in pairs]
    widest = max(width(name) for name, _ in shown)
    for name, value in shown:
        click.echo(f"{name}{' ' * (widest - width(name))}{GAP}{_coloured(value, value)}".rstrip())


class Columns:
    """Columns of a table whose widths are known before its rows, as in a stream."""

    def __init__(self, headings: Row, widths: Sequence[int]) -> None:
        """Take what each column needs at least besides its heading."""
        self._headings = headings
        self._widths = [
            max(width(heading), wanted) for heading, wanted in zip(headings, widths, strict=True)
        ]

    def print_headings(self) -> None:
        """Print the headings."""
        self.print_row(self._headings)

    def print_row(self, row: Row) -> None:
        """Print a row. On a terminal the last column ends where the line does."""
        *first, last = [_cell(text) for text in row]
        padded, before = "", 0
        for text, wanted in zip(first, self._widths, strict=False):
            blanks = max(0, wanted - width(text)) + len(GAP)
            padded += _coloured(text, text) + " " * blanks
            before += width(text) + blanks
        click.echo((padded + _coloured(_cut(last, before), last)).rstrip())


def width(text: str) -> int:
    """Return how many columns of a terminal a printable text takes."""
    if text.isascii():
        return len(text)
    return sum(_width(character) for character in text)


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


def _cell(text: str) -> str:
    return text if isinstance(text, Styled) else printable(text)


def _coloured(text: str, original: str) -> str:
    return click.style(text, fg=original.colour) if isinstance(original, Styled) else text


def _cut(text: str, before: int) -> str:
    if not sys.stdout.isatty():
        return text
    room = shutil.get_terminal_size().columns - before
    if room < _LEAST_ROOM or width(text) <= room:
        return text
    while width(text) > room - 1:
        text = text[:-1]
    return f"{text}…"


def as_json(value: object, indent: int | None = None) -> str:
    """Return plain data as JSON that a terminal can show."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    if text.isprintable():
        return text
    # What is not printable can stand in strings only, but for the ends of lines between them.
    return "".join(
        item if item.isprintable() or item == "\n" else json.dumps(item)[1:-1] for item in text
    )


def _as_yaml(value: object) -> str:
    from io import StringIO  # noqa: PLC0415

    from ruamel.yaml import YAML  # noqa: PLC0415 - it takes a while to import

    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style = False
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.allow_unicode = all(map(str.isprintable, _strings(value)))
    yaml.width = 4096
    out = StringIO()
    yaml.dump(value, out)
    return out.getvalue()


def _strings(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value.replace("\n", "")
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _strings(key)
            yield from _strings(item)
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
