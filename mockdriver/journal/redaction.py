"""Messages as plain data for people and programs to read, with the secrets taken out."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from csi_spec import csi_pb2

STRIPPED = "***stripped***"
"""What stands in the place of a secret value. The keys stay."""

SERVICE_ACCOUNT_TOKENS = "csi.storage.k8s.io/serviceAccount.tokens"
"""A key of volume_context whose value is secret although its field is not."""

_Reader = Callable[[Any], Any]


def plain(message: Message) -> dict[str, Any]:
    """Return the message's set fields by name: enums by name, secrets stripped."""
    readers = _readers(message.DESCRIPTOR)
    return {field.name: readers[field.number](value) for field, value in message.ListFields()}


@cache
def _readers(descriptor: Descriptor) -> dict[int, _Reader]:
    return {field.number: _reader(field) for field in descriptor.fields}


def _reader(field: FieldDescriptor) -> _Reader:
    secret = is_secret(field)
    if field.message_type is not None:
        if field.message_type.GetOptions().map_entry:
            return stripped_map if secret else plain_map
        return _plain_list if field.is_repeated else plain
    if secret:
        return lambda value: STRIPPED
    if field.enum_type is not None:
        names = field.enum_type.values_by_number
        return lambda value: names[value].name if value in names else value
    return list if field.is_repeated else _same


def _same(value: Any) -> Any:
    return value


def _plain_list(messages: Any) -> list[dict[str, Any]]:
    return [plain(message) for message in messages]


def is_secret(field: FieldDescriptor) -> bool:
    """Tell whether CSI marks a field as one that no log may show (CSI spec, "csi_secret")."""
    return bool(field.GetOptions().Extensions[csi_pb2.csi_secret])


def plain_map(entries: Any) -> dict[str, str]:
    """Return a map in the order of its keys; the one value that CSI's marks miss is stripped."""
    return {
        key: STRIPPED if key == SERVICE_ACCOUNT_TOKENS else entries[key] for key in sorted(entries)
    }


def stripped_map(entries: Any) -> dict[str, str]:
    """Return the keys of a map, without its values."""
    return dict.fromkeys(sorted(entries), STRIPPED)
