"""Two views of CSI as flat facts: what is published about it, and what our csi.proto compiles to.

A flat fact is a path that says what it is about and a text that says what is true of it, so that
two sets of facts can be compared in both directions by one rule.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from google.protobuf.descriptor import (
    Descriptor,
    EnumDescriptor,
    FieldDescriptor,
    FileDescriptor,
    ServiceDescriptor,
)
from google.protobuf.descriptor_pb2 import DescriptorProto, EnumDescriptorProto, FileDescriptorProto
from google.protobuf.message import Message

FOLDER = Path(__file__).parent.parent / "facts"
# As `FieldDescriptorProto.Type` names them, without the prefix: TYPE_INT64 is int64.
TYPE_NAMES = {
    getattr(FieldDescriptor, name): name.removeprefix("TYPE_").lower()
    for name in dir(FieldDescriptor)
    if name.startswith("TYPE_")
}

Facts = dict[str, str]


def differences(published: Facts, compiled: Facts) -> list[str]:
    """Return a line for each fact that is missing, not asked for, or not the same."""
    lines = []
    for path in sorted(published.keys() | compiled.keys()):
        wanted, found = published.get(path, "nothing"), compiled.get(path, "nothing")
        if wanted != found:
            lines.append(f"{path}: published {wanted}, compiled {found}")
    return lines


# --------------------------------------------------------------------------------- published facts


def load_documents() -> list[dict[str, Any]]:
    """Return the fact files as they are: the release first, then what KEP-6011 adds."""
    names = ("csi-v1.13.0.json", "kep-6011.json")
    return [json.loads((FOLDER / name).read_text(encoding="utf-8")) for name in names]


def published_facts(documents: Iterable[dict[str, Any]]) -> Facts:
    """Flatten fact files; a later one adds to an earlier one and may not contradict it."""
    flat: Facts = {}
    for document in documents:
        for path, text in _published(document):
            if flat.get(path, text) != text:
                raise ValueError(f"{path}: {flat[path]} and {text}")
            flat[path] = text
    return flat


def _published(document: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key in ("syntax", "package", "file"):
        if key in document:
            yield key, document[key]
    for name in document.get("imports", ()):
        yield f"import {name}", "imported"
    for extension in document.get("extensions", ()):
        path = f"extension {extension['extends']} {extension['name']}"
        yield path, f"{extension['number']} {extension['type']}"
    for enum, numbers in document.get("reserved_enum_numbers", {}).items():
        for number in numbers:
            yield f"enum {enum} reserved {number}-{number}", "reserved"
    yield from _published_services(document["services"])
    yield from _published_messages(document["messages"])
    yield from _published_enums(document["enums"])


def _published_services(services: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for service, facts in services.items():
        yield f"service {service}", "there"
        yield from _published_options(f"service {service}", facts)
        for method in facts["methods"]:
            path = f"service {service} method {method['name']}"
            yield path, _method_text(**{key: method.get(key) for key in METHOD_KEYS})
            yield from _published_options(path, method)


def _published_messages(messages: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for message, facts in messages.items():
        yield f"message {message}", "there"
        yield from _published_options(f"message {message}", facts)
        for numbers in facts.get("reserved", ()):
            yield f"message {message} reserved {numbers}", "reserved"
        for field in facts["fields"]:
            path = f"message {message} field {field['name']}"
            yield path, _field_text(field["number"], field["type"], field.get("oneof"))
            yield from _published_options(path, field)


def _published_enums(enums: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for enum, values in enums.items():
        yield f"enum {enum}", "there"
        for value in values:
            path = f"enum {enum} value {value['name']}"
            yield path, str(value["number"])
            yield from _published_options(path, value)


def _published_options(path: str, facts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for option in facts.get("options", ()):
        yield f"{path} option {option}", "True"


# ---------------------------------------------------------------------------------- compiled facts


def compiled_facts(file: FileDescriptor) -> Facts:
    """Flatten everything that a compiled file declares."""
    return dict(_compiled(file))


def _compiled(file: FileDescriptor) -> Iterator[tuple[str, str]]:
    proto = FileDescriptorProto()
    file.CopyToProto(proto)
    yield "syntax", proto.syntax
    yield "package", file.package
    yield "file", file.name
    for name in proto.dependency:
        yield f"import {name}", "imported"
    yield from _compiled_options("file", file.GetOptions())
    for extension in file.extensions_by_name.values():
        extended = extension.containing_type
        assert extended is not None
        path = f"extension {extended.full_name} {extension.name}"
        yield path, f"{extension.number} {_type_name(extension)}"
    for service in file.services_by_name.values():
        yield from _compiled_service(service)
    for enum in file.enum_types_by_name.values():
        yield from _compiled_enum(enum)
    for message in file.message_types_by_name.values():
        yield from _compiled_message(message)


def _compiled_service(service: ServiceDescriptor) -> Iterator[tuple[str, str]]:
    yield f"service {service.full_name}", "there"
    yield from _compiled_options(f"service {service.full_name}", service.GetOptions())
    for method in service.methods:
        path = f"service {service.full_name} method {method.name}"
        yield (
            path,
            _method_text(
                input=method.input_type.full_name,
                output=method.output_type.full_name,
                client_streaming=method.client_streaming,
                server_streaming=method.server_streaming,
            ),
        )
        yield from _compiled_options(path, method.GetOptions())


def _compiled_enum(enum: EnumDescriptor) -> Iterator[tuple[str, str]]:
    proto = EnumDescriptorProto()
    enum.CopyToProto(proto)
    yield f"enum {enum.full_name}", "there"
    yield from _compiled_options(f"enum {enum.full_name}", enum.GetOptions())
    for numbers in proto.reserved_range:
        yield f"enum {enum.full_name} reserved {numbers.start}-{numbers.end}", "reserved"
    for name in proto.reserved_name:
        yield f"enum {enum.full_name} reserved {name}", "reserved"
    for value in enum.values:
        path = f"enum {enum.full_name} value {value.name}"
        yield path, str(value.number)
        yield from _compiled_options(path, value.GetOptions())


def _compiled_message(message: Descriptor) -> Iterator[tuple[str, str]]:
    proto = DescriptorProto()
    message.CopyToProto(proto)
    yield f"message {message.full_name}", "there"
    yield from _compiled_options(f"message {message.full_name}", message.GetOptions())
    for numbers in proto.reserved_range:
        # Its end is the first number that is not reserved, unlike an enum's.
        yield f"message {message.full_name} reserved {numbers.start}-{numbers.end - 1}", "reserved"
    for name in proto.reserved_name:
        yield f"message {message.full_name} reserved {name}", "reserved"
    for field in message.fields:
        path = f"message {message.full_name} field {field.name}"
        oneof = field.containing_oneof.name if field.containing_oneof else None
        yield path, _field_text(field.number, _type_name(field), oneof)
        yield from _compiled_options(path, field.GetOptions())
    for enum in message.enum_types:
        yield from _compiled_enum(enum)
    for nested in message.nested_types:
        if not nested.GetOptions().map_entry:  # a map's hidden message; the field says it all
            yield from _compiled_message(nested)


def _compiled_options(path: str, options: Message) -> Iterator[tuple[str, str]]:
    for option, value in options.ListFields():
        yield f"{path} option {option.name}", str(value)


def _type_name(field: FieldDescriptor) -> str:
    kind = field.message_type or field.enum_type
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        key, value = (field.message_type.fields_by_name[name] for name in ("key", "value"))
        return f"map<{_type_name(key)}, {_type_name(value)}>"
    name = kind.full_name if kind is not None else TYPE_NAMES[field.type]
    return f"repeated {name}" if field.is_repeated else name


# -------------------------------------------------------------------------------- one way of saying

METHOD_KEYS = ("input", "output", "client_streaming", "server_streaming")


def _method_text(**facts: Any) -> str:
    question = f"{'stream ' if facts['client_streaming'] else ''}{facts['input']}"
    answer = f"{'stream ' if facts['server_streaming'] else ''}{facts['output']}"
    return f"{question} -> {answer}"


def _field_text(number: int, type_name: str, oneof: str | None) -> str:
    return f"{number} {type_name}" + (f" in oneof {oneof}" if oneof else "")
