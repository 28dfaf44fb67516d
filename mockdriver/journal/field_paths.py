"""Fields of a message by path, as text: `volume_capability.access_mode.mode`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from mockdriver.scenario.mistakes import quoted, unknown_name

Data = dict[str, Any]
"""A message as `redaction.plain` gives it."""

Reader = Callable[[Any], list[str]]

_QUOTED_KEY = re.compile(r"\[\"(.*)\"\]", re.DOTALL)
_INDEX = re.compile(r"(?:\[(\d{1,9}|\*)\]|\.(\d{1,9}|\*)(?=[.\[]|$))")
_NAME = re.compile(r"[^.\[]*")


class NoSuchField(Exception):
    """The message has no field at the path; the text says where the path leads astray."""


@lru_cache(maxsize=1024)
def field_reader(descriptor: Descriptor, path: str) -> Reader:
    """Return what reads the texts at `path` from a message of this type, given as plain data.

    An element of a list is named by its number from 0, or by `*`, which stands for each of them;
    the value of a map by its key: `parameters.type`, or `parameters["a key"]`. All that follows a
    map's name is the key. An enum is its name; a message, list or map as a whole is JSON. A field
    that is not set has its default, unless the message that it belongs to is not set.
    Raises NoSuchField.
    """
    found = _NAME.match(path)
    name = found[0] if found else ""
    field = descriptor.fields_by_name.get(name)
    if field is None:
        known = list(descriptor.fields_by_name)
        raise NoSuchField(unknown_name(f"field of {descriptor.name}", name, known))
    return _of_field(field, path[len(name) :])


def _of_field(field: FieldDescriptor, rest: str) -> Reader:
    name, message = field.name, field.message_type
    if message is not None and message.GetOptions().map_entry:
        return _in_map(name, _key(name, rest)) if rest else _whole(name, {})
    if field.is_repeated:
        return _in_list(field, rest) if rest else _whole(name, [])
    if message is None:
        if rest:
            raise NoSuchField(f"{name} is no message, so it has no {quoted(rest)}")
        default = _default(field)
        return lambda data: [_text(data.get(name, default))]
    if not rest:
        return _if_present(name, lambda value: [_text(value)])
    return _if_present(name, field_reader(message, _after_dot(name, rest)))


def _whole(name: str, empty: object) -> Reader:
    return lambda data: [_text(data.get(name, empty))]


def _if_present(name: str, read: Reader) -> Reader:
    return lambda data: read(data[name]) if name in data else []


def _in_map(name: str, key: str) -> Reader:
    return lambda data: [_text(data[name][key])] if key in data.get(name, ()) else []


def _in_list(field: FieldDescriptor, rest: str) -> Reader:
    name, found = field.name, _INDEX.match(rest)
    if found is None:
        raise NoSuchField(
            f"{name} is a list: write {name}[0] for its first element, {name}[*] for each"
        )
    index, rest = found[1] or found[2], rest[found.end() :]
    read = _of_element(field, rest)

    def read_elements(data: Data) -> list[str]:
        elements: Iterable[Any] = data.get(name, ())
        if index != "*":
            elements = list(elements)[int(index) : int(index) + 1]
        return [text for element in elements for text in read(element)]

    return read_elements


def _of_element(field: FieldDescriptor, rest: str) -> Reader:
    if not rest:
        return lambda element: [_text(element)]
    if field.message_type is None:
        raise NoSuchField(
            f"the elements of {field.name} are no messages, they have no {quoted(rest)}"
        )
    return field_reader(field.message_type, _after_dot(field.name, rest))


def _key(name: str, rest: str) -> str:
    found = _QUOTED_KEY.fullmatch(rest)
    return found[1] if found else _after_dot(name, rest)


def _after_dot(name: str, rest: str) -> str:
    if not rest.startswith("."):
        raise NoSuchField(f"a dot and a name, or nothing, must follow {name}, not {quoted(rest)}")
    return rest[1:]


def _default(field: FieldDescriptor) -> object:
    if field.enum_type is not None:
        return field.enum_type.values_by_number[field.default_value].name
    return field.default_value


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), sort_keys=True)
