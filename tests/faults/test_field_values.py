"""Fields of replies that get other values, out of JSON."""

from __future__ import annotations

from typing import Any, cast

import pytest
from google.protobuf.descriptor import Descriptor
from google.protobuf.message import Message

from csi_spec import csi_pb2
from mockdriver.faults.field_paths import BadPath
from mockdriver.faults.field_values import (
    MAX_ADDED_ITEMS,
    BadValue,
    override,
    parse_for_override,
)


def overridden(message: Message, **values: Any) -> Any:
    """Return a copy of a message with one field overridden, or several."""
    copy = type(message)()
    copy.CopyFrom(message)
    for path, value in values.items():
        put(copy, path, value)
    return copy


def put(message: Message, path: str, value: Any) -> None:
    override(message, parse_for_override(path, cast(Descriptor, message.DESCRIPTOR)), value)


NODE = csi_pb2.ControllerGetNodeInfoResponse(
    max_volumes_per_node=23,
    accessible_topology=csi_pb2.Topology(segments={"zone": "z-1", "region": "r"}),
    published_volume_ids=["vol-1", "vol-2"],
)


def test_a_number_takes_the_place_of_another() -> None:
    assert overridden(NODE, max_volumes_per_node=5).max_volumes_per_node == 5
    assert overridden(NODE, max_volumes_per_node="-9007199254740993").max_volumes_per_node == (
        -9007199254740993
    )


def test_everything_else_stays() -> None:
    found = overridden(NODE, max_volumes_per_node=5)
    found.max_volumes_per_node = 23
    assert found == NODE


def test_null_takes_a_field_away() -> None:
    found = overridden(NODE, max_volumes_per_node=None, accessible_topology=None)
    assert found == csi_pb2.ControllerGetNodeInfoResponse(published_volume_ids=["vol-1", "vol-2"])


def test_a_list_is_replaced_whole() -> None:
    assert list(overridden(NODE, published_volume_ids=["a"]).published_volume_ids) == ["a"]
    assert list(overridden(NODE, published_volume_ids=[]).published_volume_ids) == []


def test_one_item_of_a_list_is_replaced_and_a_short_list_is_filled() -> None:
    found = overridden(NODE)
    put(found, "published_volume_ids[1]", "x")
    put(found, "published_volume_ids.3", "y")
    assert list(found.published_volume_ids) == ["vol-1", "x", "", "y"]
    put(found, "published_volume_ids[0]", None)
    assert list(found.published_volume_ids) == ["", "x", "", "y"]


def test_one_key_of_a_map_is_replaced_added_or_taken_away() -> None:
    found = overridden(NODE)
    put(found, "accessible_topology.segments.zone", "z-9")
    put(found, 'accessible_topology.segments["topology.x/rack"]', "r-1")
    put(found, "accessible_topology.segments.region", None)
    put(found, "accessible_topology.segments.nothing", None)
    assert dict(found.accessible_topology.segments) == {"zone": "z-9", "topology.x/rack": "r-1"}


def test_a_message_is_replaced_whole() -> None:
    found = overridden(NODE, accessible_topology={"segments": {"a": "b"}})
    assert dict(found.accessible_topology.segments) == {"a": "b"}
    found = overridden(NODE, accessible_topology={})
    assert found.HasField("accessible_topology")
    assert dict(found.accessible_topology.segments) == {}


def test_what_is_on_the_way_is_made() -> None:
    found = csi_pb2.ListVolumesResponse()
    put(found, "entries[1].volume.accessible_topology[0].segments.zone", "z")
    put(found, "entries[0].status.published_node_ids[0]", "i-1")
    first, second = found.entries
    assert list(first.status.published_node_ids) == ["i-1"]
    assert dict(second.volume.accessible_topology[0].segments) == {"zone": "z"}
    put(found, "entries[0]", {"volume": {"volumeId": "v", "capacity_bytes": "7"}})
    assert found.entries[0] == csi_pb2.ListVolumesResponse.Entry(
        volume=csi_pb2.Volume(volume_id="v", capacity_bytes=7)
    )


def test_an_optional_scalar_is_written_bare() -> None:
    found = csi_pb2.ProbeResponse()
    put(found, "ready", False)
    assert found.HasField("ready")
    assert found.ready.value is False
    put(found, "ready", None)
    assert not found.HasField("ready")


