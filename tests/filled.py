"""Messages of any type with something in each of their fields, chosen by a seed."""

from __future__ import annotations

from random import Random
from typing import Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

TEXTS = (
    "",
    "vol-1",
    'a "b" \\ c',
    "<script>&amp;</script>",
    "größer-磁盘-💽",
    "a\nb\tc\x01d",
    "\u2028e\u2029",
)
INTEGERS = (0, 1, -1, 2**31 - 1, -(2**31))
LONG_INTEGERS = (*INTEGERS, 2**53 + 1, 2**63 - 1, -(2**63))

_DEPTH = 4

Field = FieldDescriptor


def fill(message: Message, random: Random, depth: int = _DEPTH) -> Any:
    """Put something into the fields of a message; return it.

    Of each oneof one field is set. Some fields stay as they are, and deep down all do.
    """
    oneofs = {oneof.name: random.choice(oneof.fields).name for oneof in _oneofs(message)}
    for field in message.DESCRIPTOR.fields:
        oneof = field.containing_oneof
        chosen = oneof is None or oneofs[oneof.name] == field.name
        if chosen and depth > 0 and random.random() < 0.85:
            _fill_field(message, field, random, depth)
    return message


def _oneofs(message: Message) -> Any:
    return message.DESCRIPTOR.oneofs


def _fill_field(message: Any, field: Any, random: Random, depth: int) -> None:
    target = getattr(message, field.name)
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        for _ in range(random.randrange(4)):
            target[random.choice(TEXTS)] = random.choice(TEXTS)
    elif field.message_type is not None and field.is_repeated:
        for _ in range(random.randrange(3)):
            fill(target.add(), random, depth - 1)
    elif field.message_type is not None:
        target.SetInParent()
        fill(target, random, depth - 1)
    elif field.is_repeated:
        target.extend(_scalar(field, random) for _ in range(random.randrange(3)))
    else:
        setattr(message, field.name, _scalar(field, random))


def _scalar(field: FieldDescriptor, random: Random) -> Any:
    if field.enum_type is not None:
        # A number that has no name yet is allowed in proto3.
        return random.choice([*(value.number for value in field.enum_type.values), 9_999])
    match field.cpp_type:
        case Field.CPPTYPE_STRING:
            return random.choice(TEXTS)
        case Field.CPPTYPE_BOOL:
            return random.random() < 0.5
        case Field.CPPTYPE_INT32:
            return random.choice(INTEGERS)
        case _:
            return random.choice(LONG_INTEGERS)
