"""Topology keys, and the choice of a zone."""

from __future__ import annotations

import pytest

from csi_spec import csi_pb2
from mockdriver.driver.errors import NoAccessibleZone
from mockdriver.driver.topology import TopologyKeys

KEYS = TopologyKeys.generic("mock.csi.example.com")
ZONE_KEY = "topology.mock.csi.example.com/zone"
REGION_KEY = "topology.mock.csi.example.com/region"
ZONES = ["zone-a", "zone-b", "zone-c"]


def zone(name: str) -> csi_pb2.Topology:
    return csi_pb2.Topology(segments={ZONE_KEY: name})


def choose(*, preferred: list[str] | None = None, requisite: list[str] | None = None) -> list[str]:
    """Choose among three zones."""
    requirement = csi_pb2.TopologyRequirement(
        preferred=[zone(name) for name in preferred or []],
        requisite=[zone(name) for name in requisite or []],
    )
    return KEYS.zones_to_try(requirement, ZONES, "region-1")


# ------------------------------------------------------------------------------------------ keys


def test_a_zone_has_two_segments_under_the_name_of_the_driver() -> None:
    assert dict(KEYS.of_zone("zone-a", "region-1").segments) == {
        ZONE_KEY: "zone-a",
        REGION_KEY: "region-1",
    }


@pytest.mark.parametrize(
    ("zone_name", "region", "segments"),
    [
        ("zone-a", "", {ZONE_KEY: "zone-a"}),
        ("", "region-1", {REGION_KEY: "region-1"}),
        ("", "", {}),
    ],
)
def test_a_key_without_a_value_is_left_out_and_never_empty(
    zone_name: str, region: str, segments: dict[str, str]
) -> None:
    assert dict(KEYS.of_zone(zone_name, region).segments) == segments


# ---------------------------------------------------------------------------------------- choice


def test_without_a_requirement_no_zone_is_chosen() -> None:
    assert choose() == []


def test_the_first_preferred_zone_wins() -> None:
    zones = choose(preferred=["zone-c", "zone-b"], requisite=["zone-a", "zone-b", "zone-c"])
    assert zones[0] == "zone-c"


def test_the_others_follow_in_the_order_of_preference_and_then_of_the_requisite_ones() -> None:
    everything = ["zone-b", "zone-a", "zone-c"]
    assert choose(preferred=["zone-c"], requisite=everything) == ["zone-c", "zone-b", "zone-a"]
    assert choose(preferred=["zone-c", "zone-a"], requisite=everything) == [
        *("zone-c", "zone-a", "zone-b")
    ]


def test_no_zone_is_tried_twice() -> None:
    assert choose(preferred=["zone-b"] * 3, requisite=["zone-b", "zone-b"]) == ["zone-b"]


def test_a_preferred_zone_that_does_not_exist_is_passed_over() -> None:
    zones = choose(preferred=["zone-x", "zone-b"], requisite=["zone-a", "zone-b"])
    assert zones == ["zone-b", "zone-a"]


def test_where_no_preferred_zone_can_be_had_a_requisite_one_is_taken() -> None:
    assert choose(preferred=["zone-x"], requisite=["zone-x", "zone-b"]) == ["zone-b"]


def test_a_preferred_zone_outside_the_requisite_ones_is_not_taken() -> None:
    assert choose(preferred=["zone-a", "zone-c"], requisite=["zone-b", "zone-c"]) == [
        *("zone-c", "zone-b")
    ]
    assert choose(preferred=["zone-a"], requisite=["zone-b"]) == ["zone-b"]


def test_without_preferred_ones_the_first_requisite_zone_is_taken() -> None:
    assert choose(requisite=["zone-c", "zone-a"]) == ["zone-c", "zone-a"]


def test_preferred_ones_alone_are_enough() -> None:
    assert choose(preferred=["zone-b"]) == ["zone-b"]


@pytest.mark.parametrize(
    ("preferred", "requisite"), [([], ["zone-x"]), (["zone-x"], []), (["zone-a"], ["zone-x"])]
)
def test_zones_that_cannot_be_had_are_refused_with_those_there_are(
    preferred: list[str], requisite: list[str]
) -> None:
    with pytest.raises(NoAccessibleZone, match="the zones are: zone-a, zone-b, zone-c"):
        choose(preferred=preferred, requisite=requisite)


@pytest.mark.parametrize(
    ("segments", "chosen"),
    [
        ({REGION_KEY: "region-1"}, ZONES),
        ({REGION_KEY: "region-1", ZONE_KEY: "zone-b"}, ["zone-b"]),
        ({}, ZONES),
    ],
)
def test_every_segment_given_must_fit_and_no_more(
    segments: dict[str, str], chosen: list[str]
) -> None:
    requirement = csi_pb2.TopologyRequirement(requisite=[csi_pb2.Topology(segments=segments)])
    assert KEYS.zones_to_try(requirement, ZONES, "region-1") == chosen


@pytest.mark.parametrize(
    "segments",
    [
        {REGION_KEY: "region-2"},
        {REGION_KEY: "region-2", ZONE_KEY: "zone-a"},
        {ZONE_KEY: ""},
        {"topology.kubernetes.io/zone": "zone-a"},
        {ZONE_KEY: "zone-a", "rack": "r1"},
    ],
)
def test_a_segment_that_this_driver_does_not_have_fits_no_zone(segments: dict[str, str]) -> None:
    requirement = csi_pb2.TopologyRequirement(requisite=[csi_pb2.Topology(segments=segments)])
    with pytest.raises(NoAccessibleZone):
        KEYS.zones_to_try(requirement, ZONES, "region-1")


def test_a_cloud_without_zones_has_none_to_choose() -> None:
    requirement = csi_pb2.TopologyRequirement(requisite=[zone("zone-a")])
    with pytest.raises(NoAccessibleZone):
        KEYS.zones_to_try(requirement, [], "region-1")
