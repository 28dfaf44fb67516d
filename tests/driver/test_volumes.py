"""CreateVolume and DeleteVolume."""

from __future__ import annotations

from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.driver.capabilities import VOLUME_ACCESSIBILITY_CONSTRAINTS
from tests.cloud.small_region import OTHER_ZONE, ZONE, SmallRegion
from tests.driver.small_driver import GIB, Mode, SmallDriver, capability, in_zone, of, topology


def two_zones(**options: Any) -> SmallDriver:
    """Return a driver over a region with an instance in each of two zones."""
    driver = SmallDriver(**options)
    driver.region.add_instance("i-1", slots=3, zone=ZONE)
    driver.region.add_instance("i-2", slots=3, zone=OTHER_ZONE)
    return driver


def capacity_range(required: int = 0, limit: int = 0) -> csi_pb2.CapacityRange:
    return csi_pb2.CapacityRange(required_bytes=required, limit_bytes=limit)


# -------------------------------------------------------------------------------------- creating


def test_a_volume_is_a_disk_of_the_cloud() -> None:
    driver = two_zones()
    volume = of(driver.create("pvc-1", capacity_range=capacity_range(7 * GIB))).volume
    disk = driver.operator.disk(volume.volume_id)
    assert volume.capacity_bytes == 7 * GIB
    assert disk.size_gib == 7
    assert list(volume.accessible_topology) == [topology(disk.zone)]


def test_the_same_name_gives_the_same_volume() -> None:
    driver = two_zones()
    first = of(driver.create("pvc-1"))
    assert of(driver.create("pvc-1")) == first
    assert driver.cloud_calls()["create_disk"] == 1


def test_another_name_gives_another_volume() -> None:
    driver = two_zones()
    ids = {of(driver.create(f"pvc-{n}")).volume.volume_id for n in range(5)}
    assert len(ids) == 5


def test_the_name_of_a_deleted_volume_gives_a_new_one() -> None:
    driver = two_zones()
    first = of(driver.create("pvc-1")).volume
    of(driver.delete(first.volume_id))
    assert of(driver.create("pvc-1")).volume.volume_id != first.volume_id


def test_a_disk_of_an_operator_with_such_an_id_is_no_volume_of_this_name() -> None:
    driver = two_zones()
    driver.region.add_disk("pvc-1")
    assert of(driver.create("pvc-1")).volume.volume_id != "pvc-1"


@pytest.mark.parametrize(
    "banned",
    [*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0)],
    ids=lambda code: f"U+{code:04X}",
)
def test_a_control_character_in_a_name_is_an_invalid_argument(banned: int) -> None:
    answer = two_zones().create(f"pvc{chr(banned)}1")
    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message.startswith("name: must not contain control characters: ")
    assert chr(banned) not in answer.message


@pytest.mark.parametrize("allowed", [0x09, 0x0A, 0x0D, 0x20, 0x7E, 0xA0, 0x2028, 0x1F600])
def test_any_other_character_in_a_name_is_fine(allowed: int) -> None:
    driver = two_zones()
    first = of(driver.create(f"pvc{chr(allowed)}1"))
    assert of(driver.create(f"pvc{chr(allowed)}1")) == first


@pytest.mark.parametrize("mode", [mode for mode in Mode.Mode.values() if mode != Mode.UNKNOWN])
def test_a_volume_can_be_created_for_every_access_mode(mode: int) -> None:
    wanted = [capability(Mode.Mode.ValueType(mode)), capability()]
    assert two_zones().create("pvc-1", volume_capabilities=wanted).ok


@pytest.mark.parametrize(
    "source",
    [
        csi_pb2.VolumeContentSource(),
        csi_pb2.VolumeContentSource(
            snapshot=csi_pb2.VolumeContentSource.SnapshotSource(snapshot_id="snap-1")
        ),
        csi_pb2.VolumeContentSource(
            volume=csi_pb2.VolumeContentSource.VolumeSource(volume_id="vol-1")
        ),
    ],
)
def test_a_volume_from_a_source_is_refused_rather_than_left_empty(
    source: csi_pb2.VolumeContentSource,
) -> None:
    driver = two_zones()
    answer = driver.create("pvc-1", volume_content_source=source)
    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message.startswith("volume_content_source: ")
    assert driver.cloud_calls() == {}


