"""Checks of request fields that need no knowledge but the message's shape."""

from __future__ import annotations

from typing import Any, cast

import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from csi_spec import csi_pb2
from mockdriver.driver.errors import InvalidField
from mockdriver.driver.field_checks import MAP_BYTES, NODE_ID_BYTES, STRING_BYTES, checker
from mockdriver.driver.rpcs import RPCS
from tests.driver.small_driver import Mode, capability, request_class

EURO = "€"
"""Three bytes in UTF-8."""
CLEF = "\U0001d11e"
"""Four bytes in UTF-8, the most that a character has."""


def problem_of(message: Message, *required: str) -> str | None:
    """Return what is wrong with a message, or None."""
    try:
        checker(cast(Descriptor, message.DESCRIPTOR), required)(message)
    except InvalidField as problem:
        return str(problem)
    return None


def string_of(size_bytes: int, filler: str) -> str:
    """Return a string of this size, of `filler` and as few others as possible."""
    count, rest = divmod(size_bytes, len(filler.encode()))
    return filler * count + "x" * rest


# ------------------------------------------------------------------------------- required fields


def required_fields() -> list[tuple[str, str]]:
    """Return RPC and name of each field that the table requires."""
    return [(rpc.name, field) for rpc in RPCS for field in rpc.required]


def complete_request(rpc: str) -> Any:
    """Return a request that has every field that any RPC requires."""
    request: Any = request_class(rpc)()
    names = request.DESCRIPTOR.fields_by_name
    paths = ("staging_target_path", "target_path", "volume_path")
    for field in ("name", "volume_id", "node_id", *paths):
        if field in names:
            setattr(request, field, "given")
    if "volume_capability" in names:
        request.volume_capability.CopyFrom(capability())
    if "volume_capabilities" in names:
        request.volume_capabilities.append(capability())
    return request


@pytest.mark.parametrize(("rpc", "field"), required_fields())
def test_a_required_field_that_is_missing_is_named(rpc: str, field: str) -> None:
    row = next(row for row in RPCS if row.name == rpc)
    request = complete_request(rpc)
    assert problem_of(request, *row.required) is None
    request.ClearField(field)
    problem = problem_of(request, *row.required)
    assert problem is not None
    assert problem.startswith(f"{field}: is required, got ")


@pytest.mark.parametrize(
    ("field", "nothing"),
    [
        ("volume_id", "an empty string"),
        ("volume_capability", "nothing"),
    ],
)
def test_what_was_given_instead_is_told(field: str, nothing: str) -> None:
    request = csi_pb2.ControllerPublishVolumeRequest()
    assert problem_of(request, field) == f"{field}: is required, got {nothing}"


def test_an_empty_list_is_missing() -> None:
    problem = problem_of(csi_pb2.CreateVolumeRequest(), "volume_capabilities")
    assert problem == "volume_capabilities: is required, got an empty list"


def test_a_message_that_is_there_but_empty_is_not_missing() -> None:
    request = csi_pb2.CreateVolumeRequest(capacity_range=csi_pb2.CapacityRange())
    assert problem_of(request, "capacity_range") is None


def test_the_first_missing_field_of_the_table_is_told_first() -> None:
    problem = problem_of(csi_pb2.ControllerPublishVolumeRequest(), "node_id", "volume_id")
    assert problem is not None
    assert problem.startswith("node_id: ")


# ----------------------------------------------------------------------------------- size limits


@pytest.mark.parametrize("filler", ["x", EURO, CLEF])
def test_a_string_may_have_128_bytes_and_not_one_more(filler: str) -> None:
    full = csi_pb2.DeleteVolumeRequest(volume_id=string_of(STRING_BYTES, filler))
    assert problem_of(full) is None
    over = csi_pb2.DeleteVolumeRequest(volume_id=string_of(STRING_BYTES + 1, filler))
    problem = problem_of(over)
    assert problem is not None
    assert problem.startswith("volume_id: has 129 bytes, allowed are 128: '")


@pytest.mark.parametrize("filler", ["x", EURO, CLEF])
def test_a_node_id_may_have_256_bytes_and_not_one_more(filler: str) -> None:
    full = csi_pb2.ControllerGetNodeInfoRequest(node_id=string_of(NODE_ID_BYTES, filler))
    assert problem_of(full) is None
    over = csi_pb2.ControllerGetNodeInfoRequest(node_id=string_of(NODE_ID_BYTES + 1, filler))
    problem = problem_of(over)
    assert problem is not None
    assert problem.startswith("node_id: has 257 bytes, allowed are 256: '")


@pytest.mark.parametrize("field", ["staging_target_path", "target_path"])
def test_a_path_may_be_as_long_as_linux_allows(field: str) -> None:
    full = csi_pb2.NodePublishVolumeRequest(**{field: "/" * 4096})  # type: ignore[arg-type]
    assert problem_of(full) is None
    over = csi_pb2.NodePublishVolumeRequest(**{field: "/" * 4097})  # type: ignore[arg-type]
    problem = problem_of(over)
    assert problem is not None
    assert problem.startswith(f"{field}: has 4097 bytes, allowed are 4096")


def test_a_message_about_a_huge_string_stays_short() -> None:
    problem = problem_of(csi_pb2.DeleteVolumeRequest(volume_id="v" * 10_000_000))
    assert problem is not None
    assert len(problem) < 250


@pytest.mark.parametrize("filler", ["x", EURO])
def test_a_map_may_have_4_kib_of_keys_and_values_and_not_a_byte_more(filler: str) -> None:
    value = string_of(MAP_BYTES - 3, filler)
    full = csi_pb2.CreateVolumeRequest(parameters={"k": value, "l": "m"})
    assert problem_of(full) is None
    over = csi_pb2.CreateVolumeRequest(parameters={"k": value, "l": "mn"})
    assert problem_of(over) == "parameters: has 4097 bytes in all, allowed are 4096"


