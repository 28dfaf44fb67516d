"""Room for disks: GetCapacity, and where a volume goes when a zone is full."""

from __future__ import annotations

from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.cloud import Disk, Quota
from mockdriver.co.calling import Answer
from mockdriver.driver.capabilities import (
    SINGLE_NODE_MULTI_WRITER,
    VOLUME_ACCESSIBILITY_CONSTRAINTS,
)
from mockdriver.runtime import VirtualRuntime
from mockdriver.scenario.load import loads
from mockdriver.server.compose import make_cloud
from tests.cloud.small_region import OTHER_ZONE, ZONE, SmallRegion
from tests.driver.small_driver import GIB, Mode, SmallDriver, capability, in_zone, of, topology

CAPACITY_GIB = 100
MULTI_WRITER = [capability(Mode.MULTI_NODE_MULTI_WRITER)]


def two_zones(capacity_gib: int = CAPACITY_GIB, **options: Any) -> SmallDriver:
    region = SmallRegion(capacity_gib=capacity_gib)
    region.add_instance("i-1", zone=ZONE)
    region.add_instance("i-2", zone=OTHER_ZONE)
    return SmallDriver(region, **options)


def ask(driver: SmallDriver, **fields: Any) -> Answer:
    return driver.call("GetCapacity", csi_pb2.GetCapacityRequest(**fields))


def available_gib(driver: SmallDriver, **fields: Any) -> float:
    return float(of(ask(driver, **fields)).available_capacity / GIB)


def fill(driver: SmallDriver, zone: str, size_gib: int) -> None:
    id = f"vol-{zone}-{size_gib}"
    driver.operator.add_disk(Disk(id=id, zone=zone, size_gib=size_gib))


# ------------------------------------------------------------------------------------ GetCapacity


def test_the_room_of_all_zones_is_what_there_is() -> None:
    assert available_gib(two_zones()) == 2 * CAPACITY_GIB


@pytest.mark.parametrize("zone", [ZONE, OTHER_ZONE])
def test_the_room_of_a_zone_is_less_what_its_disks_have(zone: str) -> None:
    driver = two_zones()
    fill(driver, zone, 30)
    of(driver.create("pvc-1", accessibility_requirements=in_zone(zone)))
    assert available_gib(driver, accessible_topology=topology(zone)) == CAPACITY_GIB - 40
    other = OTHER_ZONE if zone == ZONE else ZONE
    assert available_gib(driver, accessible_topology=topology(other)) == CAPACITY_GIB
    assert available_gib(driver) == 2 * CAPACITY_GIB - 40


def test_a_deleted_volume_gives_its_room_back() -> None:
    driver = two_zones()
    volume = of(driver.create("pvc-1")).volume.volume_id
    assert available_gib(driver) == 2 * CAPACITY_GIB - 10
    of(driver.delete(volume))
    assert available_gib(driver) == 2 * CAPACITY_GIB


def test_a_terminated_instance_gives_the_room_of_its_boot_disk_back() -> None:
    driver = two_zones()
    driver.region.add_instance("i-3", boot_disk="vol-boot")
    assert available_gib(driver) == 2 * CAPACITY_GIB - 10
    driver.operator.terminate_instance("i-3")
    assert available_gib(driver) == 2 * CAPACITY_GIB


def test_a_zone_that_was_overfilled_has_none_and_takes_none_from_others() -> None:
    driver = two_zones()
    fill(driver, ZONE, CAPACITY_GIB + 50)
    assert available_gib(driver, accessible_topology=topology(ZONE)) == 0
    assert available_gib(driver) == CAPACITY_GIB


@pytest.mark.parametrize(
    ("segments", "zones"),
    [
        ({}, 2),
        ({"topology.mock.csi.example.com/region": "region-1"}, 2),
        ({"topology.mock.csi.example.com/zone": ZONE}, 1),
        ({"topology.mock.csi.example.com/zone": "zone-x"}, 0),
        ({"topology.mock.csi.example.com/region": "region-2"}, 0),
        ({"topology.kubernetes.io/zone": ZONE}, 0),
    ],
)
def test_a_topology_has_the_room_of_the_zones_that_it_means(
    segments: dict[str, str], zones: int
) -> None:
    wanted = csi_pb2.Topology(segments=segments)
    assert available_gib(two_zones(), accessible_topology=wanted) == zones * CAPACITY_GIB


def test_without_the_topology_capability_the_field_is_not_known() -> None:
    driver = two_zones(switches={VOLUME_ACCESSIBILITY_CONSTRAINTS: False})
    assert available_gib(driver, accessible_topology=topology("zone-x")) == 2 * CAPACITY_GIB


def test_a_cloud_without_zones_has_no_room() -> None:
    assert available_gib(SmallDriver()) == 0


def test_the_answer_tells_the_sizes_that_disks_can_have() -> None:
    response = of(ask(two_zones()))
    assert response.maximum_volume_size.value == 65_536 * GIB
    assert response.minimum_volume_size.value == GIB


