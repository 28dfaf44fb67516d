"""Fields of requests by path, their values as text, and the patterns that these fit."""

from __future__ import annotations

from typing import Any

import pytest
from google.protobuf import wrappers_pb2

from csi_spec import csi_pb2
from mockdriver.faults import field_paths
from mockdriver.faults.field_paths import (
    MAX_INDEX,
    MAX_PATH_CHARACTERS,
    BadPath,
    matches,
    parse,
    pattern_for,
)
from mockdriver.faults.flaws import BadText, UnknownWord
from mockdriver.faults.pattern import Pattern
from mockdriver.journal import redaction

Mode = csi_pb2.VolumeCapability.AccessMode

REQUEST = csi_pb2.CreateVolumeRequest(
    name="pvc-1",
    capacity_range=csi_pb2.CapacityRange(required_bytes=-5),
    volume_capabilities=[
        csi_pb2.VolumeCapability(
            mount=csi_pb2.VolumeCapability.MountVolume(fs_type="ext4", mount_flags=["ro", "x"]),
            access_mode=Mode(mode=Mode.SINGLE_NODE_WRITER),
        ),
        csi_pb2.VolumeCapability(
            block=csi_pb2.VolumeCapability.BlockVolume(),
            access_mode=Mode(mode=99),  # type: ignore[arg-type]  # what CSI does not define
        ),
    ],
    parameters={"type": "fast", "csi.storage.k8s.io/fstype": "xfs", 'a"[0]': "odd", "": "empty"},
    secrets={"key": "a secret"},
    accessibility_requirements=csi_pb2.TopologyRequirement(
        requisite=[csi_pb2.Topology(segments={"zone": "z-1"}), csi_pb2.Topology()]
    ),
)


def texts(path: str, message: Any = REQUEST) -> list[str | None]:
    return list(parse(path, message.DESCRIPTOR).texts(message))


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("name", ["pvc-1"]),
        ("capacity_range.required_bytes", ["-5"]),
        ("capacity_range.limit_bytes", ["0"]),
        ("capacity_range", ["there"]),
        ("volume_content_source", [None]),
        ("volume_content_source.snapshot.snapshot_id", [None]),
        ("volume_content_source.type", [None]),
        ("volume_capabilities[0].access_mode.mode", ["SINGLE_NODE_WRITER"]),
        ("volume_capabilities.0.access_mode.mode", ["SINGLE_NODE_WRITER"]),
        ("volume_capabilities[1].access_mode.mode", ["99"]),
        ("volume_capabilities[2].access_mode.mode", [None]),
        ("volume_capabilities[*].access_mode.mode", ["SINGLE_NODE_WRITER", "99"]),
        ("volume_capabilities.*.access_type", ["mount", "block"]),
        ("volume_capabilities[0].mount.fs_type", ["ext4"]),
        ("volume_capabilities[1].mount.fs_type", [None]),
        ("volume_capabilities[1].block", ["there"]),
        ("volume_capabilities[0].mount.mount_flags[1]", ["x"]),
        ("volume_capabilities[0].mount.mount_flags[*]", ["ro", "x"]),
        ("volume_capabilities[0].mount.mount_flags", ["there"]),
        ("volume_capabilities[0]", ["there"]),
        ("parameters", ["there"]),
        ("mutable_parameters", [None]),
        ("parameters.type", ["fast"]),
        ("parameters.other", [None]),
        ("parameters.csi.storage.k8s.io/fstype", ["xfs"]),
        ('parameters["csi.storage.k8s.io/fstype"]', ["xfs"]),
        ("parameters['csi.storage.k8s.io/fstype']", ["xfs"]),
        (r'parameters["a\"[0]"]', ["odd"]),
        ("""parameters['a"[0]']""", ["odd"]),
        ('parameters.a"[0]', ["odd"]),
        ('parameters[""]', ["empty"]),
        ("accessibility_requirements.requisite[0].segments.zone", ["z-1"]),
        ("accessibility_requirements.requisite[*].segments.zone", ["z-1", None]),
        ("accessibility_requirements.preferred[*].segments.zone", [None]),
    ],
)
def test_a_path_leads_to_values_as_text(path: str, found: list[str | None]) -> None:
    assert texts(path) == found