# -------------------------------------------------------------------------------------- capacity


@pytest.mark.parametrize(
    ("required", "limit", "capacity_bytes"),
    [
        (0, 0, 10 * GIB),
        (1, 0, GIB),
        (GIB + 1, 0, 2 * GIB),
        (0, 4 * GIB + 1, 4 * GIB),
        (3 * GIB, 3 * GIB, 3 * GIB),
        (65_536 * GIB, 0, 65_536 * GIB),
    ],
)
def test_a_volume_has_the_smallest_size_that_will_do(
    required: int, limit: int, capacity_bytes: int
) -> None:
    wanted = capacity_range(required, limit)
    volume = of(two_zones().create("pvc-1", capacity_range=wanted)).volume
    assert volume.capacity_bytes == capacity_bytes


@pytest.mark.parametrize(
    ("required", "limit", "code"),
    [
        (GIB + 1, 2 * GIB - 1, "OUT_OF_RANGE"),
        (0, GIB - 1, "OUT_OF_RANGE"),
        (65_536 * GIB + 1, 0, "OUT_OF_RANGE"),
        (2**63 - 1, 0, "OUT_OF_RANGE"),
        (2**63 - 1, 2**63 - 1, "OUT_OF_RANGE"),
        (-1, 0, "INVALID_ARGUMENT"),
        (0, -(2**63), "INVALID_ARGUMENT"),
        (2, 1, "INVALID_ARGUMENT"),
    ],
)
def test_a_size_that_cannot_be_had_makes_no_disk(required: int, limit: int, code: str) -> None:
    driver = two_zones()
    answer = driver.create("pvc-1", capacity_range=capacity_range(required, limit))
    assert answer.code == code
    assert of(driver.create("pvc-1")).volume.volume_id == "vol-00000001"


@pytest.mark.parametrize(
    ("required", "limit", "code"),
    [
        (0, 0, "OK"),
        (7 * GIB, 7 * GIB, "OK"),
        (7 * GIB - 5, 0, "OK"),
        (1, 0, "OK"),
        (0, 7 * GIB, "OK"),
        (7 * GIB + 1, 0, "ALREADY_EXISTS"),
        (0, 7 * GIB - 1, "ALREADY_EXISTS"),
        (-1, 0, "INVALID_ARGUMENT"),
    ],
)
def test_a_repeat_is_judged_by_the_size_that_the_volume_has(
    required: int, limit: int, code: str
) -> None:
    driver = two_zones()
    of(driver.create("pvc-1", capacity_range=capacity_range(7 * GIB)))
    answer = driver.create("pvc-1", capacity_range=capacity_range(required, limit))
    assert answer.code == code


# ----------------------------------------------------------------------------------------- zones


def zone_of(driver: SmallDriver, name: str, **fields: Any) -> str:
    """Create a volume and return the zone of its disk."""
    volume = of(driver.create(name, **fields)).volume
    zone = driver.operator.disk(volume.volume_id).zone
    assert list(volume.accessible_topology) == [topology(zone)]
    return zone


@pytest.mark.parametrize("zone", [ZONE, OTHER_ZONE])
def test_a_volume_is_created_in_the_zone_that_is_required(zone: str) -> None:
    assert zone_of(two_zones(), "pvc-1", accessibility_requirements=in_zone(zone)) == zone


def test_preferred_zones_come_before_requisite_ones() -> None:
    wanted = csi_pb2.TopologyRequirement(
        requisite=[topology(ZONE), topology(OTHER_ZONE)],
        preferred=[topology("zone-x"), topology(OTHER_ZONE)],
    )
    assert zone_of(two_zones(), "pvc-1", accessibility_requirements=wanted) == OTHER_ZONE


def test_without_a_requirement_a_volume_goes_where_the_first_instance_is() -> None:
    assert zone_of(two_zones(), "pvc-1") == ZONE