def test_enums_and_times_are_written_as_protobuf_s_json_has_them() -> None:
    stats = csi_pb2.NodeGetVolumeStatsResponse()
    put(stats, "usage", [{"unit": "BYTES", "total": 5}, {"unit": 7}])
    assert [item.unit for item in stats.usage] == [1, 7]
    snapshot = csi_pb2.CreateSnapshotResponse()
    put(snapshot, "snapshot.creation_time", "2026-11-30T12:00:00Z")
    assert snapshot.snapshot.creation_time.seconds == 1_796_040_000


@pytest.mark.parametrize(
    ("path", "value", "place", "text"),
    [
        ("max_volumes_per_node", "x", (), "a text is not allowed, allowed: a whole number from -9"),
        ("max_volumes_per_node", 1.5, (), "1.5 is not allowed"),
        ("max_volumes_per_node", float("nan"), (), "nan is not allowed"),
        ("max_volumes_per_node", True, (), "true is not allowed"),
        ("max_volumes_per_node", 2**63, (), f"{2**63} is not allowed"),
        ("max_volumes_per_node", {}, (), "a mapping is not allowed"),
        ("published_volume_ids", "x", (), "a text is not allowed, allowed: a list"),
        ("published_volume_ids", ["a", 3], (1,), "3 is not allowed, allowed: text"),
        ("published_volume_ids", ["a", "\ud800"], (1,), "half of a surrogate pair"),
        ("published_volume_ids[0]", [], (), "a list is not allowed, allowed: text"),
        ("accessible_topology", "z", (), "a text is not allowed, allowed: a mapping"),
        ("accessible_topology", {"segment": {}}, ("segment",), "unknown field of Topology"),
        ("accessible_topology", {"segments": {"a": 1}}, ("segments", "a"), "1 is not allowed"),
        ("accessible_topology.segments", {"\udfff": "a"}, ("\udfff",), "surrogate"),
        ("accessible_topology.segments.zone", 3, (), "3 is not allowed, allowed: text"),
    ],
)
def test_a_value_that_is_none_for_its_field_is_told_with_its_place(
    path: str, value: Any, place: tuple[str | int, ...], text: str
) -> None:
    with pytest.raises(BadValue) as caught:
        put(csi_pb2.ControllerGetNodeInfoResponse(), path, value)
    assert caught.value.place == place
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("type_", "path", "value"),
    [
        (csi_pb2.ProbeResponse, "ready", "true"),
        (csi_pb2.CreateSnapshotResponse, "snapshot.creation_time", "now"),
        (csi_pb2.CreateSnapshotResponse, "snapshot.creation_time", 5),
        (csi_pb2.NodeGetVolumeStatsResponse, "usage[0].unit", "BYTE"),
        (csi_pb2.NodeGetVolumeStatsResponse, "usage[0].unit", 2**31),
        (csi_pb2.NodeGetVolumeStatsResponse, "usage[0].unit", 1.0),
    ],
)
def test_so_is_one_of_another_kind(type_: type[Message], path: str, value: Any) -> None:
    with pytest.raises(BadValue):
        put(type_(), path, value)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("max_volumes", "unknown field of ControllerGetNodeInfoResponse"),
        ("published_volume_ids[*]", "an index from 0, as in a[0]"),
        (f"published_volume_ids[{MAX_ADDED_ITEMS}]", "an index from 0 to 999"),
    ],
)
def test_a_field_that_cannot_be_overridden_is_told(path: str, text: str) -> None:
    with pytest.raises(BadPath, match=text.replace("[", r"\[")):
        parse_for_override(path, NODE.DESCRIPTOR)


def test_a_oneof_is_overridden_by_its_member() -> None:
    type_ = csi_pb2.GetPluginCapabilitiesResponse
    with pytest.raises(BadPath, match="service, volume_expansion"):
        parse_for_override("capabilities[0].type", type_.DESCRIPTOR)
    found = type_()
    put(found, "capabilities[0].service.type", "CONTROLLER_SERVICE")
    put(found, "capabilities[0].volume_expansion", {"type": "ONLINE"})
    assert found.capabilities[0].WhichOneof("type") == "volume_expansion"
