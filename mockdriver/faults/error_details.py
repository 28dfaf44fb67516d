"""The details of an error, as `grpc-status-details-bin` carries them: a google.rpc.Status.

The messages are described here instead of coming with a dependency: googleapis-common-protos would
be a megabyte for eleven small messages. They live in a pool of their own, since a program that has
the real ones registered must not find two under one name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from google.protobuf import any_pb2, descriptor_pb2, descriptor_pool, duration_pb2, message_factory
from google.protobuf.message import Message

from mockdriver.faults.field_values import BadValue, put
from mockdriver.faults.flaws import BadFit, UnknownWord

PACKAGE = "google.rpc"
_URL = "type.googleapis.com/"
_TYPE = "@type"

_FIELDS: Mapping[str, Sequence[str]] = {
    "Status": ("int32 code", "string message", "Any* details"),
    "RetryInfo": ("Duration retry_delay",),
    "DebugInfo": ("string* stack_entries", "string detail"),
    "QuotaFailure": ("QuotaFailure.Violation* violations",),
    "QuotaFailure.Violation": (
        "string subject",
        "string description",
        "string api_service",
        "string quota_metric",
        "string quota_id",
        "map quota_dimensions",
        "int64 quota_value",
        "int64? future_quota_value",
    ),
    "ErrorInfo": ("string reason", "string domain", "map metadata"),
    "PreconditionFailure": ("PreconditionFailure.Violation* violations",),
    "PreconditionFailure.Violation": ("string type", "string subject", "string description"),
    "BadRequest": ("BadRequest.FieldViolation* field_violations",),
    "BadRequest.FieldViolation": (
        "string field",
        "string description",
        "string reason",
        "LocalizedMessage localized_message",
    ),
    "RequestInfo": ("string request_id", "string serving_data"),
    "ResourceInfo": (
        "string resource_type",
        "string resource_name",
        "string owner",
        "string description",
    ),
    "Help": ("Help.Link* links",),
    "Help.Link": ("string description", "string url"),
    "LocalizedMessage": ("string locale", "string message"),
}
"""The fields of each message, in the order of their numbers: `*` repeated, `?` optional."""

KINDS = tuple(f"{PACKAGE}.{name}" for name in _FIELDS if name != "Status" and "." not in name)
"""The types that a detail can have."""

_Proto = descriptor_pb2.FieldDescriptorProto
_SCALARS = {
    "string": _Proto.TYPE_STRING,
    "int32": _Proto.TYPE_INT32,
    "int64": _Proto.TYPE_INT64,
}


def status_bytes(code: int, message: str, details: Sequence[Message]) -> bytes:
    """Return a google.rpc.Status; `details` are those that `detail` has made."""
    status: Any = _class_of(f"{PACKAGE}.Status")(code=code, message=message)
    for item in details:
        status.details.add(
            type_url=_URL + item.DESCRIPTOR.full_name,
            value=item.SerializeToString(deterministic=True),
        )
    encoded: bytes = status.SerializeToString(deterministic=True)
    return encoded


def described(encoded: bytes) -> dict[str, Any]:
    """Return code, message and details of a google.rpc.Status as data, for people and for tests."""
    status: Any = _class_of(f"{PACKAGE}.Status").FromString(encoded)
    details = [
        _class_of(item.type_url.rpartition("/")[2]).FromString(item.value)
        for item in status.details
    ]
    return {"code": status.code, "message": status.message, "details": details}


def detail(given: Any) -> Message:
    """Return the message that JSON with `@type` describes; raises BadValue."""
    if not isinstance(given, Mapping) or not isinstance(given.get(_TYPE), str):
        raise BadValue(BadFit(f'needed is a mapping with "{_TYPE}", one of {", ".join(KINDS)}'))
    name = given[_TYPE].rpartition("/")[2]
    if name not in KINDS:
        raise BadValue(UnknownWord("type of detail", name, KINDS), (_TYPE,))
    message: Message = _class_of(name)()
    type_: Any = message.DESCRIPTOR
    for key, value in given.items():
        field = type_.fields_by_name.get(key) or type_.fields_by_camelcase_name.get(key)
        if field is not None:
            try:
                put(message, field, value)
            except BadValue as error:
                raise BadValue(error.flaw, (key, *error.place)) from None
        elif key != _TYPE:
            known = tuple(type_.fields_by_name)
            raise BadValue(UnknownWord(f"field of {type_.name}", key, known), (key,))
    return message


def _class_of(full_name: str) -> Any:
    return message_factory.GetMessageClass(pool().FindMessageTypeByName(full_name))


@cache
def pool() -> descriptor_pool.DescriptorPool:
    """Return the pool that describes the messages."""
    made = descriptor_pool.DescriptorPool()
    file = descriptor_pb2.FileDescriptorProto(
        name="mockdriver/error_details.proto", package=PACKAGE, syntax="proto3"
    )
    for known in (any_pb2.DESCRIPTOR, duration_pb2.DESCRIPTOR):
        made.AddSerializedFile(known.serialized_pb)
        file.dependency.append(known.name)
    messages: dict[str, descriptor_pb2.DescriptorProto] = {}
    for name, fields in _FIELDS.items():
        outer, _, inner = name.rpartition(".")
        place = messages[outer].nested_type if outer else file.message_type
        messages[name] = place.add(name=inner)
        for number, text in enumerate(fields, start=1):
            _describe(messages[name], f"{PACKAGE}.{name}", number, text)
    made.AddSerializedFile(file.SerializeToString())
    return made


def _describe(
    message: descriptor_pb2.DescriptorProto, full_name: str, number: int, text: str
) -> None:
    kind, name = text.split()
    field = message.field.add(name=name, number=number, label=_Proto.LABEL_OPTIONAL)
    if kind.endswith("*") or kind == "map":
        field.label = _Proto.LABEL_REPEATED
    if kind.endswith("?"):
        field.proto3_optional = True
        field.oneof_index = len(message.oneof_decl)
        message.oneof_decl.add(name=f"_{name}")
    kind = kind.rstrip("*?")
    if kind in _SCALARS:
        field.type = _SCALARS[kind]
        return
    field.type = _Proto.TYPE_MESSAGE
    if kind == "map":
        entry = message.nested_type.add(name=f"{name.title().replace('_', '')}Entry")
        entry.options.map_entry = True
        for place, part in enumerate(("key", "value"), start=1):
            entry.field.add(
                name=part, number=place, label=_Proto.LABEL_OPTIONAL, type=_Proto.TYPE_STRING
            )
        field.type_name = f".{full_name}.{entry.name}"
    elif kind in ("Any", "Duration"):
        field.type_name = f".google.protobuf.{kind}"
    else:
        field.type_name = f".{PACKAGE}.{kind}"
