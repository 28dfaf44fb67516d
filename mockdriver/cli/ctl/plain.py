"""Messages of the API as plain data: what JSON and YAML show, with the field names of the proto.

protobuf's own JSON has large integers as text, which programs would have to turn back. The module
is imported for help too, which needs no protobuf: a message is known by its descriptor.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from google.protobuf.message import Message


def plain(message: Message) -> dict[str, Any]:
    """Return a message as plain data.

    Fields that are empty are there too, but for those that are optional or messages: programs need
    not know the defaults.
    """
    return {
        field.name: _value(message, field)
        for field in message.DESCRIPTOR.fields
        if not field.has_presence or message.HasField(field.name)
    }


def struct(message: Message) -> Any:
    """Return a Struct as plain data, its keys sorted: it has no order of its own."""
    return _whole_and_sorted(_as_protobuf_has_it(message))


def _value(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if not field.is_repeated:
        return _item(value)
    type_ = field.message_type
    if type_ is not None and type_.GetOptions().map_entry:
        return {str(key): _item(value[key]) for key in sorted(value)}
    return [_item(item) for item in value]


def _item(value: Any) -> Any:
    if not hasattr(value, "DESCRIPTOR"):
        return value
    match value.DESCRIPTOR.full_name:
        case "google.protobuf.Timestamp":
            return _as_protobuf_has_it(value)
        case "google.protobuf.Struct":
            return struct(value)
        case _:
            return plain(value)


def _as_protobuf_has_it(message: Message) -> Any:
    from google.protobuf.json_format import MessageToDict  # noqa: PLC0415 - see above

    return MessageToDict(message)


def _whole_and_sorted(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _whole_and_sorted(value[key]) for key in sorted(value)}
    if isinstance(value, list):
        return [_whole_and_sorted(item) for item in value]
    # Every number in a Struct is a double.
    return int(value) if isinstance(value, float) and value.is_integer() else value
