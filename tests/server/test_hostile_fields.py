"""Hostile values in each field of each RPC, over a socket: a code of the spec, the field named.

Every request is one that would succeed but for the one value that is planted in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import grpc
import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message import Message

from csi_spec import csi_pb2
from mockdriver.co.calling import Answer, call
from mockdriver.driver.rpcs import RPCS, Rpc
from mockdriver.server.sockets import grpc_target
from tests.driver.mounts.watched_tree import State, canaries, state_of
from tests.driver.test_secrets import KEY, SECRET, plant
from tests.driver.test_size_limits import PLACES, Place, places
from tests.requests import CAPABILITY, is_ready
from tests.serving import Serving, serving

SCENARIO = """
scenario: hostile
cloud:
  instance_types: {t: {slots: 20}}
  instances: [{id: i-1, type: t, zone: a, boot_disk: boot, attached: [vol-1]}]
  disks: [{id: vol-free, zone: a}]
"""

TEXTS = [
    *("", " ", "\0", "\n", "\r\n", "\t", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff"),
    *("../../etc/passwd", "/etc/passwd", "/dev/null", "/proc/self/mem", "/", "//", ".", "..", "~"),
    *("%s%n%x", "{}{0}{x!r}", "${HOME}", "$(touch pwned)", "`id`", "; rm -rf x", "' OR 1=1 --"),
    *("<script>", '{"a": 1}', "!!python/object:os.system", "\U0001f600" * 30, "e\u0301" * 40),
    *("-1", "0", "9" * 100, "NaN", "null", "true", "vol-1\0", "vol-1 ", "VOL-1", "boot"),
]
"""What is no id, name, path or token of anything, or no longer one when it is read carelessly."""

UNKNOWN_FIELDS = b"\xfa\x3e\x05hello" + b"\xf8\x3e\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"
"""Two fields that CSI does not define: text, and the largest number there is."""

CODES = {
    "CreateVolume": {"ALREADY_EXISTS", "OUT_OF_RANGE", "RESOURCE_EXHAUSTED"},
    "DeleteVolume": {"FAILED_PRECONDITION"},
    "ControllerPublishVolume": {"NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION"},
    "ControllerUnpublishVolume": {"FAILED_PRECONDITION"},  # a boot disk stays where it is
    "ValidateVolumeCapabilities": {"NOT_FOUND"},
    "ListVolumes": {"ABORTED"},
    "ControllerGetVolume": {"NOT_FOUND"},
    "ControllerGetNodeInfo": {"NOT_FOUND"},
    "NodeStageVolume": {"NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION"},
    "NodeUnstageVolume": {"NOT_FOUND"},
    "NodePublishVolume": {"NOT_FOUND", "ALREADY_EXISTS", "FAILED_PRECONDITION"},
    "NodeUnpublishVolume": {"NOT_FOUND", "FAILED_PRECONDITION"},
    "NodeGetVolumeStats": {"NOT_FOUND"},
}
"""What each RPC may answer besides OK and INVALID_ARGUMENT, by the spec's tables."""

_OTHER_VOLUMES = {"DeleteVolume": "vol-not-there", "ControllerUnpublishVolume": "vol-free"}
"""Whom calls are about that would else take `vol-1` away from the calls after them."""

WATCHED_BESIDES = (Path("/etc/passwd"), Path("/dev/null"))


@dataclass(frozen=True)
class Target:
    """A server, a connection to it, and the folder in which it may do what it is told."""

    server: Serving
    channel: grpc.Channel
    folder: Path

    def send(self, rpc: str, request: Message | bytes) -> Answer:
        """Send a request of an RPC."""
        row = next(row for row in RPCS if row.name == rpc)
        body = request if isinstance(request, bytes) else request.SerializeToString()
        response = getattr(csi_pb2, f"{rpc}Response")
        method: Any = self.channel.unary_unary(
            f"/csi.v1.{row.service}/{rpc}", response_deserializer=response.FromString
        )
        return call(method, body)

    def sound(self, rpc: str) -> Any:
        """Return a request that succeeds."""
        request: Any = getattr(csi_pb2, f"{rpc}Request")()
        values = {
            "name": "pvc-sound",
            "volume_id": _OTHER_VOLUMES.get(rpc, "vol-1"),
            "node_id": "i-1",
            "staging_target_path": str(self.folder / "staging"),
            "target_path": str(self.folder / "pods" / "target"),
            "volume_path": str(self.folder / "staging"),
        }
        for name in request.DESCRIPTOR.fields_by_name:
            if name in values:
                setattr(request, name, values[name])
            elif name == "volume_capability":
                request.volume_capability.CopyFrom(CAPABILITY)
            elif name == "volume_capabilities":
                request.volume_capabilities.append(CAPABILITY)
        return request

    def undo(self, rpc: str, request: Any) -> None:
        """Take back what a request may have done, so that the next one finds things as before."""
        reverse = {
            "NodeStageVolume": "NodeUnstageVolume",
            "NodePublishVolume": "NodeUnpublishVolume",
        }.get(rpc)
        if reverse is not None:
            undoing = getattr(csi_pb2, f"{reverse}Request")()
            for name in undoing.DESCRIPTOR.fields_by_name:
                setattr(undoing, name, getattr(request, name))
            self.send(reverse, undoing)
        self.send("NodeStageVolume", self.sound("NodeStageVolume"))

    def state(self) -> State:
        """Return all that must not change."""
        others = {
            str(path): (path.stat().st_mode, path.stat().st_size, path.stat().st_nlink)
            for path in WATCHED_BESIDES
        }
        roots = {
            str(root): tuple(sorted(root.iterdir())) for root in (Path("/"), self.server.folder)
        }
        return {**state_of(self.folder), **others, **roots}