def test_flags_are_true_and_false() -> None:
    request = csi_pb2.ControllerPublishVolumeRequest(readonly=True)
    assert texts("readonly", request) == ["true"]
    assert texts("readonly", csi_pb2.ControllerPublishVolumeRequest()) == ["false"]


def test_optional_scalars_and_times_are_their_values() -> None:
    ready = csi_pb2.ProbeResponse(ready=wrappers_pb2.BoolValue(value=False))
    assert texts("ready", ready) == ["false"]
    assert texts("ready", csi_pb2.ProbeResponse()) == [None]
    snapshot = csi_pb2.Snapshot()
    snapshot.creation_time.FromJsonString("2026-11-30T12:00:00Z")
    assert texts("creation_time", snapshot) == ["2026-11-30T12:00:00Z"]


@pytest.mark.parametrize(
    ("path", "kind", "name", "nearest"),
    [
        ("nam", "field of CreateVolumeRequest", "nam", "name"),
        ("capacity_range.limitbytes", "field of CapacityRange", "limitbytes", "limit_bytes"),
        ("volume_capabilities[0].acces_type", "field of VolumeCapability", "acces_type", "block"),
        ("volume_capabilities[0].mount.fstype", "field of MountVolume", "fstype", "fs_type"),
    ],
)
def test_an_unknown_field_is_told_with_the_message_that_lacks_it(
    path: str, kind: str, name: str, nearest: str
) -> None:
    with pytest.raises(BadPath) as caught:
        parse(path, csi_pb2.CreateVolumeRequest.DESCRIPTOR)
    flaw = caught.value.flaw
    assert isinstance(flaw, UnknownWord)
    assert (flaw.kind, flaw.given) == (kind, name)
    assert nearest in flaw.known


@pytest.mark.parametrize(
    ("path", "allowed"),
    [
        ("", field_paths.PATH_WORDS),
        (".name", field_paths.PATH_WORDS),
        ("capacity_range.", field_paths.PATH_WORDS),
        ("capacity_range..limit_bytes", field_paths.PATH_WORDS),
        ("capacity_range[0]", field_paths.PATH_WORDS),
        ("volume_capabilities[0]x", field_paths.PATH_WORDS),
        ("volume_capabilities[0][0]", field_paths.PATH_WORDS),
        ("name.x", "nothing after name, which has no fields"),
        ("volume_capabilities[0].access_type.mount", "nothing after access_type, which is a oneof"),
        ("volume_capabilities.mount", "an index after volume_capabilities, as in "),
        ("volume_capabilities[-1]", "an index after volume_capabilities, as in "),
        ("volume_capabilities[x]", "an index after volume_capabilities, as in "),
        (f"volume_capabilities[{MAX_INDEX + 1}]", f"an index from 0 to {MAX_INDEX}"),
        ("parameters.", 'a key after the map, as in parameters["a.b/c"]'),
        ("parameters[", 'a key after the map, as in parameters["a.b/c"]'),
        ("parameters[type]", 'a key after the map, as in parameters["a.b/c"]'),
        (r'parameters["\ud800"]', 'a key after the map, as in parameters["a.b/c"]'),
        ('parameters["a"].b', 'a key after the map, as in parameters["a.b/c"]'),
        ("n" * (MAX_PATH_CHARACTERS + 1), f"at most {MAX_PATH_CHARACTERS} characters"),
        ("capacity_range." * 1_000, f"at most {MAX_PATH_CHARACTERS} characters"),
    ],
)
def test_what_is_no_path_is_told_with_what_is_allowed(path: str, allowed: str) -> None:
    with pytest.raises(BadPath) as caught:
        parse(path, csi_pb2.CreateVolumeRequest.DESCRIPTOR)
    flaw = caught.value.flaw
    assert isinstance(flaw, BadText)
    assert flaw.given == path
    assert flaw.allowed.startswith(allowed)


