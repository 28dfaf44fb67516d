"""Messages of the API as plain data: what JSON and YAML show, with the field names of the proto.

protobuf's own JSON has large integers as text, which programs would have to turn back.
"""

from __future__ import annotations

from typing import Any

from google.protobuf.json_format import MessageToDict
from google.protobuf.message import Message

_AS_PROTOBUF_HAS_THEM = frozenset({"google.protobuf.Timestamp", "google.protobuf.Struct"})


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


def _value(message: Message, field: Any) -> Any:
    value = getattr(message, field.name)
    if not field.is_repeated:
        return _item(value)
    type_ = field.message_type
    if type_ is not None and type_.GetOptions().map_entry:
        return {str(key): _item(item) for key, item in value.items()}
    return [_item(item) for item in value]


def _item(value: Any) -> Any:
    if not isinstance(value, Message):
        return value
    if value.DESCRIPTOR.full_name in _AS_PROTOBUF_HAS_THEM:
        return MessageToDict(value)
    return plain(value)
