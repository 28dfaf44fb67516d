"""Fields of a message by path, and their values as text.

A path is names with dots between (`volume_capability.access_mode.mode`), an index after a list
(`volume_capabilities[0]` or `.0`; `[*]` is any item), and a key after a map: all that follows the
dot (`parameters.csi.storage.k8s.io/fstype`), or a text in brackets (`parameters["a.b/c"]`). The
name of a oneof stands for the member that is set (`volume_capability.access_type` is `mount`).

As text an enum is its name, a flag `true` or `false`. A message, a list or a map as a whole has no
text; `*` says that it is there, an empty text that it is not. What is not there at all is an empty
text that no star stands for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any, NamedTuple

from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    FieldDescriptor,
    OneofDescriptor,
)

from csi_spec import csi_pb2
from mockdriver.faults.flaws import BadText, Flaw, UnknownWord
from mockdriver.faults.pattern import Pattern

MAX_PATH_CHARACTERS = 1_000
MAX_INDEX = 9_999

ANY = -1
"""The index `[*]`."""

SERVICE_ACCOUNT_TOKENS = "csi.storage.k8s.io/serviceAccount.tokens"
"""A key of volume_context whose value is secret although its field is not."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_INDEX = re.compile(r"\[([0-9]{1,6}|\*)\]|\.([0-9]{1,6}|\*)(?=[.\[]|$)")
_KEY = re.compile(r"\[(\"(?:[^\"\\]|\\.)*\"|'[^']*')\]", re.DOTALL)

_WRAPPERS = frozenset(
    f"google.protobuf.{name}Value"
    for name in ("Bool", "String", "Int32", "Int64", "UInt32", "UInt64", "Double", "Float")
)
_TIMES = frozenset({"google.protobuf.Timestamp", "google.protobuf.Duration"})

_THERE = "there"
"""The text of a whole that is there. The patterns that are allowed are `*` and an empty text."""

Step = FieldDescriptor | OneofDescriptor | int | str
"""A field, the member of a oneof that is set, an item of a list, or the value of a key."""


class FieldPath(NamedTuple):
    """A path into messages of one type. `is_secret`: no value of it may be shown."""

    text: str
    steps: tuple[Step, ...]
    is_secret: bool

    @property
    def last(self) -> FieldDescriptor | OneofDescriptor:
        """The field or oneof that the path ends in."""
        return next(step for step in reversed(self.steps) if not isinstance(step, int | str))

    @property
    def is_whole(self) -> bool:
        """Tell whether the path ends at a message, a list or a map, which have no text."""
        end = self.steps[-1]
        if isinstance(end, OneofDescriptor | str):
            return False
        field = self.last
        assert isinstance(field, FieldDescriptor)
        if field.is_repeated and not isinstance(end, int):
            return True
        return field.message_type is not None and not is_scalar_message(field.message_type)

    def texts(self, message: Any) -> Iterator[str | None]:
        """Yield the values in a message as text; None for one that is not there."""
        return _texts(message, self.steps)


def is_scalar_message(type_: Descriptor) -> bool:
    """Tell whether a message is written as one value: a wrapper, a time, a duration."""
    return type_.full_name in _WRAPPERS or type_.full_name in _TIMES


def is_wrapper(type_: Descriptor) -> bool:
    """Tell whether a message does nothing but make a scalar optional."""
    return type_.full_name in _WRAPPERS


def is_map(field: FieldDescriptor) -> bool:
    """Tell whether a field is a map."""
    return field.message_type is not None and field.message_type.GetOptions().map_entry


def parse(text: str, message: Descriptor) -> FieldPath:
    """Return the path that a text names in messages of a type; raises BadPath."""
    if len(text) > MAX_PATH_CHARACTERS:
        raise BadPath(BadText(text, f"at most {MAX_PATH_CHARACTERS} characters"), 0)
    steps: list[Step] = []
    at, type_, is_secret = 0, message, False
    while True:
        name = _NAME.match(text, at)
        if name is None:
            raise BadPath(BadText(text, PATH_WORDS), at)
        member = _member(type_, name[0], at)
        at = name.end()
        steps.append(member)
        if isinstance(member, OneofDescriptor):
            if at < len(text):
                raise BadPath(BadText(text, f"nothing after {name[0]}, which is a oneof"), at)
            break
        is_secret = is_secret or member.GetOptions().Extensions[csi_pb2.csi_secret]
        if at == len(text):
            break
        if is_map(member):
            steps.append(_key(text, at))
            is_secret = is_secret or steps[-1] == SERVICE_ACCOUNT_TOKENS
            break
        if member.is_repeated:
            index = _INDEX.match(text, at)
            if index is None:
                raise BadPath(BadText(text, f"an index after {name[0]}, as in {name[0]}[0]"), at)
            at = index.end()
            steps.append(_index(index[1] or index[2], text, at))
            if at == len(text):
                break
        if text[at] != ".":
            raise BadPath(BadText(text, PATH_WORDS), at)
        if member.message_type is None or is_scalar_message(member.message_type):
            raise BadPath(BadText(text, f"nothing after {name[0]}, which has no fields"), at)
        type_ = member.message_type
        at += 1
    return FieldPath(text, tuple(steps), is_secret)


PATH_WORDS = 'names of fields with dots between, as in a.b, a[0].b and map["key"]'


class BadPath(Exception):
    """The text is no path of this type of message. So many characters of it could be followed."""

    def __init__(self, flaw: Flaw, followed: int) -> None:
        self.flaw, self.followed = flaw, followed
        super().__init__(str(flaw))


def _member(type_: Descriptor, name: str, at: int) -> FieldDescriptor | OneofDescriptor:
    field = type_.fields_by_name.get(name)
    if field is not None:
        return field
    oneof = type_.oneofs_by_name.get(name)
    if oneof is not None:
        return oneof
    known = (*type_.fields_by_name, *type_.oneofs_by_name)
    raise BadPath(UnknownWord(f"field of {type_.name}", name, known), at)


def _key(text: str, at: int) -> str:
    if text[at] == "." and at + 1 < len(text):
        return text[at + 1 :]
    quoted = _KEY.fullmatch(text, at)
    if quoted is not None:
        inner = quoted[1]
        if inner[0] == "'":
            return inner[1:-1]
        with suppress(ValueError):  # a UnicodeEncodeError is one too: half a surrogate pair
            key = str(json.loads(inner, strict=False))
            key.encode()
            return key
    raise BadPath(BadText(text, 'a key after the map, as in parameters["a.b/c"]'), at)


def _index(digits: str, text: str, at: int) -> int:
    if digits == "*":
        return ANY
    if int(digits) > MAX_INDEX:
        raise BadPath(BadText(text, f"an index from 0 to {MAX_INDEX}"), at)
    return int(digits)


# ------------------------------------------------------------------------------ values as text


def _texts(value: Any, steps: tuple[Step, ...]) -> Iterator[str | None]:
    """Yield the texts at the end of `steps`, which begin at the message `value`."""
    field, rest = steps[0], steps[1:]
    if isinstance(field, OneofDescriptor):
        yield value.WhichOneof(field.name)
        return
    assert isinstance(field, FieldDescriptor)
    if field.is_repeated:
        yield from _texts_of_many(getattr(value, field.name), field, rest)
    elif field.has_presence and not value.HasField(field.name):
        yield None
    else:
        yield from _texts_of_one(getattr(value, field.name), field, rest)


def _texts_of_many(items: Any, field: FieldDescriptor, rest: tuple[Step, ...]) -> Iterator[Any]:
    if not rest:
        yield _THERE if items else None
        return
    place, rest = rest[0], rest[1:]
    if isinstance(place, str):
        yield items.get(place)
        return
    assert isinstance(place, int)
    found = items if place == ANY else items[place : place + 1]
    if not found:
        yield None
    for item in found:
        yield from _texts_of_one(item, field, rest)


def _texts_of_one(value: Any, field: FieldDescriptor, rest: tuple[Step, ...]) -> Iterator[Any]:
    if rest:
        yield from _texts(value, rest)
    else:
        yield _text(value, field)


def _text(value: Any, field: FieldDescriptor) -> str:
    type_ = field.message_type
    if type_ is not None:
        if type_.full_name in _TIMES:
            return str(value.ToJsonString())
        return _plain_text(value.value) if is_wrapper(type_) else _THERE
    if field.enum_type is not None:
        known = field.enum_type.values_by_number.get(value)
        return str(value) if known is None else known.name
    return _plain_text(value)


def _plain_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value if isinstance(value, str) else str(value)


# --------------------------------------------------------------------------- patterns of values


def pattern_for(path: FieldPath, wanted: str) -> Pattern | Flaw:
    """Return what the values of a path are compared with, or what is wrong with it.

    A pattern without stars has to be a value that the field can have.
    """
    pattern = Pattern(wanted)
    exact = pattern.exact
    if path.is_whole:
        if wanted in ("", "*"):
            return pattern
        return BadText(wanted, f'"*" ({path.text} is there) or "" (it is not)')
    if exact is None or exact == "":
        return pattern
    end = path.last
    if isinstance(end, OneofDescriptor):
        known = tuple(field.name for field in end.fields)
        return pattern if exact in known else UnknownWord(f"member of {end.name}", exact, known)
    if isinstance(path.steps[-1], str):
        return pattern
    return _pattern_of_scalar(end, pattern, exact)


def _pattern_of_scalar(field: FieldDescriptor, pattern: Pattern, exact: str) -> Pattern | Flaw:
    if field.message_type is not None and is_wrapper(field.message_type):
        field = field.message_type.fields_by_name["value"]
    if field.enum_type is not None:
        return _pattern_of_enum(field.enum_type, pattern, exact)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return pattern if exact in ("true", "false") else BadText(exact, "true or false")
    if field.cpp_type in _INTEGERS:
        if _is_integer(exact):
            return Pattern(str(int(exact)))
        return BadText(exact, "a whole number, or a pattern with * or ?")
    return pattern


def _pattern_of_enum(enum: EnumDescriptor, pattern: Pattern, exact: str) -> Pattern | Flaw:
    if exact in enum.values_by_name:
        return pattern
    if _is_integer(exact):
        known = enum.values_by_number.get(int(exact))
        return Pattern(str(int(exact)) if known is None else known.name)
    return UnknownWord(f"value of {enum.name}", exact, tuple(enum.values_by_name))


_INTEGERS = frozenset(
    {
        FieldDescriptor.CPPTYPE_INT32,
        FieldDescriptor.CPPTYPE_INT64,
        FieldDescriptor.CPPTYPE_UINT32,
        FieldDescriptor.CPPTYPE_UINT64,
    }
)
"""What is written as a whole number."""


def _is_integer(text: str) -> bool:
    return re.fullmatch(r"-?[0-9]{1,20}", text) is not None


def matches(pattern: Pattern, text: str | None) -> bool:
    """Tell whether a value is as the pattern says. What is not there is only an empty text."""
    if text is None:
        return pattern.text == ""
    return pattern.matches(text)
