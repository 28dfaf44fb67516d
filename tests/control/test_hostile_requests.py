"""Whatever a request of the control API holds, the answer is a clear one and the server lives on.

Each field of each RPC gets what it must not: texts that are huge or hold control characters, ids
that nobody knows, numbers below zero and beyond all use.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import message_factory
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from mockdriver.control.services import DESCRIPTORS
from mockdriver.driver.status import MAX_MESSAGE_CHARACTERS
from tests.control.live_world import LiveWorld, live_world

_F = FieldDescriptor

TEXTS = ("x" * 100_000, "\x00", "a\nb", "\u2028", "none", "*" * 5_000 + "?", "-", "😀" * 70)
NUMBERS = (-1, -(2**31), 2**31 - 1)
LARGE = (-(2**63), 2**63 - 1)
FRACTIONS = (-1.0, float("nan"), float("inf"), 1e308)

BY_TYPE: dict[int, tuple[Any, ...]] = {
    _F.TYPE_STRING: TEXTS,
    _F.TYPE_INT32: NUMBERS,
    _F.TYPE_INT64: (*NUMBERS, *LARGE),
    _F.TYPE_DOUBLE: FRACTIONS,
}

ENDLESS = {"Journal.WatchCalls"}
"""A stream that goes on: what it answers at once is looked at elsewhere."""

UNARY = [
    (service, method.name)
    for service, descriptor in DESCRIPTORS.items()
    for method in descriptor.methods
    if f"{service}.{method.name}" not in ENDLESS
]

ALLOWED = {
    "OK",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "FAILED_PRECONDITION",
    "RESOURCE_EXHAUSTED",
    "OUT_OF_RANGE",
    "ABORTED",
    "DEADLINE_EXCEEDED",
}
"""Never INTERNAL, UNKNOWN, UNAVAILABLE."""

SCENARIO = """\
scenario: hostile
cloud:
  instance_types: {small: {slots: 3}}
  instances: [{id: i-1, type: small, attached: [vol]}]
"""
KNOWN = {
    "instance": "i-1",
    "id": "i-1",
    "disk": "vol",
    "node_id": "i-1",
    "api": "attach",
    "name": "small",
    "timeout": "1ms",
    "barrier": "b",
    "by": "1ms",
}
"""What the other fields say, so that the one that is tried is looked at."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveWorld]:
    folder: Path = tmp_path_factory.mktemp("hostile")
    with live_world(folder, SCENARIO) as world:
        yield world


def hostile(request: Message) -> Iterator[tuple[str, Message]]:
    """Yield requests with one field each that is not as it should be."""
    descriptor: Any = request.DESCRIPTOR
    for field in descriptor.fields:
        for value in _values(field):
            bad = type(request)()
            bad.CopyFrom(request)
            _set(bad, field, value)
            yield field.name, bad
        if field.message_type is not None and not field.message_type.GetOptions().map_entry:
            inner = message_factory.GetMessageClass(field.message_type)()
            for name, worse in hostile(inner):
                bad = type(request)()
                bad.CopyFrom(request)
                _set(bad, field, worse)
                yield f"{field.name}.{name}", bad


def _values(field: FieldDescriptor) -> tuple[Any, ...]:
    if field.message_type is not None:
        if field.message_type.GetOptions().map_entry:
            return tuple({text: text} for text in TEXTS)
        return ()
    return BY_TYPE.get(field.type, ())


def _set(message: Message, field: FieldDescriptor, value: Any) -> None:
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        getattr(message, field.name).clear()
        getattr(message, field.name).update(value)
    elif field.is_repeated:
        getattr(message, field.name).append(value)
    elif isinstance(value, Message):
        getattr(message, field.name).CopyFrom(value)
    else:
        setattr(message, field.name, value)


def sensible(kind: type[Message]) -> Message:
    """Return a request whose fields name what is there."""
    request = kind()
    for field in kind.DESCRIPTOR.fields:
        if field.type == _F.TYPE_STRING and not field.is_repeated and field.name in KNOWN:
            setattr(request, field.name, KNOWN[field.name])
    return request


@pytest.mark.parametrize(("service", "rpc"), UNARY)
def test_no_request_gets_an_unclear_answer(world: LiveWorld, service: str, rpc: str) -> None:
    method = DESCRIPTORS[service].methods_by_name[rpc]
    kind = message_factory.GetMessageClass(method.input_type)
    stub: Any = world.channel.unary_unary(f"/{DESCRIPTORS[service].full_name}/{rpc}")
    for field, request in [("", sensible(kind)), *hostile(sensible(kind))]:
        code, message, name = "OK", "", ""
        try:
            stub(request.SerializeToString(), timeout=30)
        except grpc.RpcError as error:
            code, message = error.code().name, error.details() or ""
            trailing: Any = error.trailing_metadata()
            name = dict(trailing).get("mockdriver-error", "")
        assert code in ALLOWED, f"{field}: {code}: {message}"
        if code == "OK":
            continue
        assert message.startswith(f"{name}: "), field
        assert name not in ("", "InternalError"), field
        assert len(message) < MAX_MESSAGE_CHARACTERS + 50
        assert message.isprintable() or "\n" in message, field
        if code == "INVALID_ARGUMENT" and name == "InvalidRequest":
            shown = message.partition(": ")[2]
            assert (
                shown.startswith(field.split(".", maxsplit=1)[0])
                or "is required" in shown
                or ("exactly one of" in shown)
            ), f"{field}: {message}"
    assert world.call("Clock.GetClock").seconds > 0


@pytest.mark.parametrize(("service", "rpc"), UNARY)
def test_what_is_no_message_at_all_is_told(world: LiveWorld, service: str, rpc: str) -> None:
    stub: Any = world.channel.unary_unary(f"/{DESCRIPTORS[service].full_name}/{rpc}")
    with pytest.raises(grpc.RpcError) as refusal:
        stub(b"\xff\xff\xff", timeout=30)
    assert refusal.value.code() is grpc.StatusCode.INVALID_ARGUMENT
    assert "bytes that are no mockdriver.control.v1." in (refusal.value.details() or "")


def test_an_rpc_that_is_none_is_unimplemented(world: LiveWorld) -> None:
    stub: Any = world.channel.unary_unary("/mockdriver.control.v1.Cloud/None")
    with pytest.raises(grpc.RpcError) as refusal:
        stub(b"", timeout=30)
    assert refusal.value.code() is grpc.StatusCode.UNIMPLEMENTED
