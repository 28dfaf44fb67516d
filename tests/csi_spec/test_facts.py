"""csi.proto says what CSI 1.13.0 and KEP-6011 say: no more, no less, nothing else."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest

from csi_spec import csi_pb2, csi_pb2_grpc
from tests.csi_spec.facts import compiled_facts, differences, load_documents, published_facts

COMPILED = compiled_facts(csi_pb2.DESCRIPTOR)


def test_compiled_descriptors_equal_the_published_facts() -> None:
    assert differences(published_facts(load_documents()), COMPILED) == []


def test_every_line_of_the_fact_files_takes_part_in_the_comparison() -> None:
    text = "".join(json.dumps(document) for document in load_documents())
    facts = published_facts(load_documents())

    # A field, an enum value and an extension each have one number; a method has one input.
    numbered = [path for path in facts if re.search(r"( field| value|^extension \S+) \w+$", path)]
    assert len(numbered) == text.count('"number"') > 0
    methods = [path for path in facts if re.search(r" method \w+$", path)]
    assert len(methods) == text.count('"input"') > 0
    # Every mention of an option's name is a use of it, but for the one that declares it.
    uses = [path for path in facts if " option " in path]
    declarations = [path for path in facts if path.startswith("extension ")]
    assert len(uses) + len(declarations) == len(re.findall(r'"(?:alpha_\w+|csi_secret)"', text))
    assert len(declarations) == 7


# What a wrong csi.proto could look like, told by facts that it would then not agree with. Each is
# a path into the fact file of the release, what to put there, and what the report must name.
DEVIATIONS: list[tuple[list[str | int], Any, str]] = [
    (["package"], "csi.v2", "package"),
    (["file"], "csi/csi.proto", "file"),
    (["extensions", 2, "number"], 1061, "extension google.protobuf.FieldOptions csi_secret"),
    (
        ["services", "csi.v1.Node", "methods", 0, "output"],
        "csi.v1.ProbeResponse",
        "service csi.v1.Node method NodeStageVolume",
    ),
    (
        ["services", "csi.v1.SnapshotMetadata", "methods", 0, "server_streaming"],
        False,
        "service csi.v1.SnapshotMetadata method GetMetadataAllocated",
    ),
    (
        ["services", "csi.v1.SnapshotMetadata", "options"],
        [],
        "service csi.v1.SnapshotMetadata option alpha_service",
    ),
    (
        ["messages", "csi.v1.Volume", "fields", 1, "number"],
        6,
        "message csi.v1.Volume field volume_id",
    ),
    (
        ["messages", "csi.v1.Volume", "fields", 2, "type"],
        "map<string, int64>",
        "message csi.v1.Volume field volume_context",
    ),
    (
        ["messages", "csi.v1.ListVolumesResponse", "fields", 0, "type"],
        "csi.v1.ListVolumesResponse.Entry",
        "message csi.v1.ListVolumesResponse field entries",
    ),
    (
        ["messages", "csi.v1.VolumeCapability", "fields", 2, "oneof"],
        "access_type",
        "message csi.v1.VolumeCapability field access_mode",
    ),
    (
        ["messages", "csi.v1.CreateVolumeRequest", "fields", 4, "options"],
        [],
        "message csi.v1.CreateVolumeRequest field secrets option csi_secret",
    ),
    (
        ["messages", "csi.v1.NodeGetVolumeStatsResponse", "reserved"],
        ["2-3"],
        "message csi.v1.NodeGetVolumeStatsResponse reserved 2-3",
    ),
    (
        ["reserved_enum_numbers", "csi.v1.NodeServiceCapability.RPC.Type"],
        [],
        "enum csi.v1.NodeServiceCapability.RPC.Type reserved 4-4",
    ),
    (
        ["enums", "csi.v1.VolumeUsage.Unit", 2, "number"],
        3,
        "enum csi.v1.VolumeUsage.Unit value INODES",
    ),
]


@pytest.mark.parametrize(("place", "instead", "named"), DEVIATIONS)
def test_a_planted_deviation_is_reported_by_name(
    place: list[str | int], instead: object, named: str
) -> None:
    release, kep = copy.deepcopy(load_documents())
    parent: Any = release
    for step in place[:-1]:
        parent = parent[step]
    assert parent.get(place[-1]) != instead
    parent[place[-1]] = instead

    report = differences(published_facts([release, kep]), COMPILED)

    assert report
    assert any(line.startswith(f"{named}: ") for line in report), report


@pytest.mark.parametrize("kind", ["services", "messages", "enums"])
def test_an_element_that_is_only_in_one_of_the_two_is_reported(kind: str) -> None:
    release, kep = copy.deepcopy(load_documents())
    name, facts = release[kind].popitem()
    only_compiled = differences(published_facts([release, kep]), COMPILED)
    release[kind][name] = facts
    release[kind]["csi.v1.Invented"] = facts
    only_published = differences(published_facts([release, kep]), COMPILED)

    assert any(f" {name}: published nothing" in line for line in only_compiled)
    assert any(" csi.v1.Invented: " in line for line in only_published)
    assert all("compiled nothing" in line for line in only_published)


def test_fact_files_that_contradict_each_other_are_refused() -> None:
    release, kep = copy.deepcopy(load_documents())
    kep["enums"]["csi.v1.NodeServiceCapability.RPC.Type"][0]["name"] = "EXPAND_VOLUME"

    with pytest.raises(ValueError, match="EXPAND_VOLUME: 3 and 9"):
        published_facts([release, kep])


def test_each_service_has_a_stub_a_servicer_and_a_way_to_add_it() -> None:
    for name in csi_pb2.DESCRIPTOR.services_by_name:
        for attribute in (f"{name}Stub", f"{name}Servicer", f"add_{name}Servicer_to_server"):
            assert hasattr(csi_pb2_grpc, attribute), attribute