def test_many_small_entries_of_a_map_count_together() -> None:
    entries = {f"{n:04}": "wert" for n in range(MAP_BYTES // 8)}
    assert problem_of(csi_pb2.CreateVolumeRequest(parameters=entries)) is None
    over = csi_pb2.CreateVolumeRequest(parameters={**entries, "k": ""})
    assert problem_of(over) == "parameters: has 4097 bytes in all, allowed are 4096"


def test_each_map_has_a_limit_of_its_own() -> None:
    half = {"k": "v" * 3000}
    request = csi_pb2.CreateVolumeRequest(parameters=half, secrets=half, mutable_parameters=half)
    assert problem_of(request) is None


def test_the_problem_with_a_map_does_not_tell_its_values() -> None:
    secrets = {"password": "hunter2" * 1000}
    problem = problem_of(csi_pb2.CreateVolumeRequest(secrets=secrets))
    assert problem is not None
    assert "hunter2" not in problem


@pytest.mark.parametrize("filler", ["x", EURO])
def test_all_mount_flags_together_may_have_4_kib_and_not_a_byte_more(filler: str) -> None:
    def request(*flags: str) -> csi_pb2.ControllerPublishVolumeRequest:
        publish = csi_pb2.ControllerPublishVolumeRequest(volume_capability=capability())
        publish.volume_capability.mount.mount_flags.extend(flags)
        return publish

    long = string_of(MAP_BYTES - 2, filler)
    assert problem_of(request(long, "ro")) is None
    assert problem_of(request(long, "ro", "x")) == (
        "volume_capability.mount.mount_flags: has 4097 bytes in all, allowed are 4096"
    )


# ----------------------------------------------------------------------------------------- paths


def test_a_field_inside_a_message_is_named_with_its_path() -> None:
    request = csi_pb2.ControllerPublishVolumeRequest(volume_capability=capability())
    request.volume_capability.mount.fs_type = "f" * 129
    problem = problem_of(request)
    assert problem is not None
    assert problem.startswith("volume_capability.mount.fs_type: has 129 bytes")


def test_a_field_inside_a_list_is_named_with_its_place() -> None:
    request = csi_pb2.CreateVolumeRequest(volume_capabilities=[capability() for _ in range(3)])
    request.volume_capabilities[2].mount.volume_mount_group = "g" * 129
    problem = problem_of(request)
    assert problem is not None
    assert problem.startswith("volume_capabilities[2].mount.volume_mount_group: has 129 bytes")


def test_a_map_inside_lists_inside_a_message_is_named_with_its_path() -> None:
    request = csi_pb2.CreateVolumeRequest()
    for size in (10, 5000):
        request.accessibility_requirements.preferred.add(segments={"zone": "z" * size})
    assert problem_of(request) == (
        "accessibility_requirements.preferred[1].segments: has 5004 bytes in all, allowed are 4096"
    )


def test_a_string_of_a_repeated_field_is_named_with_its_place() -> None:
    ids = ["snap-1", "s" * 129]
    problem = problem_of(csi_pb2.DeleteVolumeGroupSnapshotRequest(snapshot_ids=ids))
    assert problem is not None
    assert problem.startswith("snapshot_ids[1]: has 129 bytes, allowed are 128")


def test_each_string_of_a_repeated_field_has_a_limit_of_its_own() -> None:
    ids = ["s" * 128] * 100
    assert problem_of(csi_pb2.DeleteVolumeGroupSnapshotRequest(snapshot_ids=ids)) is None


def test_a_message_that_is_not_there_is_not_looked_into() -> None:
    assert problem_of(csi_pb2.ControllerExpandVolumeRequest(volume_id="vol-1")) is None


# ---------------------------------------------------------------------------- VolumeCapability


def test_a_capability_needs_an_access_type() -> None:
    request = csi_pb2.CreateVolumeRequest(volume_capabilities=[capability(), capability()])
    request.volume_capabilities[1].ClearField("mount")
    assert problem_of(request) == (
        "volume_capabilities[1].access_type: is required, set either mount or block"
    )


@pytest.mark.parametrize("access_mode", [None, Mode(), Mode(mode=Mode.UNKNOWN)])
def test_a_capability_needs_an_access_mode(access_mode: Any) -> None:
    request = csi_pb2.ControllerPublishVolumeRequest(
        volume_capability=csi_pb2.VolumeCapability(
            block=csi_pb2.VolumeCapability.BlockVolume(), access_mode=access_mode
        )
    )
    assert problem_of(request) == "volume_capability.access_mode.mode: is required, got UNKNOWN"


@pytest.mark.parametrize("mode", [-1, 8, 99, 2**31 - 1])
def test_an_access_mode_that_csi_does_not_define_is_refused(mode: int) -> None:
    request = csi_pb2.ControllerPublishVolumeRequest(
        volume_capability=capability(Mode.Mode.ValueType(mode))
    )
    assert problem_of(request) == (
        f"volume_capability.access_mode.mode: is {mode}, which CSI does not define"
    )


@pytest.mark.parametrize("mode", [mode for mode in Mode.Mode.values() if mode != Mode.UNKNOWN])
def test_every_access_mode_of_csi_is_taken_with_either_access_type(mode: int) -> None:
    mounted = capability(Mode.Mode.ValueType(mode))
    block = csi_pb2.VolumeCapability(
        block=csi_pb2.VolumeCapability.BlockVolume(), access_mode=mounted.access_mode
    )
    assert problem_of(csi_pb2.CreateVolumeRequest(volume_capabilities=[mounted, block])) is None
