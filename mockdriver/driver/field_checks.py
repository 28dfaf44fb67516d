"""Checks of request fields that need no knowledge but the message's shape.

Required fields come from the table of RPCs. Size limits are the CSI spec's ("Size Limits"): read
off the descriptor once, when the server is built, with the exceptions that the spec names.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from google.protobuf.descriptor import Descriptor, FieldDescriptor

from csi_spec import csi_pb2
from mockdriver.cloud.errors import quoted
from mockdriver.driver.errors import InvalidField

STRING_BYTES = 128
MAP_BYTES = 4096
NODE_ID_BYTES = 256
PATH_BYTES = 4096
"""Paths have no limit in the spec; this is Linux' own."""

_STRING_EXCEPTIONS = {
    "node_id": NODE_ID_BYTES,
    "staging_target_path": PATH_BYTES,
    "target_path": PATH_BYTES,
    "volume_path": PATH_BYTES,
    "volume_publish_path": PATH_BYTES,
}
_LIST_EXCEPTIONS = {"mount_flags": MAP_BYTES}
"""Repeated strings that are limited as a whole."""

Check = Callable[[Any], None]
_Mode = csi_pb2.VolumeCapability.AccessMode.Mode


class _FieldCheck(Protocol):
    def __call__(self, message: Any, path: str, /) -> None: ...


def checker(message: Descriptor, required: Sequence[str]) -> Check:
    """Return a function that raises InvalidField for a message that breaks a rule."""
    needed = [(name, message.fields_by_name[name]) for name in required]
    checks = _field_checks(message)

    def check(request: Any) -> None:
        for name, field in needed:
            if _is_empty(request, field):
                raise InvalidField(name, f"is required, got {_nothing(field)}")
        for field_check in checks:
            field_check(request, "")

    return check


def _is_empty(request: Any, field: FieldDescriptor) -> bool:
    if field.message_type is not None and not field.is_repeated:
        return not request.HasField(field.name)
    return not getattr(request, field.name)


def _nothing(field: FieldDescriptor) -> str:
    if field.is_repeated:
        return "an empty list"
    return "nothing" if field.message_type is not None else "an empty string"


def _field_checks(message: Descriptor) -> list[_FieldCheck]:
    checks = [check for field in message.fields if (check := _check_of(field)) is not None]
    if message.full_name == "csi.v1.VolumeCapability":
        checks.append(_check_volume_capability)
    return checks


def _check_of(field: FieldDescriptor) -> _FieldCheck | None:
    name = field.name
    if field.message_type is not None:
        return _check_of_message(name, field.message_type, field.is_repeated)
    if field.type != FieldDescriptor.TYPE_STRING:
        return None
    if name in _LIST_EXCEPTIONS:
        return _list_check(name, _LIST_EXCEPTIONS[name])
    if field.is_repeated:
        return _strings_check(name)
    return _string_check(name, _STRING_EXCEPTIONS.get(name, STRING_BYTES))


def _check_of_message(name: str, type_: Descriptor, is_repeated: bool) -> _FieldCheck | None:
    if type_.GetOptions().map_entry:
        return _map_check(name)
    inner = _field_checks(type_)
    if not inner:
        return None
    return (_messages_check if is_repeated else _message_check)(name, inner)


def _string_check(name: str, limit: int) -> _FieldCheck:
    def check(message: Any, path: str) -> None:
        _limit_string(getattr(message, name), limit, path, name)

    return check


def _strings_check(name: str) -> _FieldCheck:
    def check(message: Any, path: str) -> None:
        for index, value in enumerate(getattr(message, name)):
            _limit_string(value, STRING_BYTES, path, f"{name}[{index}]")

    return check


def _list_check(name: str, limit: int) -> _FieldCheck:
    def check(message: Any, path: str) -> None:
        size = sum(len(value.encode()) for value in getattr(message, name))
        if size > limit:
            raise InvalidField(path + name, f"has {size} bytes in all, allowed are {limit}")

    return check


def _map_check(name: str) -> _FieldCheck:
    def check(message: Any, path: str) -> None:
        entries: Mapping[str, str] = getattr(message, name)
        if not entries:
            return
        size = sum(len(key.encode()) + len(value.encode()) for key, value in entries.items())
        if size > MAP_BYTES:
            raise InvalidField(path + name, f"has {size} bytes in all, allowed are {MAP_BYTES}")

    return check


def _message_check(name: str, inner: list[_FieldCheck]) -> _FieldCheck:
    def check(message: Any, path: str) -> None:
        if message.HasField(name):
            value = getattr(message, name)
            for field_check in inner:
                field_check(value, f"{path}{name}.")

    return check


def _messages_check(name: str, inner: list[_FieldCheck]) -> _FieldCheck:
    def check(message: Any, path: str) -> None:
        for index, value in enumerate(getattr(message, name)):
            for field_check in inner:
                field_check(value, f"{path}{name}[{index}].")

    return check


def _check_volume_capability(message: Any, path: str) -> None:
    if message.WhichOneof("access_type") is None:
        raise InvalidField(f"{path}access_type", "is required, set either mount or block")
    mode = message.access_mode.mode
    if mode == _Mode.Value("UNKNOWN"):
        raise InvalidField(f"{path}access_mode.mode", "is required, got UNKNOWN")
    if mode not in _Mode.values():
        raise InvalidField(f"{path}access_mode.mode", f"is {mode}, which CSI does not define")


def _limit_string(value: str, limit: int, path: str, name: str) -> None:
    # A character has at most 4 bytes: short strings need no encoding to be known short.
    if len(value) * 4 > limit and (size := len(value.encode())) > limit:
        raise InvalidField(path + name, f"has {size} bytes, allowed are {limit}: {quoted(value)}")
