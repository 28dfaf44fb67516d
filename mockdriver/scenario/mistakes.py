"""What is wrong with a scenario file, and how it is said: one line a mistake, with its position."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

MAX_MISTAKES = 1000
"""Nobody goes on looking for mistakes in a file that has so many."""

SHOWN_MISTAKES = 100
SHOWN_CHARACTERS = 100
SHOWN_NAMES = 20
COMPARED_NAMES = 50
COMPARED_CHARACTERS = 48
FILE = "file"
"""Stands in the place of the path where a mistake concerns the whole file."""

Path = tuple[str | int, ...]
"""Where in a file something is: keys of mappings, and indexes of lists from 0."""

_LEAST_LIKENESS = 0.59
_PLAIN_KEY = re.compile(r"[A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake. `line` and `column` count from 1; `text` says what is wrong, what is allowed."""

    file: str
    line: int
    column: int
    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}: {self.path}: {self.text}"


class ScenarioMistakes(Exception):
    """All mistakes of one file, in the order of their positions. As text: one line each."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        found = dict.fromkeys(mistakes)
        self.mistakes = tuple(sorted(found, key=lambda item: (item.line, item.column)))
        super().__init__(self.mistakes)

    def __str__(self) -> str:
        lines = [str(mistake) for mistake in self.mistakes[:SHOWN_MISTAKES]]
        more = len(self.mistakes) - SHOWN_MISTAKES
        if more > 0:
            count = f"{more}" if len(self.mistakes) < MAX_MISTAKES else f"at least {more}"
            lines.append(f"{self.mistakes[0].file}: and {count} more")
        return "\n".join(lines)


def path_text(path: Path) -> str:
    """Return a path as people write it: `cloud.instances[0].id`."""
    text = ""
    for element in path:
        if isinstance(element, int):
            text += f"[{element}]"
        elif _PLAIN_KEY.fullmatch(element) and len(element) <= SHOWN_CHARACTERS:
            text += f".{element}" if text else element
        else:
            text += f"[{quoted(element)}]"
    return text or FILE


def printable(text: str) -> str:
    """Return `text` on one line: what cannot be printed, or would break the line, is escaped."""
    return "".join(
        character if character.isprintable() else _escaped(character) for character in text
    )


def quoted(text: str) -> str:
    """Return `text` in quotes, on one line, cut after 100 characters."""
    shown = text[:SHOWN_CHARACTERS].replace("\\", "\\\\").replace('"', '\\"')
    rest = "" if len(text) <= SHOWN_CHARACTERS else f"… ({len(text)} characters)"
    return f'"{printable(shown)}"{rest}'


def shown(value: object) -> str:
    """Return any value out of a YAML file in the words of a message."""
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int() | float():
            return str(value)
        case list() | tuple():
            return "a list"
        case _:
            return "a mapping"


def not_allowed(value: object, allowed: str) -> str:
    """Say that a value is not one of those that are allowed."""
    return f"{shown(value)} is not allowed, allowed: {allowed}"


@dataclass(frozen=True, slots=True)
class UnknownName:
    """The text of a mistake about a name that is not one of those `known`.

    As a str it ends with the nearest of them. Finding that takes time, so it waits until then.
    """

    text: str
    name: str
    known: tuple[str, ...]

    def effort(self) -> int:
        """Return what finding the nearest name costs at worst, in pairs of characters."""
        return len(self.name) * sum(len(item) for item in self.known[:COMPARED_NAMES])

    def __str__(self) -> str:
        near = nearest(self.name, self.known)
        return self.text if near is None else f"{self.text}, did you mean {quoted(near)}?"


def unknown_name(kind: str, name: str, known: Iterable[str]) -> str:
    """Say that nothing has this name, what there is, and what was probably meant."""
    return str(not_among(kind, name, known))


def not_among(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """Say the same, but look for what was probably meant only when somebody reads it."""
    names = tuple(dict.fromkeys(known))
    listed = ", ".join(printable(item) for item in names[:SHOWN_NAMES])
    if len(names) > SHOWN_NAMES:
        listed += f" and {len(names) - SHOWN_NAMES} more"
    text = f"unknown {kind} {quoted(name)}, allowed: {listed or 'none'}"
    return UnknownName(text, name, names)


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name that is most like `name`, if one is like it at all.

    Upper and lower case, and `-` for `_`, count as the same. Only so many names of such a length
    are looked at: comparing takes quadratic time, and nobody misspells what he cannot survey.
    """
    compared = [item for item in (name, *known) if len(item) <= COMPARED_CHARACTERS]
    if not compared or compared[0] != name:
        return None
    matcher = difflib.SequenceMatcher(b=_folded(name), autojunk=False)
    best, found = _LEAST_LIKENESS, None
    for item in compared[1 : COMPARED_NAMES + 1]:
        matcher.set_seq1(_folded(item))
        if matcher.real_quick_ratio() > best and matcher.quick_ratio() > best:
            likeness = matcher.ratio()
            if likeness > best:
                best, found = likeness, item
    return found


def _folded(name: str) -> str:
    return name.casefold().replace("-", "_")


def _escaped(character: str) -> str:
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