def test_without_instances_a_volume_goes_to_the_first_zone() -> None:
    driver = SmallDriver()
    driver.operator.add_zone(OTHER_ZONE)
    driver.operator.add_zone(ZONE)
    assert zone_of(driver, "pvc-1") == OTHER_ZONE


def test_a_cloud_without_zones_has_no_room_for_a_volume() -> None:
    answer = SmallDriver().create("pvc-1")
    assert answer.code == "RESOURCE_EXHAUSTED"
    assert answer.message == "the cloud has no zone to create a volume in"


def test_a_zone_that_does_not_exist_is_refused_with_those_that_do() -> None:
    answer = two_zones().create("pvc-1", accessibility_requirements=in_zone("zone-x"))
    assert answer.code == "RESOURCE_EXHAUSTED"
    assert answer.message.startswith("accessibility_requirements: ")
    assert answer.message.endswith(f"the zones are: {ZONE}, {OTHER_ZONE}")


def test_a_repeat_that_requires_another_zone_is_refused() -> None:
    driver = two_zones()
    of(driver.create("pvc-1", accessibility_requirements=in_zone(ZONE)))
    answer = driver.create("pvc-1", accessibility_requirements=in_zone(OTHER_ZONE))
    assert answer.code == "ALREADY_EXISTS"
    assert "accessibility_requirements" in answer.message


def test_a_repeat_that_the_volume_s_zone_still_satisfies_is_fine() -> None:
    driver = two_zones()
    first = of(driver.create("pvc-1", accessibility_requirements=in_zone(ZONE)))
    for wanted in (in_zone(OTHER_ZONE, ZONE), None):
        assert of(driver.create("pvc-1", accessibility_requirements=wanted)) == first


def test_a_repeat_is_fine_whatever_is_preferred_beside_the_requisite_zones() -> None:
    driver = two_zones()
    wanted = csi_pb2.TopologyRequirement(
        requisite=[topology(ZONE)], preferred=[topology(OTHER_ZONE)]
    )
    first = of(driver.create("pvc-1", accessibility_requirements=wanted))
    assert list(first.volume.accessible_topology) == [topology(ZONE)]
    assert of(driver.create("pvc-1", accessibility_requirements=wanted)) == first


def test_without_topology_the_requirement_is_not_known_and_none_is_answered() -> None:
    driver = two_zones(switches={VOLUME_ACCESSIBILITY_CONSTRAINTS: False})
    volume = of(driver.create("pvc-1", accessibility_requirements=in_zone("zone-x"))).volume
    assert list(volume.accessible_topology) == []
    assert driver.create("pvc-1", accessibility_requirements=in_zone(OTHER_ZONE)).ok


# -------------------------------------------------------------------------------------- deleting


def test_a_deleted_volume_is_gone_from_the_cloud() -> None:
    driver = two_zones()
    volume = driver.new_volume()
    assert driver.delete(volume).ok
    assert not driver.operator.has_disk(volume)


@pytest.mark.parametrize("volume", ["vol-unknown", "vol-00000001"])
def test_a_volume_that_is_not_there_is_deleted(volume: str) -> None:
    assert two_zones().delete(volume).ok


def test_deleting_twice_is_fine() -> None:
    driver = two_zones()
    volume = driver.new_volume()
    assert [driver.delete(volume).code for _ in range(2)] == ["OK", "OK"]


def test_an_attached_volume_cannot_be_deleted() -> None:
    driver = two_zones()
    (volume,) = driver.publish_new(1)
    answer = driver.delete(volume)
    assert answer.code == "FAILED_PRECONDITION"
    assert "'i-1'" in answer.message
    assert driver.operator.has_disk(volume)
    of(driver.unpublish(volume))
    assert driver.delete(volume).ok


def test_a_boot_disk_cannot_be_deleted() -> None:
    region = SmallRegion()
    region.add_instance(slots=3, boot_disk="vol-boot")
    assert SmallDriver(region).delete("vol-boot").code == "FAILED_PRECONDITION"
