"""Values out of JSON, put into fields of messages: protobuf's JSON, with mistakes told by place.

Protobuf's own reader of JSON would do, but for its messages, and the time that it takes to import.
(No message of CSI has a field of bytes.)
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    FieldDescriptor,
    OneofDescriptor,
)

from mockdriver.faults.field_paths import (
    ANY,
    BadPath,
    FieldPath,
    is_map,
    is_scalar_message,
    is_wrapper,
    parse,
)
from mockdriver.faults.flaws import BadFit, BadText, Flaw, Place, UnknownWord

MAX_ADDED_ITEMS = 1_000
"""An index in an override is below this: a list that is shorter is filled with empty items."""

Field = FieldDescriptor

_RANGES = {
    Field.CPPTYPE_INT32: (-(2**31), 2**31 - 1),
    Field.CPPTYPE_INT64: (-(2**63), 2**63 - 1),
    Field.CPPTYPE_UINT32: (0, 2**32 - 1),
    Field.CPPTYPE_UINT64: (0, 2**64 - 1),
}


class BadValue(Exception):
    """A value is none for its field. `place` is where inside the value."""

    def __init__(self, flaw: Flaw, place: Place = ()) -> None:
        self.flaw, self.place = flaw, place
        super().__init__(str(flaw))


def parse_for_override(text: str, message: Descriptor) -> FieldPath:
    """Return the path of a field that can be overridden; raises BadPath."""
    path = parse(text, message)
    if isinstance(path.last, OneofDescriptor):
        flaw = UnknownWord(
            f"field of {path.last.containing_type.name}",
            path.last.name,
            tuple(field.name for field in path.last.fields),
        )
        raise BadPath(flaw, len(text))
    if ANY in path.steps:
        raise BadPath(BadText(text, "an index from 0, as in a[0]"), len(text))
    if any(isinstance(step, int) and step >= MAX_ADDED_ITEMS for step in path.steps):
        raise BadPath(BadText(text, f"an index from 0 to {MAX_ADDED_ITEMS - 1}"), len(text))
    return path


def override(message: Any, path: FieldPath, value: Any) -> None:
    """Put a value at a path into a message. None takes away what is there.

    What is on the way is made, and a list is filled with empty items up to an index. Raises
    BadValue for a value that does not fit; a value that fitted once fits always.
    """
    place = message
    steps = list(path.steps)
    while len(steps) > 2 or (len(steps) == 2 and isinstance(steps[1], Field)):
        field = steps.pop(0)
        assert isinstance(field, Field)
        place = getattr(place, field.name)
        if isinstance(steps[0], int):
            place = _item(place, steps.pop(0))
        else:
            place.SetInParent()
    _override_last(place, steps, value)


def _override_last(message: Any, steps: list[Any], value: Any) -> None:
    field = steps[0]
    if len(steps) == 1:
        put(message, field, value)
    elif isinstance(steps[1], str):
        entries = getattr(message, field.name)
        if value is None:
            entries.pop(steps[1], None)
        else:
            entries[steps[1]] = _scalar(_value_of_map(field), value)
    elif field.message_type is not None:
        item = _item(getattr(message, field.name), steps[1])
        item.Clear()
        _fill(item, field.message_type, value)
    else:
        items, index = getattr(message, field.name), steps[1]
        empty = _empty(field)
        items.extend([empty] * (index + 1 - len(items)))
        items[index] = empty if value is None else _scalar(field, value)


def _item(items: Any, index: Any) -> Any:
    while len(items) <= index:
        items.add()
    return items[index]


def put(message: Any, field: FieldDescriptor, value: Any) -> None:
    """Give a field of a message a value, in the place of the old one; raises BadValue."""
    message.ClearField(field.name)
    if value is None:
        return
    if is_map(field):
        entries = getattr(message, field.name)
        scalar = _value_of_map(field)
        for key, item in _object(value).items():
            with _Inside(key):
                entries[_text(key)] = _scalar(scalar, item)
    elif field.is_repeated:
        _put_items(message, field, value)
    elif field.message_type is not None:
        inner = getattr(message, field.name)
        inner.SetInParent()
        _fill(inner, field.message_type, value)
    else:
        setattr(message, field.name, _scalar(field, value))


def _value_of_map(field: FieldDescriptor) -> FieldDescriptor:
    assert field.message_type is not None
    return field.message_type.fields_by_name["value"]


def fill(message: Any, value: Any) -> None:
    """Give an empty message the fields of an object; raises BadValue."""
    _fill(message, message.DESCRIPTOR, value)


def _put_items(message: Any, field: FieldDescriptor, value: Any) -> None:
    if not isinstance(value, list | tuple):
        raise BadValue(BadFit(f"{_shown(value)} is not allowed, allowed: a list"))
    items = getattr(message, field.name)
    for index, item in enumerate(value):
        with _Inside(index):
            if field.message_type is not None:
                _fill(items.add(), field.message_type, item)
            else:
                items.append(_scalar(field, item))


def _fill(message: Any, type_: Descriptor, value: Any) -> None:
    """Give an empty message a value. None leaves it as it is."""
    if value is None:
        return
    if is_wrapper(type_):
        message.value = _scalar(type_.fields_by_name["value"], value)
        return
    if is_scalar_message(type_):
        _fill_time(message, type_, value)
        return
    for key, item in _object(value).items():
        field = _field(type_, key)
        with _Inside(key):
            put(message, field, item)


def _fill_time(message: Any, type_: Descriptor, value: Any) -> None:
    example = "2026-11-30T12:00:00Z" if type_.name == "Timestamp" else "1.5s"
    allowed = f'a text such as "{example}"'
    if not isinstance(value, str):
        raise BadValue(BadFit(f"{_shown(value)} is not allowed, allowed: {allowed}"))
    try:
        message.FromJsonString(value)
    except ValueError:
        raise BadValue(BadText(value, allowed)) from None


def _field(type_: Descriptor, key: Any) -> FieldDescriptor:
    field = type_.fields_by_name.get(key) or type_.fields_by_camelcase_name.get(key)
    if field is None:
        unknown = UnknownWord(f"field of {type_.name}", str(key), tuple(type_.fields_by_name))
        raise BadValue(unknown, (str(key),))
    return field


def _object(value: Any) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadValue(BadFit(f"{_shown(value)} is not allowed, allowed: a mapping"))
    return value


def _scalar(field: FieldDescriptor, value: Any) -> Any:
    if field.enum_type is not None:
        return _enum(field.enum_type, value)
    if field.cpp_type in _RANGES:
        return _integer(field, value)
    if field.type == Field.TYPE_BOOL:
        if isinstance(value, bool):
            return value
        raise BadValue(BadFit(f"{_shown(value)} is not allowed, allowed: true or false"))
    if field.cpp_type in (Field.CPPTYPE_DOUBLE, Field.CPPTYPE_FLOAT):
        if type(value) in (int, float) and math.isfinite(value):
            return float(value)
        raise BadValue(BadFit(f"{_shown(value)} is not allowed, allowed: a number"))
    return _text(value)


def _enum(enum: EnumDescriptor, value: Any) -> int:
    known = enum.values_by_name
    if isinstance(value, str):
        if value in known:
            return known[value].number
        raise BadValue(UnknownWord(f"value of {enum.name}", value, tuple(known)))
    if type(value) is int and -(2**31) <= value < 2**31:
        return value
    raise BadValue(BadFit(f"{_shown(value)} is not allowed, allowed: one of {', '.join(known)}"))


def _integer(field: FieldDescriptor, value: Any) -> int:
    low, high = _RANGES[field.cpp_type]
    # JSON's numbers have 53 bits, so protobuf's JSON writes large ones as text
    if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,20}", value):
        value = int(value)
    if type(value) is int and low <= value <= high:
        return value
    raise BadValue(
        BadFit(f"{_shown(value)} is not allowed, allowed: a whole number from {low} to {high}")
    )


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BadValue(BadFit(f"{_shown(value)} is not allowed, allowed: text"))
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadValue(BadText(value, "text without half of a surrogate pair")) from None
    return value


def _empty(field: FieldDescriptor) -> Any:
    """Return the empty value of one item of a list of scalars."""
    if field.type == Field.TYPE_STRING:
        return ""
    return False if field.type == Field.TYPE_BOOL else 0


def _shown(value: Any) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true" if value else "false"
        case int() | float():
            return str(value)
        case list() | tuple():
            return "a list"
        case str():
            return "a text"
        case _:
            return "a mapping"


class _Inside:
    """Adds where it was to a BadValue that leaves the block."""

    def __init__(self, step: str | int) -> None:
        self._step = step

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if isinstance(error, BadValue):
            error.place = (self._step, *error.place)
