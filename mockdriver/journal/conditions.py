"""What a call must meet, one thing at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from mockdriver.faults import field_paths
from mockdriver.faults.field_paths import BadPath, FieldPath
from mockdriver.faults.flaws import Flaw, UnknownWord
from mockdriver.faults.pattern import Pattern
from mockdriver.journal.entry import RUNNING, Moment
from mockdriver.journal.errors import QueryMistake
from mockdriver.journal.redaction import STRIPPED
from mockdriver.scenario.code_names import CODES
from mockdriver.scenario.mistakes import quoted, unknown_name

CODE_NAMES = (*CODES, RUNNING)

MAX_TEXT_CHARACTERS = 4_096
"""Of a pattern. Comparing takes time by its length, and other calls wait for that."""

Texts = list[str | None]
"""What a call has in the place of what is wanted; None is a field that is not there."""


class Condition(NamedTuple):
    """One thing that a call must meet: what it is called, what is wanted, what a call has.

    `is_costly` says that the call's messages have to be decoded.
    """

    name: str
    wanted: str
    found: Callable[[Moment], Texts]
    test: Callable[[Moment], bool]
    is_costly: bool = False

    def __str__(self) -> str:
        return f"{self.name}={quoted(self.wanted)}"


def of_text(
    name: str,
    wanted: str,
    found: Callable[[Moment], Texts],
    *,
    anywhere: bool = False,
    is_costly: bool = False,
) -> list[Condition]:
    """Return a condition that one of a call's texts meets, or none if nothing is wanted."""
    if not wanted:
        return []
    pattern = pattern_of(name, f"*{wanted}*" if anywhere else wanted)

    def test(moment: Moment) -> bool:
        return any(text is not None and pattern.matches(text) for text in found(moment))

    return [Condition(name, wanted, found, test, is_costly)]


def of_code(wanted: str) -> list[Condition]:
    """Return the condition to have a code, or with `!` to have ended with another one.

    Raises QueryMistake for a name that is no code's.
    """
    if not wanted:
        return []
    name = wanted.removeprefix("!")
    pattern = pattern_of("code", name)
    if pattern.exact is not None and pattern.exact not in CODE_NAMES:
        raise QueryMistake("code", unknown_name("code", name, CODE_NAMES))

    def test(moment: Moment) -> bool:
        if name == wanted:
            return pattern.matches(moment.code)
        # A call in flight has no code yet, so it has no other one either.
        return moment.ended and not pattern.matches(moment.code)

    return [Condition("code", wanted, lambda moment: [moment.code], test)]


def of_fields(
    side: str,
    wanted: Mapping[str, str],
    types: Iterable[Descriptor],
    message: Callable[[Moment], Message | None],
) -> list[Condition]:
    """Return a condition for each field of a message, in the order of their paths.

    `types` are those that the message can have. Raises QueryMistake for a field that none of them
    has, and for a value that it cannot have in any of them.
    """
    conditions = []
    for path, text in sorted(wanted.items()):
        field = _Field(_known(side, path, text, types), message)
        condition = Condition(f"{side}.{path}", text, field.found, field.test, is_costly=True)
        conditions.append(condition)
    return conditions


def pattern_of(field: str, text: str) -> Pattern:
    """Return a pattern; raises QueryMistake if it is too long."""
    if len(text) > MAX_TEXT_CHARACTERS:
        allowed = f"allowed: at most {MAX_TEXT_CHARACTERS}"
        raise QueryMistake(field, f"{len(text)} characters are not allowed, {allowed}")
    return Pattern(text)


_Known = Mapping[str, tuple[FieldPath, Pattern]]
"""By the full name of a type: the path of the field in it, and what is wanted of its texts."""


_NOTHING = Pattern("")


class _Field(NamedTuple):
    """A field, in whichever of the types a call's message has."""

    known: _Known
    message: Callable[[Moment], Message | None]

    def found(self, moment: Moment) -> Texts:
        """Return the texts that a call has there, secrets replaced."""
        return self._look(moment)[0]

    def test(self, moment: Moment) -> bool:
        """Tell whether one of the texts is as wanted."""
        texts, pattern = self._look(moment)
        return any(field_paths.matches(pattern, text) for text in texts)

    def _look(self, moment: Moment) -> tuple[Texts, Pattern]:
        body = self.message(moment)
        here = None if body is None else self.known.get(body.DESCRIPTOR.full_name)
        if body is None or here is None:
            return [], _NOTHING
        path, pattern = here
        texts = list(path.texts(body))
        if path.is_secret:
            texts = [None if text is None else STRIPPED for text in texts]
        return texts, pattern


def _known(side: str, path: str, wanted: str, types: Iterable[Descriptor]) -> _Known:
    place = f"{side}[{quoted(path)}]"
    pattern_of(place, wanted)
    known, flaws = {}, []
    for type_ in types:
        try:
            parsed = field_paths.parse(path, type_)
        except BadPath as bad:
            flaws.append((bad.followed, bad.flaw))
            continue
        pattern = field_paths.pattern_for(parsed, wanted)
        if isinstance(pattern, Pattern):
            known[type_.full_name] = parsed, pattern
        else:
            flaws.append((len(path), pattern))
    if not known:
        # Of several types, the one in which the path leads furthest was meant.
        _, flaw = max(flaws, key=lambda found: found[0])
        raise QueryMistake(place, _in_words(flaw))
    return known


def _in_words(flaw: Flaw) -> str:
    if isinstance(flaw, UnknownWord):
        return unknown_name(flaw.kind, flaw.given, flaw.known)
    return str(flaw)
