"""ControllerGetNodeInfo: topology, limit and attached volumes of a node (KEP-6011)."""

from __future__ import annotations

import pytest

from mockdriver.cloud import Transition
from mockdriver.co.effective_limit import effective_limit
from tests.cloud.small_region import ZONE, SmallRegion
from tests.driver.small_driver import (
    SmallDriver,
    add_untyped_instance,
    of,
    topology,
    worked_example,
)

HELD = Transition(held=True)


def limit_for_co(driver: SmallDriver, *managed: str, node: str = "i-1") -> int | None:
    """Return what a CO computes that has a record of these volumes on the node."""
    info = driver.controller_info(node)
    return effective_limit(info.max_volumes_per_node, info.published_volume_ids, set(managed))


def ids(driver: SmallDriver, node: str = "i-1") -> list[str]:
    return sorted(driver.controller_info(node).published_volume_ids)


# -------------------------------------------------------------------------------- the KEP's example


def test_the_example_of_the_kep_comes_out_to_the_number() -> None:
    driver = worked_example()
    csi = [f"csi-{n}" for n in range(1, 9)]
    info = driver.controller_info()
    assert info.max_volumes_per_node == 23
    assert sorted(info.published_volume_ids) == sorted(["vol-boot", "vol-manual", *csi])
    assert info.accessible_topology == topology(ZONE)
    assert limit_for_co(driver, *csi) == 21


def test_after_thirteen_more_volumes_the_co_still_computes_twenty_one() -> None:
    driver = worked_example()
    csi = [f"csi-{n}" for n in range(1, 9)] + driver.publish_new(13)
    assert len(ids(driver)) == 23
    assert limit_for_co(driver, *csi) == 21 == len(csi)


def test_an_operator_who_detaches_a_disk_leaves_one_more_for_the_co() -> None:
    driver = worked_example()
    driver.operator.detach("vol-manual", "i-1")
    assert limit_for_co(driver, *(f"csi-{n}" for n in range(1, 9))) == 22


# ----------------------------------------------------------------------------------- what is listed


def test_ids_are_listed_whoever_attached_them() -> None:
    region = SmallRegion()
    region.add_instance(slots=9)
    driver = SmallDriver(region)
    (volume,) = driver.publish_new(1)
    region.operator.attach(region.add_disk("vol-manual"), "i-1")
    assert ids(driver) == sorted([volume, "vol-manual"])


def test_a_boot_disk_outside_the_budget_is_not_listed() -> None:
    region = SmallRegion()
    region.add_instance(slots=3, boot_uses_slot=False, boot_disk="vol-boot")
    driver = SmallDriver(region)
    assert ids(driver) == []
    assert limit_for_co(driver) == 3
    assert len(driver.publish_new(3)) == 3
    assert driver.publish(driver.new_volume()).code == "RESOURCE_EXHAUSTED"


def test_a_boot_disk_within_the_budget_is_listed() -> None:
    region = SmallRegion()
    region.add_instance(slots=3, boot_disk="vol-boot")
    driver = SmallDriver(region)
    assert ids(driver) == ["vol-boot"]
    assert limit_for_co(driver) == 2


def test_a_volume_that_is_unpublished_is_never_listed_again() -> None:
    region = SmallRegion(detach=Transition(after_seconds=2))
    region.add_instance(slots=3)
    driver = SmallDriver(region)
    first, second = driver.publish_new(2)
    of(driver.unpublish(first))
    assert ids(driver) == [second]


def test_a_later_attachment_of_the_same_volume_is_listed() -> None:
    region = SmallRegion()
    region.add_instance(slots=3)
    driver = SmallDriver(region)
    (volume,) = driver.publish_new(1)
    of(driver.unpublish(volume))
    of(driver.publish(volume))
    assert ids(driver) == [volume]


def test_what_is_attaching_or_detaching_is_listed() -> None:
    region = SmallRegion(attach=HELD, detach=HELD)
    region.add_instance(slots=3)
    region.operator.attach(region.add_disk("vol-leaving"), "i-1", immediately=True)
    region.operator.detach("vol-leaving", "i-1")
    region.operator.attach(region.add_disk("vol-coming"), "i-1")
    assert set(region.states().values()) == {"attaching", "detaching"}
    assert ids(SmallDriver(region)) == ["vol-coming", "vol-leaving"]


# ----------------------------------------------------------------------------------- the limit


def test_a_full_instance_reports_at_least_one() -> None:
    region = SmallRegion()
    region.add_instance(slots=2, shared=True, interfaces=2)
    driver = SmallDriver(region)
    assert driver.controller_info().max_volumes_per_node == 1
    region.operator.add_network_interface("i-1")
    region.operator.add_network_interface("i-1")
    assert driver.controller_info().max_volumes_per_node == 1


def test_interfaces_past_the_slots_leave_a_co_with_disks_there_a_limit_of_zero() -> None:
    region = SmallRegion()
    region.add_instance(slots=2, shared=True, interfaces=1, boot_disk="vol-boot")
    region.operator.add_network_interface("i-1")
    assert limit_for_co(SmallDriver(region)) == 0


def test_an_added_interface_lowers_the_limit_by_one() -> None:
    region = SmallRegion()
    region.add_instance(slots=28, shared=True, interfaces=1, boot_disk="vol-boot")
    driver = SmallDriver(region)
    assert limit_for_co(driver) == 26
    region.operator.add_network_interface("i-1")
    assert limit_for_co(driver) == 25


def test_an_instance_without_a_type_has_no_limit_and_lists_its_disks() -> None:
    driver = SmallDriver()
    add_untyped_instance(driver.region, "i-untyped", boot_disk="vol-boot")
    info = driver.controller_info("i-untyped")
    assert info.max_volumes_per_node == 0
    assert list(info.published_volume_ids) == ["vol-boot"]
    assert limit_for_co(driver, node="i-untyped") is None


def test_a_changed_type_changes_the_limit() -> None:
    region = SmallRegion()
    region.add_instance(slots=5)
    driver = SmallDriver(region)
    region.put_type("i-1", slots=9)
    assert driver.controller_info().max_volumes_per_node == 9


# ----------------------------------------------------------------------------------- what it costs


def test_a_lookup_costs_one_call_for_the_instance_and_one_for_its_type() -> None:
    driver = SmallDriver()
    driver.region.add_instance(slots=5)
    driver.controller_info()
    assert driver.cloud_calls() == {"describe_instances": 1, "describe_types": 1}


@pytest.mark.parametrize("node", ["i-unknown", "I-1", "i-1 "])
def test_an_unknown_node_is_not_found(node: str) -> None:
    driver = SmallDriver()
    driver.region.add_instance(slots=5)
    answer = driver.get_controller_info(node)
    assert answer.code == "NOT_FOUND"
    assert repr(node) in answer.message


def test_an_empty_node_id_is_an_invalid_argument() -> None:
    assert SmallDriver().get_controller_info("").code == "INVALID_ARGUMENT"
