"""Messages as Go's encoding/json writes the types that protoc-gen-go makes of them.

That is not the JSON of protobuf: names are those of the .proto file, what is zero is left out,
enums and 64-bit integers are numbers, and a oneof is a field of its own that holds an object with
the one key that is set, both under their names in Go; null if none is set. Kubernetes' e2e suite
reads what its mock driver logs in this form.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor, OneofDescriptor
from google.protobuf.message import Message

from mockdriver.journal.redaction import STRIPPED, is_secret, plain_map, stripped_map

_Writer = Callable[[Any, dict[str, Any]], None]


def go_json(message: Message) -> dict[str, Any]:
    """Return what json.Marshal makes of a message, in the order of Go's fields, secrets stripped.

    The order is that of the .proto file; a oneof has the place of its first field.
    """
    data: dict[str, Any] = {}
    for write in _writers(message.DESCRIPTOR):
        write(message, data)
    return data


@cache
def _writers(descriptor: Descriptor) -> tuple[_Writer, ...]:
    writers = []
    for field in descriptor.fields:
        oneof = _oneof_of(field)
        if oneof is None:
            writers.append(_field_writer(field))
        elif oneof.fields[0].name == field.name:
            writers.append(_oneof_writer(oneof))
    return tuple(writers)


def _oneof_of(field: FieldDescriptor) -> OneofDescriptor | None:
    """Return the oneof that a field is in; what proto3 makes of `optional` is none in Go."""
    oneof = field.containing_oneof
    return None if oneof is None or oneof.name == f"_{field.name}" else oneof


def _field_writer(field: FieldDescriptor) -> _Writer:
    name, convert = field.name, _converter(field)
    if field.has_presence:

        def write_if_present(message: Any, data: dict[str, Any]) -> None:
            if message.HasField(name):
                data[name] = convert(getattr(message, name))

        return write_if_present

    def write_if_not_zero(message: Any, data: dict[str, Any]) -> None:
        value = getattr(message, name)
        if value:
            data[name] = convert(value)

    return write_if_not_zero


def _oneof_writer(oneof: OneofDescriptor) -> _Writer:
    name, go_name = oneof.name, _go_name(oneof.name)
    members = {field.name: (_go_name(field.name), _converter(field)) for field in oneof.fields}

    def write(message: Any, data: dict[str, Any]) -> None:
        chosen = message.WhichOneof(name)
        if chosen is None:
            data[go_name] = None
        else:
            member, convert = members[chosen]
            data[go_name] = {member: convert(getattr(message, chosen))}

    return write


def _converter(field: FieldDescriptor) -> Callable[[Any], Any]:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return stripped_map if is_secret(field) else plain_map
    convert = _of_one(field)
    return (lambda values: [convert(value) for value in values]) if field.is_repeated else convert


def _of_one(field: FieldDescriptor) -> Callable[[Any], Any]:
    if field.message_type is not None:
        return go_json
    if is_secret(field):
        return lambda value: STRIPPED
    if field.type == FieldDescriptor.TYPE_BYTES:
        return lambda value: base64.b64encode(value).decode()
    return lambda value: value


def _go_name(name: str) -> str:
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))
