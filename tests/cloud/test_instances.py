"""Adding and terminating instances, and their network interfaces."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mockdriver.cloud import Disk, Instance, NetworkInterface, Transition
from mockdriver.cloud.errors import (
    AlreadyExists,
    CloudError,
    InstanceNotFound,
    InstanceTypeNotFound,
    NetworkInterfaceNotFound,
    SlotsExhausted,
    TooManyAttachments,
    ZoneMismatch,
    ZoneNotFound,
)
from tests.cloud.small_region import OTHER_ZONE, ZONE, SmallRegion


def interfaces(region: SmallRegion, instance: str = "i-1") -> list[str]:
    return [interface.id for interface in region.describe(instance).network_interfaces]


# ----------------------------------------------------------------------------------- adding one


def test_an_instance_has_one_interface_and_no_boot_disk_unless_told_otherwise() -> None:
    region = SmallRegion()
    region.operator.add_instance(Instance(id="i-1", zone=ZONE))
    assert interfaces(region) == ["i-1-eni-1"]
    assert region.describe().boot_disks == frozenset()


def test_a_number_of_interfaces_names_them_after_the_instance() -> None:
    region = SmallRegion()
    region.operator.add_instance(Instance(id="i-1", zone=ZONE), network_interfaces=3)
    assert interfaces(region) == ["i-1-eni-1", "i-1-eni-2", "i-1-eni-3"]


def test_interfaces_can_be_given_by_id() -> None:
    region = SmallRegion()
    region.operator.add_instance(
        Instance(id="i-1", zone=ZONE), network_interfaces=["eth-b", "eth-a"]
    )
    assert interfaces(region) == ["eth-b", "eth-a"]


def test_a_boot_disk_that_is_not_there_is_made_in_the_zone_of_the_instance() -> None:
    region = SmallRegion()
    region.add_instance(boot_disk="vol-boot", zone=OTHER_ZONE)
    assert region.operator.disk("vol-boot") == Disk(id="vol-boot", zone=OTHER_ZONE, boot=True)
    assert region.describe().boot_disks == {"vol-boot"}


def test_a_boot_disk_that_is_there_is_taken_as_it_is() -> None:
    region = SmallRegion()
    region.operator.add_disk(Disk(id="vol-boot", zone=ZONE, size_gib=77))
    region.add_instance(boot_disk="vol-boot")
    assert region.operator.disk("vol-boot").size_gib == 77
    assert region.operator.disk("vol-boot").boot
    assert region.describe().boot_disks == {"vol-boot"}


def test_a_boot_disk_is_attached_at_once_however_long_attaching_takes() -> None:
    region = SmallRegion(attach=Transition(held=True))
    region.add_instance(boot_disk="vol-boot")
    assert region.states() == {"vol-boot": "attached"}


def test_instances_are_kept_in_the_order_in_which_they_were_added() -> None:
    region = SmallRegion()
    for name in ("i-b", "i-c", "i-a"):
        region.add_instance(name)
    assert [instance.id for instance in region.operator.instances()] == ["i-b", "i-c", "i-a"]


# -------------------------------------------------------------------------------- all or nothing


def add_an_instance_with_a_known_id(region: SmallRegion) -> None:
    region.operator.add_instance(Instance(id="i-1", zone="zone-new"), boot_disk="vol-new")


def add_an_instance_of_an_unknown_type(region: SmallRegion) -> None:
    region.operator.add_instance(
        Instance(id="i-new", zone="zone-new", type="type-unknown"), boot_disk="vol-new"
    )


def add_an_instance_with_an_interface_of_another(region: SmallRegion) -> None:
    region.operator.add_instance(
        Instance(id="i-new", zone="zone-new"), network_interfaces=["eth-new", "i-1-eni-1"]
    )


def add_an_instance_with_an_interface_twice(region: SmallRegion) -> None:
    region.operator.add_instance(
        Instance(id="i-new", zone="zone-new"),
        network_interfaces=["eth-new", "eth-new"],
        boot_disk="vol-new",
    )


def add_an_instance_without_a_slot_for_its_boot_disk(region: SmallRegion) -> None:
    region.put_type("none", slots=0)
    region.operator.add_instance(
        Instance(id="i-new", zone="zone-new", type="type-of-none"), boot_disk="vol-new"
    )


def add_an_instance_with_a_boot_disk_of_another_zone(region: SmallRegion) -> None:
    region.operator.add_instance(Instance(id="i-new", zone="zone-new"), boot_disk="vol-free")


def add_an_instance_with_a_boot_disk_of_another(region: SmallRegion) -> None:
    region.operator.add_instance(Instance(id="i-new", zone=ZONE), boot_disk="vol-boot")


def add_an_instance_with_a_boot_disk_that_is_attached_and_allows_two(region: SmallRegion) -> None:
    region.operator.add_instance(Instance(id="i-new", zone=ZONE), boot_disk="vol-two")


FAILURES: list[tuple[Callable[[SmallRegion], None], type[CloudError]]] = [
    (add_an_instance_with_a_known_id, AlreadyExists),
    (add_an_instance_of_an_unknown_type, InstanceTypeNotFound),
    (add_an_instance_with_an_interface_of_another, AlreadyExists),
    (add_an_instance_with_an_interface_twice, AlreadyExists),
    (add_an_instance_without_a_slot_for_its_boot_disk, SlotsExhausted),
    (add_an_instance_with_a_boot_disk_of_another_zone, ZoneMismatch),
    (add_an_instance_with_a_boot_disk_of_another, TooManyAttachments),
    (add_an_instance_with_a_boot_disk_that_is_attached_and_allows_two, TooManyAttachments),
]


@pytest.mark.parametrize(("add", "refusal"), FAILURES, ids=[add.__name__ for add, _ in FAILURES])
def test_an_instance_is_added_whole_or_not_at_all(
    add: Callable[[SmallRegion], None], refusal: type[CloudError]
) -> None:
    region = SmallRegion()
    region.add_instance("i-1", slots=3, boot_disk="vol-boot")
    region.add_disk("vol-free")
    region.publish(region.add_disk("vol-two", max_attachments=2))
    before = everything(region)

    with pytest.raises(refusal):
        add(region)

    assert everything(region) == before
    # What the failed instance named is free for the next one.
    region.operator.add_instance(
        Instance(id="i-new", zone=ZONE), network_interfaces=["eth-new"], boot_disk="vol-new"
    )
    assert region.attached("i-new") == ["vol-new"]


def everything(region: SmallRegion) -> object:
    """Return all that the region holds, types left out."""
    return (
        region.operator.zones(),
        [
            (instance, interfaces(region, instance.id), region.operator.attachments(instance.id))
            for instance in region.operator.instances()
        ],
        dict(region.cloud.core.store.disks),
    )


# ------------------------------------------------------------------------------------ interfaces


def test_an_added_interface_gets_the_next_name() -> None:
    region = SmallRegion()
    region.add_instance(interfaces=2)
    added = region.operator.add_network_interface("i-1")
    assert added == NetworkInterface(id="i-1-eni-3", instance="i-1")
    assert interfaces(region) == ["i-1-eni-1", "i-1-eni-2", "i-1-eni-3"]


def test_an_added_interface_takes_no_name_that_another_one_has() -> None:
    region = SmallRegion()
    region.operator.add_instance(
        Instance(id="i-1", zone=ZONE), network_interfaces=["i-1-eni-2", "i-1-eni-4"]
    )
    assert region.operator.add_network_interface("i-1").id == "i-1-eni-3"
    assert region.operator.add_network_interface("i-1").id == "i-1-eni-5"


def test_an_added_interface_can_be_given_its_id_but_not_a_known_one() -> None:
    region = SmallRegion()
    region.add_instance("i-1")
    region.add_instance("i-2")
    region.operator.add_network_interface("i-1", "eth-x")
    with pytest.raises(AlreadyExists):
        region.operator.add_network_interface("i-2", "eth-x")
    assert interfaces(region, "i-2") == ["i-2-eni-1"]


def test_the_newest_interfaces_are_removed_first() -> None:
    region = SmallRegion()
    region.add_instance(interfaces=3)
    region.operator.add_network_interface("i-1", "eth-x")
    region.operator.remove_network_interfaces("i-1", 2)
    assert interfaces(region) == ["i-1-eni-1", "i-1-eni-2"]


def test_all_interfaces_can_be_removed() -> None:
    region = SmallRegion()
    region.add_instance(interfaces=2)
    region.operator.remove_network_interfaces("i-1", 2)
    assert interfaces(region) == []


def test_more_interfaces_than_there_are_cannot_be_removed_and_none_is() -> None:
    region = SmallRegion()
    region.add_instance(interfaces=2)
    with pytest.raises(NetworkInterfaceNotFound) as refusal:
        region.operator.remove_network_interfaces("i-1", 3)
    assert (refusal.value.wanted, refusal.value.present) == (3, 2)
    assert len(interfaces(region)) == 2


def test_a_removed_interface_leaves_its_id_to_others() -> None:
    region = SmallRegion()
    region.add_instance("i-1")
    region.add_instance("i-2")
    region.operator.add_network_interface("i-1", "eth-x")
    region.operator.remove_network_interfaces("i-1")
    region.operator.add_network_interface("i-2", "eth-x")
    assert "eth-x" in interfaces(region, "i-2")


# ------------------------------------------------------------------------------------------ types


def test_an_instance_cannot_change_to_an_unknown_type() -> None:
    region = SmallRegion()
    region.add_instance()
    with pytest.raises(InstanceTypeNotFound) as refusal:
        region.operator.change_instance_type("i-1", "type-unknown")
    assert refusal.value.name == "type-unknown"
    assert region.operator.instance("i-1").type == "type-of-i-1"


def test_a_change_of_type_changes_nothing_else() -> None:
    region = SmallRegion()
    region.add_instance(slots=5, shared=True, interfaces=2, boot_disk="vol-boot")
    region.attach_new(2)
    before = region.describe()
    region.put_type("other", slots=9)
    region.operator.change_instance_type("i-1", "type-of-other")
    after = region.describe()
    assert after.instance == Instance(id="i-1", zone=ZONE, type="type-of-other")
    assert after.attachments == before.attachments
    assert after.network_interfaces == before.network_interfaces
    assert after.boot_disks == before.boot_disks


# ------------------------------------------------------------------------------------ terminating


def test_a_terminated_instance_is_unknown_everywhere() -> None:
    region = SmallRegion()
    region.add_instance("i-1")
    region.add_instance("i-2")
    region.add_disk("vol")
    region.operator.terminate_instance("i-1")
    assert [instance.id for instance in region.operator.instances()] == ["i-2"]
    with pytest.raises(InstanceNotFound):
        region.describe("i-1")
    with pytest.raises(InstanceNotFound):
        region.publish("vol", "i-1")
    with pytest.raises(InstanceNotFound):
        region.operator.attachments("i-1")
    with pytest.raises(InstanceNotFound):
        region.operator.terminate_instance("i-1")


def test_the_disks_of_a_terminated_instance_are_free_at_once() -> None:
    region = SmallRegion(attach=Transition(held=True), detach=Transition(held=True))
    region.add_instance("i-1")
    region.add_instance("i-2")
    region.attach_new(2, "i-1")
    region.operator.release(disk="vol-1")
    region.unpublish("vol-1", "i-1")
    region.operator.terminate_instance("i-1")
    region.publish("vol-1", "i-2")
    region.publish("vol-2", "i-2")
    assert region.attached("i-2") == ["vol-1", "vol-2"]


def test_the_boot_disk_of_a_terminated_instance_is_deleted() -> None:
    region = SmallRegion()
    region.add_instance("i-1", boot_disk="vol-boot")
    region.attach_new(1)
    region.operator.terminate_instance("i-1")
    assert not region.operator.has_disk("vol-boot")
    assert region.operator.has_disk("vol-1")


def test_a_disk_on_two_instances_stays_on_the_one_that_is_not_terminated() -> None:
    region = SmallRegion()
    region.add_instance("i-1")
    region.add_instance("i-2")
    region.add_disk("vol", max_attachments=2)
    region.publish("vol", "i-1")
    region.publish("vol", "i-2")
    region.operator.terminate_instance("i-1")
    assert region.attached("i-2") == ["vol"]
    disk = region.api.describe_disks(["vol"], region.caller)[0]
    assert [attachment.instance for attachment in disk.attachments] == ["i-2"]


def test_the_names_of_a_terminated_instance_can_be_used_again() -> None:
    region = SmallRegion()
    region.add_instance("i-1", interfaces=3, boot_disk="vol-boot")
    region.operator.terminate_instance("i-1")
    region.add_instance("i-1", interfaces=3, boot_disk="vol-boot")
    assert interfaces(region) == ["i-1-eni-1", "i-1-eni-2", "i-1-eni-3"]
    assert region.attached() == ["vol-boot"]


# ------------------------------------------------------------------------------------------ zones


def test_an_instance_or_a_disk_brings_its_zone_along_where_zones_are_open() -> None:
    region = SmallRegion()
    region.operator.add_zone("zone-first")
    region.add_instance(zone="zone-of-instance")
    region.add_disk("vol", zone="zone-of-disk")
    assert region.operator.zones() == ["zone-first", "zone-of-instance", "zone-of-disk"]


def test_a_zone_that_is_added_twice_is_there_once() -> None:
    region = SmallRegion()
    region.operator.add_zone(ZONE)
    region.operator.add_zone(ZONE)
    assert region.operator.zones() == [ZONE]


def test_an_instance_or_a_disk_in_an_unknown_zone_is_refused_where_zones_are_fixed() -> None:
    region = SmallRegion(zones_are_fixed=True)
    region.operator.add_zone(ZONE)
    with pytest.raises(ZoneNotFound) as refusal:
        region.add_instance(zone=OTHER_ZONE)
    assert (refusal.value.zone, refusal.value.zones) == (OTHER_ZONE, (ZONE,))
    with pytest.raises(ZoneNotFound):
        region.add_disk("vol", zone=OTHER_ZONE)
    assert region.operator.zones() == [ZONE]
    assert region.operator.instances() == []
    assert not region.operator.has_disk("vol")


def test_what_is_in_a_known_zone_is_taken_where_zones_are_fixed() -> None:
    region = SmallRegion(zones_are_fixed=True)
    region.operator.add_zone(ZONE)
    region.add_instance()
    region.attach_new(1)
    assert region.attached() == ["vol-1"]


def test_a_disk_with_a_known_id_is_refused_and_brings_no_zone_along() -> None:
    region = SmallRegion()
    region.add_disk("vol")
    with pytest.raises(AlreadyExists):
        region.add_disk("vol", zone=OTHER_ZONE)
    assert region.operator.zones() == [ZONE]
    assert region.operator.disk("vol").zone == ZONE