def test_more_room_than_a_field_can_hold_is_shown_as_much() -> None:
    driver = two_zones(capacity_gib=2**33)
    available = of(ask(driver)).available_capacity
    assert 2**62 < available < 2**63
    assert available % GIB == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"volume_capabilities": [capability()]},
        {"volume_capabilities": MULTI_WRITER},
        {"parameters": {"max_attachments": "2"}},
        {"parameters": {"anything": "else"}},
        {"volume_capabilities": MULTI_WRITER, "parameters": {"max_attachments": "2"}},
    ],
)
def test_every_volume_that_can_be_created_can_have_all_of_it(fields: dict[str, Any]) -> None:
    assert available_gib(two_zones(), **fields) == 2 * CAPACITY_GIB


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("parameters[max_attachments]", {"parameters": {"max_attachments": "x"}}),
        (
            "parameters[max_attachments]",
            {"volume_capabilities": MULTI_WRITER, "parameters": {"max_attachments": "1"}},
        ),
        (
            "volume_capabilities.access_mode.mode",
            {"volume_capabilities": [capability(Mode.SINGLE_NODE_MULTI_WRITER)]},
        ),
        (
            "volume_capabilities[0].access_mode.mode",
            {"volume_capabilities": [capability(Mode.UNKNOWN)]},
        ),
    ],
)
def test_what_cannot_be_created_is_refused_as_create_volume_does(
    field: str, fields: dict[str, Any]
) -> None:
    driver = two_zones(switches={SINGLE_NODE_MULTI_WRITER: False})
    answer = ask(driver, **fields)
    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message.startswith(f"{field}: ")
    fields.setdefault("volume_capabilities", [capability()])
    assert driver.create("pvc-1", **fields) == answer


# -------------------------------------------------------------------------------------- full zones


def test_a_zone_is_filled_to_the_last_gib() -> None:
    driver = two_zones()
    for number in range(10):
        of(driver.create(f"pvc-{number}", accessibility_requirements=in_zone(ZONE)))
    answer = driver.create("pvc-10", accessibility_requirements=in_zone(ZONE))
    assert answer.code == "RESOURCE_EXHAUSTED"
    assert answer.message == f"zone '{ZONE}' has 0 GiB left, too little for 10 GiB"


def test_a_disk_that_would_not_fit_is_refused_and_a_smaller_one_is_not() -> None:
    driver = two_zones()
    fill(driver, ZONE, CAPACITY_GIB - 5)
    wanted = {"accessibility_requirements": in_zone(ZONE)}
    six, five = (csi_pb2.CapacityRange(required_bytes=gib * GIB) for gib in (6, 5))
    assert driver.create("pvc-1", capacity_range=six, **wanted).code == "RESOURCE_EXHAUSTED"
    assert driver.create("pvc-1", capacity_range=five, **wanted).ok


def test_a_full_preferred_zone_gives_way_to_the_next() -> None:
    driver = two_zones()
    fill(driver, ZONE, CAPACITY_GIB)
    wanted = in_zone(ZONE, OTHER_ZONE)
    first = of(driver.create("pvc-1", accessibility_requirements=wanted)).volume
    assert list(first.accessible_topology) == [topology(OTHER_ZONE)]
    assert of(driver.create("pvc-1", accessibility_requirements=wanted)).volume == first


def test_a_full_preferred_zone_gives_way_to_a_requisite_one() -> None:
    driver = two_zones()
    fill(driver, ZONE, CAPACITY_GIB)
    wanted = csi_pb2.TopologyRequirement(
        requisite=[topology(ZONE), topology(OTHER_ZONE)], preferred=[topology(ZONE)]
    )
    volume = of(driver.create("pvc-1", accessibility_requirements=wanted)).volume
    assert list(volume.accessible_topology) == [topology(OTHER_ZONE)]


def test_a_full_zone_gives_way_to_none_that_is_not_asked_for() -> None:
    driver = two_zones()
    fill(driver, ZONE, CAPACITY_GIB)
    for wanted in (
        in_zone(ZONE),
        csi_pb2.TopologyRequirement(preferred=[topology(ZONE)]),
        None,  # the first instance's zone
    ):
        answer = driver.create("pvc-1", accessibility_requirements=wanted)
        assert answer.code == "RESOURCE_EXHAUSTED"
    assert available_gib(driver) == CAPACITY_GIB


def test_when_all_zones_are_full_there_is_no_volume() -> None:
    driver = two_zones()
    fill(driver, ZONE, CAPACITY_GIB)
    fill(driver, OTHER_ZONE, CAPACITY_GIB)
    answer = driver.create("pvc-1", accessibility_requirements=in_zone(ZONE, OTHER_ZONE))
    assert answer.code == "RESOURCE_EXHAUSTED"
    assert driver.cloud_calls()["create_disk"] == 2


def test_a_repeat_in_a_full_zone_is_ok() -> None:
    driver = two_zones()
    first = of(driver.create("pvc-1"))
    fill(driver, ZONE, CAPACITY_GIB)
    assert of(driver.create("pvc-1")) == first


def test_a_throttled_zone_is_no_full_one() -> None:
    region = SmallRegion(quotas={"create_disk": Quota(burst=0, per_second=0)})
    region.add_instance("i-1", zone=ZONE)
    region.add_instance("i-2", zone=OTHER_ZONE)
    driver = SmallDriver(region)
    answer = driver.create("pvc-1", accessibility_requirements=in_zone(ZONE, OTHER_ZONE))
    assert answer.code == "UNAVAILABLE"


# ---------------------------------------------------------------------------------- in a scenario


@pytest.mark.parametrize(
    ("line", "room_gib"), [("", 1024 * 1024), ("capacity_gib: 50", 50), ("capacity_gib: 0", 0)]
)
def test_a_scenario_says_how_much_room_a_zone_has(line: str, room_gib: int) -> None:
    loaded = loads(f"scenario: x\ncloud:\n  zones: [a, b]\n  {line}\n")
    operator = make_cloud(loaded, VirtualRuntime()).operator
    assert [operator.available_gib(zone) for zone in ("a", "b")] == [room_gib, room_gib]


def test_disks_of_a_scenario_may_exceed_the_room() -> None:
    text = "scenario: x\ncloud:\n  capacity_gib: 5\n  disks: [{id: vol, zone: a, size_gib: 9}]\n"
    operator = make_cloud(loads(text), VirtualRuntime()).operator
    assert operator.disk("vol").size_gib == 9
    assert operator.available_gib("a") == 0