@pytest.fixture(scope="module")
def target() -> Iterator[Target]:
    """One server for all tests here: none of them may harm it, or get a secret out of it."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="mockdriver-test-")))
        (folder / "staging").mkdir()
        (folder / "pods").mkdir()
        canaries(folder)
        server = stack.enter_context(serving(scenario=SCENARIO))
        options = [("grpc.max_receive_message_length", -1)]
        channel = grpc.insecure_channel(grpc_target(server.path), options=options)
        with channel:
            target = Target(server, channel, folder)
            target.undo("", None)
            yield target
        with server.connect() as client:
            assert is_ready(client)
        assert server.stop() == 0
        log = server.log()
    for word in ("Traceback", " INTERNAL ", " UNKNOWN ", "\x1b", "\u2028", "\x85"):
        assert word not in log
    assert SECRET not in log


def judge(rpc: str, field: str, answer: Answer) -> None:
    """Assert that an answer is one that the spec allows, and names the field if it is refused."""
    assert answer.code in {"OK", "INVALID_ARGUMENT", *CODES.get(rpc, ())}, answer
    if answer.code == "INVALID_ARGUMENT":
        assert answer.message.startswith((f"{field}: ", f"{field}[", f"{field}.")), answer.message
        assert len(answer.message) < 500
    assert not any(ord(character) < 0x20 for character in answer.message)


RPC_NAMES = [rpc.name for rpc in RPCS]


def string_fields() -> list[tuple[str, str]]:
    """Return RPC and name of each string that a request itself has."""
    return [
        (rpc.name, field.name)
        for rpc in RPCS
        for field in request_fields(rpc)
        if field.type == FieldDescriptor.TYPE_STRING
    ]


def request_fields(rpc: Rpc) -> list[Any]:
    descriptor = cast(Descriptor, getattr(csi_pb2, f"{rpc.name}Request").DESCRIPTOR)
    return list(descriptor.fields)


@pytest.mark.parametrize("rpc", RPC_NAMES)
def test_what_is_sound_succeeds(rpc: str, target: Target) -> None:
    request = target.sound(rpc)
    assert target.send(rpc, request).code == "OK"
    target.undo(rpc, request)


@pytest.mark.parametrize(("rpc", "field"), string_fields(), ids=lambda value: value)
def test_hostile_text_gets_a_code_of_the_spec(rpc: str, field: str, target: Target) -> None:
    before = target.state()
    for text in TEXTS:
        # Where it is a path, also as a name in a folder that is there.
        inside = [f"{target.folder}/canaries/{text}"] if field.endswith("_path") else []
        for value in (text, *inside):
            if rpc == "NodePublishVolume" and field == "target_path" and is_free(value, target):
                continue  # the driver would be right to make a folder there
            request = target.sound(rpc)
            setattr(request, field, value)
            judge(rpc, field, target.send(rpc, request))
            target.undo(rpc, request)
    assert target.state() == before


def is_free(value: str, target: Target) -> bool:
    """Tell whether a path is one where a target can be made: nothing is in its way."""
    path = Path(value.replace("\0", ""))
    return path.is_absolute() and not os.path.lexists(path) and ".." not in path.parts


def test_a_target_of_any_name_is_made_and_removed(target: Target) -> None:
    before = target.state()
    for text in TEXTS:
        if "/" in text or text in {"", ".", ".."} or "\0" in text or len(text.encode()) > 255:
            continue
        request = target.sound("NodePublishVolume")
        request.target_path = f"{target.folder}/pods/{text}"
        assert target.send("NodePublishVolume", request).ok
        assert [path.name for path in (target.folder / "pods").iterdir()] == [text]
        target.undo("NodePublishVolume", request)
        assert target.state() == before


def maps() -> list[tuple[str, str]]:
    """Return RPC and name of each map that a request itself has."""
    return [
        (rpc.name, field.name)
        for rpc in RPCS
        for field in request_fields(rpc)
        if field.message_type is not None and field.message_type.GetOptions().map_entry
    ]


@pytest.mark.parametrize(("rpc", "field"), maps(), ids=lambda value: value)
def test_hostile_text_in_maps_gets_a_code_of_the_spec(rpc: str, field: str, target: Target) -> None:
    before = target.state()
    for text in TEXTS:
        for entry in ({text: text}, {"max_attachments": text}):
            request = target.sound(rpc)
            getattr(request, field).update(entry)
            judge(rpc, field, target.send(rpc, request))
            target.undo(rpc, request)
    assert target.state() == before


def nested_strings() -> list[Place]:
    """Return the strings and maps that lie inside of messages."""
    return [place for place in PLACES if "." in place.path]


@pytest.mark.parametrize("place", nested_strings(), ids=str)
def test_hostile_text_deeper_down_gets_a_code_of_the_spec(place: Place, target: Target) -> None:
    outer = place.path.split(".")[0].split("[")[0]
    for size in (0, 1, 127, 200):
        request = target.sound(place.rpc)
        if size >= 101 or not place.path.endswith(("segments", "mount_flags")):
            place.fill(request, size)
        judge(place.rpc, outer, target.send(place.rpc, request))
        target.undo(place.rpc, request)


NUMBERS = [0, 1, -1, 2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 2**62]


@pytest.mark.parametrize("limit", NUMBERS)
@pytest.mark.parametrize("required", NUMBERS)
def test_every_number_of_bytes_gets_a_code_of_the_spec(
    required: int, limit: int, target: Target
) -> None:
    request = target.sound("CreateVolume")
    request.name = f"pvc-{required}-{limit}"
    request.capacity_range.required_bytes = required
    request.capacity_range.limit_bytes = limit
    answer = target.send("CreateVolume", request)
    judge("CreateVolume", "capacity_range", answer)
    if required < 0 or limit < 0:
        assert answer.code == "INVALID_ARGUMENT"


@pytest.mark.parametrize("number", [number for number in NUMBERS if abs(number) <= 2**31])
def test_every_number_of_entries_gets_a_code_of_the_spec(number: int, target: Target) -> None:
    answer = target.send("ListVolumes", csi_pb2.ListVolumesRequest(max_entries=number))
    judge("ListVolumes", "max_entries", answer)
    assert (answer.code == "OK") == (number >= 0)


@pytest.mark.parametrize("number", [0, 8, 99, -1, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize(
    ("rpc", "field"),
    [
        (rpc.name, field.name)
        for rpc in RPCS
        for field in request_fields(rpc)
        if field.name.startswith("volume_capabilit")
    ],
    ids=str,
)
def test_an_access_mode_that_does_not_exist_is_named(
    rpc: str, field: str, number: int, target: Target
) -> None:
    request = target.sound(rpc)
    wanted = getattr(request, field)
    capability = wanted[0] if field.endswith("ies") else wanted
    capability.access_mode.mode = number
    answer = target.send(rpc, request)
    assert answer.code == "INVALID_ARGUMENT"
    place = f"{field}[0]" if field.endswith("ies") else field
    assert answer.message.startswith(f"{place}.access_mode.mode: ")


@pytest.mark.parametrize("rpc", RPC_NAMES)
def test_unknown_fields_change_nothing(rpc: str, target: Target) -> None:
    request = target.sound(rpc)
    body = UNKNOWN_FIELDS + request.SerializeToString() + UNKNOWN_FIELDS
    assert target.send(rpc, body).code == "OK"
    target.undo(rpc, request)


@pytest.mark.parametrize("rpc", RPC_NAMES)
def test_no_secret_comes_out_of_any_field(rpc: str, target: Target) -> None:
    for volume in ("vol-1", "vol-no-such", "\0"):
        request = target.sound(rpc)
        plant(request)
        if "volume_id" in request.DESCRIPTOR.fields_by_name:
            request.volume_id = volume
        answer = target.send(rpc, request)
        assert SECRET not in str(answer)
        # And where the bytes end in the middle, or go on with nonsense.
        for body in (request.SerializeToString()[:-3], request.SerializeToString() + b"\xff"):
            assert SECRET not in str(target.send(rpc, body))
        target.undo(rpc, target.sound(rpc))


def test_the_log_shows_the_keys_of_secrets_and_not_the_values(target: Target) -> None:
    request = target.sound("ControllerPublishVolume")
    plant(request)
    target.send("ControllerPublishVolume", request)
    log = target.server.log()
    assert KEY in log
    assert "***stripped***" in log
    assert SECRET not in log


@pytest.mark.slow
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_five_megabytes_in_any_field_are_named_in_a_short_message(
    place: Place, target: Target
) -> None:
    request = target.sound(place.rpc)
    place.fill(request, 5_000_000)
    answer = target.send(place.rpc, request)
    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message.startswith(f"{place.path}: has 5000000 bytes")
    assert len(answer.message) < 500


def test_every_field_of_every_rpc_is_among_these() -> None:
    found = {*string_fields(), *maps(), *((place.rpc, place.path) for place in nested_strings())}
    everything = {
        (rpc.name, place)
        for rpc in RPCS
        for place, _, _ in places(
            cast(Descriptor, getattr(csi_pb2, f"{rpc.name}Request").DESCRIPTOR)
        )
    }
    assert found == everything