@pytest.mark.parametrize(
    ("path", "is_secret"),
    [
        ("secrets", True),
        ("secrets.key", True),
        ("parameters.type", False),
        (f"parameters.{field_paths.SERVICE_ACCOUNT_TOKENS}", True),
    ],
)
def test_a_path_knows_whether_its_values_are_secret(path: str, is_secret: bool) -> None:
    assert parse(path, csi_pb2.CreateVolumeRequest.DESCRIPTOR).is_secret == is_secret


def test_the_tokens_of_service_accounts_are_those_that_the_journal_strips() -> None:
    assert field_paths.SERVICE_ACCOUNT_TOKENS == redaction.SERVICE_ACCOUNT_TOKENS


# ------------------------------------------------------------------------------------- patterns


def compared(path: str, wanted: str, message: Any = REQUEST) -> bool:
    """Tell whether a message has a value as is wanted."""
    found = parse(path, message.DESCRIPTOR)
    pattern = pattern_for(found, wanted)
    assert isinstance(pattern, Pattern), pattern
    return any(matches(pattern, text) for text in found.texts(message))


@pytest.mark.parametrize(
    ("path", "wanted", "is_met"),
    [
        ("name", "pvc-*", True),
        ("name", "pvc", False),
        ("capacity_range.required_bytes", "-5", True),
        ("capacity_range.required_bytes", "-005", True),
        ("capacity_range.required_bytes", "-*", True),
        ("volume_capabilities[0].access_mode.mode", "SINGLE_NODE_WRITER", True),
        ("volume_capabilities[0].access_mode.mode", "1", True),
        ("volume_capabilities[0].access_mode.mode", "SINGLE_*", True),
        ("volume_capabilities[1].access_mode.mode", "99", True),
        ("volume_capabilities[*].access_mode.mode", "99", True),
        ("volume_capabilities[*].access_mode.mode", "5", False),
        ("volume_capabilities[0].access_type", "mount", True),
        ("volume_capabilities[0].access_type", "block", False),
        ("volume_content_source", "", True),
        ("volume_content_source", "*", False),
        ("capacity_range", "*", True),
        ("capacity_range", "", False),
        ("parameters.other", "", True),
        ("parameters.other", "*", False),
        ("parameters.type", "", False),
        ("accessibility_requirements.requisite[*].segments.zone", "", True),
        ("mutable_parameters.type", "", True),
    ],
)
def test_a_value_is_compared_as_text(path: str, wanted: str, is_met: bool) -> None:
    assert compared(path, wanted) == is_met


def test_an_empty_text_is_there_and_empty() -> None:
    request = csi_pb2.DeleteVolumeRequest()
    assert compared("volume_id", "", request)
    assert compared("volume_id", "*", request)
    assert not compared("volume_id", "?*", request)


@pytest.mark.parametrize(
    ("path", "wanted", "flaw"),
    [
        ("capacity_range.required_bytes", "5GiB", "whole number"),
        ("capacity_range.required_bytes", "1.5", "whole number"),
        ("capacity_range", "x", "capacity_range is there"),
        ("parameters", "fast", "parameters is there"),
        ("volume_capabilities[0].mount.mount_flags", "ro", "is there"),
        ("volume_capabilities[0].access_mode.mode", "SINGLE", "unknown value of Mode"),
        ("volume_capabilities[0].access_type", "mounted", "unknown member of access_type"),
    ],
)
def test_a_value_that_no_field_can_have_is_a_flaw(path: str, wanted: str, flaw: str) -> None:
    found = pattern_for(parse(path, csi_pb2.CreateVolumeRequest.DESCRIPTOR), wanted)
    assert not isinstance(found, Pattern)
    assert flaw in str(found)


def test_a_flag_is_true_or_false_or_a_pattern() -> None:
    path = parse("readonly", csi_pb2.ControllerPublishVolumeRequest.DESCRIPTOR)
    assert isinstance(pattern_for(path, "yes"), BadText)
    assert isinstance(pattern_for(path, "true"), Pattern)
    assert isinstance(pattern_for(path, "*"), Pattern)
