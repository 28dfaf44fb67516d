"""Between records, plain data and messages: one codec for all resources of the control API.

Records, scenario models and messages have the same field names, so nothing here knows one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, TypeVar

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

_Message = TypeVar("_Message", bound=Message)


def message(kind: type[_Message], record: object = None, **more: Any) -> _Message:
    """Return a message with a record's fields; what the record does not have comes from `more`.

    None leaves a field unset. Raises AttributeError for a field that neither of them has.
    """
    values = {
        name: more[name] if name in more else getattr(record, name)
        for name in _names(kind.DESCRIPTOR)
    }
    return kind(**{name: value for name, value in values.items() if value is not None})


def plain(message: Message) -> dict[str, Any]:
    """Return what is set in a message as plain data.

    A field without presence counts as set when it has not its type's zero.
    """
    readers = _readers(message.DESCRIPTOR)
    return {field.name: readers[field.number](value) for field, value in message.ListFields()}


@cache
def _names(descriptor: Descriptor) -> tuple[str, ...]:
    return tuple(field.name for field in descriptor.fields)


@cache
def _readers(descriptor: Descriptor) -> dict[int, Callable[[Any], Any]]:
    return {field.number: _reader(field) for field in descriptor.fields}


def _reader(field: FieldDescriptor) -> Callable[[Any], Any]:
    if field.message_type is not None:
        if field.message_type.GetOptions().map_entry:
            return _mapping
        return _messages if field.is_repeated else plain
    return list if field.is_repeated else _same


def _same(value: Any) -> Any:
    return value


def _mapping(entries: Mapping[str, Any]) -> dict[str, Any]:
    return {key: entries[key] for key in sorted(entries)}


def _messages(items: Any) -> list[dict[str, Any]]:
    return [plain(item) for item in items]
