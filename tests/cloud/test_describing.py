"""Describe calls: what they answer, and what they refuse as a whole."""

from __future__ import annotations

import pytest

from mockdriver.cloud import Transition
from mockdriver.cloud.errors import DiskNotFound, InstanceNotFound, InstanceTypeNotFound
from tests.cloud.small_region import SmallRegion


@pytest.fixture
def region() -> SmallRegion:
    region = SmallRegion()
    for name in ("i-1", "i-2", "i-3"):
        region.add_instance(name, slots=5, boot_disk=f"{name}-boot")
    return region


def test_instances_are_described_in_the_order_asked_for(region: SmallRegion) -> None:
    described = region.api.describe_instances(["i-3", "i-1"], region.caller)
    assert [item.instance.id for item in described] == ["i-3", "i-1"]


def test_disks_are_described_in_the_order_asked_for(region: SmallRegion) -> None:
    described = region.api.describe_disks(["i-3-boot", "i-1-boot"], region.caller)
    assert [item.disk.id for item in described] == ["i-3-boot", "i-1-boot"]


def test_types_are_described_in_the_order_asked_for(region: SmallRegion) -> None:
    described = region.api.describe_types(["type-of-i-2", "type-of-i-1"], region.caller)
    assert [type_.name for type_ in described] == ["type-of-i-2", "type-of-i-1"]


def test_a_description_names_each_id_as_often_as_it_was_asked_for(region: SmallRegion) -> None:
    described = region.api.describe_instances(["i-1", "i-2", "i-1"], region.caller)
    assert [item.instance.id for item in described] == ["i-1", "i-2", "i-1"]
    disks = region.api.describe_disks(["i-1-boot", "i-1-boot"], region.caller)
    assert [item.disk.id for item in disks] == ["i-1-boot", "i-1-boot"]


def test_a_description_of_an_instance_holds_its_own_things_only(region: SmallRegion) -> None:
    region.attach_new(2, "i-1", prefix="one")
    region.attach_new(1, "i-2", prefix="two")
    description = region.describe("i-1")
    assert [item.disk for item in description.attachments] == ["i-1-boot", "one-1", "one-2"]
    assert description.boot_disks == {"i-1-boot"}
    assert [item.id for item in description.network_interfaces] == ["i-1-eni-1"]


def test_one_unknown_instance_fails_the_whole_batch_and_is_named(region: SmallRegion) -> None:
    with pytest.raises(InstanceNotFound) as refusal:
        region.api.describe_instances(["i-1", "i-x", "i-2", "i-y"], region.caller)
    assert refusal.value.ids == ("i-x", "i-y")


def test_one_unknown_disk_fails_the_whole_batch_and_is_named(region: SmallRegion) -> None:
    with pytest.raises(DiskNotFound) as refusal:
        region.api.describe_disks(["i-1-boot", "vol-x"], region.caller)
    assert refusal.value.ids == ("vol-x",)


def test_one_unknown_type_fails_the_whole_batch(region: SmallRegion) -> None:
    with pytest.raises(InstanceTypeNotFound):
        region.api.describe_types(["type-of-i-1", "type-x"], region.caller)


def test_nothing_asked_is_nothing_answered(region: SmallRegion) -> None:
    assert region.api.describe_instances([], region.caller) == []
    assert region.api.describe_disks([], region.caller) == []
    assert region.api.describe_types([], region.caller) == []


def test_a_description_stays_as_it_was_when_the_cloud_changes(region: SmallRegion) -> None:
    region.attach_new(1)
    before = region.describe()
    region.unpublish("vol-1")
    region.operator.add_network_interface("i-1")
    assert [item.disk for item in before.attachments] == ["i-1-boot", "vol-1"]
    assert len(before.network_interfaces) == 1


def test_an_attachment_is_described_alike_by_instance_and_by_disk() -> None:
    region = SmallRegion(attach=Transition(after_seconds=2))
    region.add_instance()
    region.attach_new(1)
    for _ in range(2):
        by_instance = region.describe().attachments
        by_disk = region.api.describe_disks(["vol-1"], region.caller)[0].attachments
        assert by_instance == by_disk
        region.runtime.advance(2)


def test_the_operator_lists_attachments_oldest_first(region: SmallRegion) -> None:
    region.attach_new(3)
    region.unpublish("vol-1")
    region.publish("vol-1")
    assert region.attached() == ["i-1-boot", "vol-2", "vol-3", "vol-1"]
