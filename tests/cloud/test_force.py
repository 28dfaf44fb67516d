"""States that should not be: refused with a typed error, and made anyway by force."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mockdriver.cloud import AttachmentState, Disk, Instance, InstanceType, Transition
from mockdriver.cloud.errors import (
    AlreadyAttached,
    BootDiskInUse,
    DiskInUse,
    DiskNotFound,
    InstanceTypeInUse,
    InstanceTypeNotFound,
    SlotsExhausted,
    TooManyAttachments,
    TransitionUnderWay,
    ZoneFull,
    ZoneInUse,
    ZoneMismatch,
    ZoneNotFound,
)
from tests.cloud.consistency import check
from tests.cloud.small_region import OTHER_ZONE, ZONE, SmallRegion

HELD = Transition(held=True)


@pytest.fixture
def region() -> SmallRegion:
    region = SmallRegion()
    region.add_instance("i-1", slots=2, boot_disk="boot")
    region.add_instance("i-2", zone=OTHER_ZONE)
    return region


def test_a_disk_is_attached_past_the_slots(region: SmallRegion) -> None:
    region.attach_new(1)
    region.add_disk("one-more")
    with pytest.raises(SlotsExhausted):
        region.operator.attach("one-more", "i-1")
    region.operator.attach("one-more", "i-1", force=True)
    assert region.operator.slot_users("i-1") == 3
    check(region.cloud.core.store)


def test_a_disk_is_attached_in_another_zone(region: SmallRegion) -> None:
    region.add_disk("vol")
    with pytest.raises(ZoneMismatch):
        region.operator.attach("vol", "i-2")
    region.operator.attach("vol", "i-2", force=True)
    assert region.attached("i-2") == ["vol"]


def test_a_disk_is_attached_past_its_max_attachments(region: SmallRegion) -> None:
    region.operator.attach(region.add_disk("vol"), "i-1")
    with pytest.raises(TooManyAttachments):
        region.operator.attach("vol", "i-2")
    region.operator.attach("vol", "i-2", force=True)
    assert [item.instance for item in region.operator.attachments_of("vol")] == ["i-1", "i-2"]


def test_force_does_not_attach_twice_nor_what_is_not_there(region: SmallRegion) -> None:
    region.operator.attach(region.add_disk("vol"), "i-1")
    with pytest.raises(AlreadyAttached):
        region.operator.attach("vol", "i-1", force=True)
    with pytest.raises(DiskNotFound):
        region.operator.attach("none", "i-1", force=True)


def test_by_force_a_new_attachment_takes_the_place_of_one_that_is_leaving() -> None:
    region = SmallRegion(detach=HELD)
    region.add_instance("i-1")
    first = region.operator.attach(region.add_disk("vol"), "i-1")
    region.operator.detach("vol", "i-1")
    with pytest.raises(TransitionUnderWay):
        region.operator.attach("vol", "i-1")
    second = region.operator.attach("vol", "i-1", force=True)
    assert second.number > first.number
    assert region.states() == {"vol": "attached"}
    check(region.cloud.core.store)


def test_a_boot_disk_is_detached_and_can_come_back(region: SmallRegion) -> None:
    with pytest.raises(BootDiskInUse):
        region.operator.detach("boot", "i-1")
    assert region.operator.detach("boot", "i-1", force=True) is None
    assert region.operator.disk("boot").boot
    assert region.listed("i-1") == []
    region.operator.attach("boot", "i-1")
    assert region.describe("i-1").boot_disks == {"boot"}


def test_a_disk_goes_with_its_attachments(region: SmallRegion) -> None:
    region.operator.attach(region.add_disk("vol"), "i-1")
    with pytest.raises(DiskInUse) as refusal:
        region.operator.remove_disk("vol")
    assert refusal.value.instances == ("i-1",)
    region.operator.remove_disk("vol", force=True)
    assert not region.operator.has_disk("vol")
    assert region.attached("i-1") == ["boot"]
    check(region.cloud.core.store)


def test_a_zone_goes_although_something_is_in_it(region: SmallRegion) -> None:
    with pytest.raises(ZoneInUse) as refusal:
        region.operator.remove_zone(ZONE)
    assert refusal.value.users == 2  # the instance and its boot disk
    region.operator.remove_zone(ZONE, force=True)
    assert region.operator.zones() == [OTHER_ZONE]
    assert region.operator.instance("i-1").zone == ZONE
    with pytest.raises(ZoneNotFound):
        region.api.create_disk(ZONE, 1, region.caller)


def test_an_empty_zone_goes_without_force(region: SmallRegion) -> None:
    region.operator.add_zone("zone-c")
    region.operator.remove_zone("zone-c")
    assert "zone-c" not in region.operator.zones()
    with pytest.raises(ZoneNotFound):
        region.operator.remove_zone("zone-c", force=True)


def test_a_type_goes_although_an_instance_has_it(region: SmallRegion) -> None:
    with pytest.raises(InstanceTypeInUse) as refusal:
        region.operator.remove_instance_type("type-of-i-1")
    assert refusal.value.users == 1
    region.operator.remove_instance_type("type-of-i-1", force=True)
    # The cloud knows of no limit any more, and whoever asks for the type is told so.
    region.attach_new(5)
    assert region.operator.view_instance("i-1").type.slots is None
    with pytest.raises(InstanceTypeNotFound):
        region.api.describe_types(["type-of-i-1"], region.caller)


def test_a_type_that_is_put_back_is_the_instances_again(region: SmallRegion) -> None:
    region.operator.remove_instance_type("type-of-i-1", force=True)
    region.operator.add_instance_type(InstanceType("type-of-i-1", slots=1))
    with pytest.raises(SlotsExhausted):
        region.attach_new(1)


def test_an_instance_moves_to_another_zone_than_its_disks(region: SmallRegion) -> None:
    def moved(instance: Instance) -> Instance:
        return replace(instance, zone=OTHER_ZONE)

    with pytest.raises(ZoneMismatch) as refusal:
        region.operator.change_instance("i-1", moved)
    assert (refusal.value.disk, refusal.value.disk_zone) == ("boot", ZONE)
    region.operator.change_instance("i-1", moved, force=True)
    assert region.operator.instance("i-1").zone == OTHER_ZONE
    check(region.cloud.core.store)


def test_a_disk_moves_to_another_zone_than_its_instance(region: SmallRegion) -> None:
    def moved(disk: Disk) -> Disk:
        return replace(disk, zone=OTHER_ZONE)

    region.operator.attach(region.add_disk("vol"), "i-1")
    with pytest.raises(DiskInUse):
        region.operator.change_disk("vol", moved)
    region.operator.change_disk("vol", moved, force=True)
    assert region.operator.disk("vol").zone == OTHER_ZONE
    check(region.cloud.core.store)


def test_a_disk_is_made_although_its_zone_is_full() -> None:
    region = SmallRegion(capacity_gib=10)
    disk = Disk("vol", ZONE, size_gib=11)
    with pytest.raises(ZoneFull):
        region.operator.add_disk(disk, check_room=True)
    region.operator.add_disk(disk)
    assert region.operator.available_gib(ZONE) == 0


def test_a_disk_grows_past_the_room_of_its_zone() -> None:
    region = SmallRegion(capacity_gib=10)
    region.add_disk("vol")
    with pytest.raises(ZoneFull):
        region.operator.change_disk("vol", lambda disk: replace(disk, size_gib=11))
    region.operator.change_disk("vol", lambda disk: replace(disk, size_gib=11), force=True)
    assert region.operator.disk("vol").size_gib == 11


def test_a_disk_can_be_attached_to_fewer_instances_than_it_is(region: SmallRegion) -> None:
    def alone(disk: Disk) -> Disk:
        return replace(disk, max_attachments=1)

    region.add_instance("i-3")
    region.add_disk("vol", max_attachments=2)
    for instance in ("i-1", "i-3"):
        region.operator.attach("vol", instance)
    with pytest.raises(TooManyAttachments):
        region.operator.change_disk("vol", alone)
    assert region.operator.change_disk("vol", alone, force=True).disk.max_attachments == 1


def test_an_instance_is_added_with_more_disks_than_slots(region: SmallRegion) -> None:
    def add(force: bool) -> None:
        region.operator.add_instance(
            Instance("i-9", ZONE, "type-of-i-1"),
            boot_disk="boot-9",
            disks=[("a", {}), ("b", {})],
            force=force,
        )

    with pytest.raises(SlotsExhausted):
        add(force=False)
    assert not any(map(region.operator.has_disk, ("boot-9", "a", "b")))
    add(force=True)
    assert region.attached("i-9") == ["boot-9", "a", "b"]


def test_a_boot_disk_that_is_forced_onto_another_instance_survives_its_own() -> None:
    region = SmallRegion()
    region.add_instance("i-1", boot_disk="boot")
    region.add_instance("i-2")
    region.operator.attach("boot", "i-2", force=True)
    region.operator.terminate_instance("i-1")
    assert region.attached("i-2") == ["boot"]
    region.operator.terminate_instance("i-2")
    assert not region.operator.has_disk("boot")
    check(region.cloud.core.store)


@pytest.mark.parametrize("state", list(AttachmentState))
def test_an_attachment_is_put_into_any_state_and_released_from_it(state: AttachmentState) -> None:
    region = SmallRegion()
    region.add_instance("i-1")
    region.publish(region.add_disk("vol"))
    changed = region.operator.change_attachment("vol", "i-1", state=state)
    assert changed.state is state
    region.runtime.advance(1e6)
    assert region.states() == {"vol": state.value}
    region.operator.release(disk="vol")
    gone = state is AttachmentState.DETACHING
    assert region.states() == ({} if gone else {"vol": "attached"})


def test_a_busy_attachment_is_detached_by_force_only(region: SmallRegion) -> None:
    region.operator.attach(region.add_disk("vol"), "i-1")
    region.operator.change_attachment("vol", "i-1", state=AttachmentState.BUSY)
    with pytest.raises(TransitionUnderWay):
        region.operator.detach("vol", "i-1")
    assert region.operator.detach("vol", "i-1", force=True) is None


def test_a_leaving_disk_goes_on_leaving_unless_it_is_to_go_immediately() -> None:
    region = SmallRegion(detach=HELD)
    region.add_instance("i-1")
    region.operator.attach(region.add_disk("vol"), "i-1")
    leaving = region.operator.detach("vol", "i-1")
    region.operator.set_transitions(detach=Transition())
    assert region.operator.detach("vol", "i-1") == leaving
    assert region.operator.detach("vol", "i-1", force=True) == leaving
    assert region.operator.detach("vol", "i-1", immediately=True) is None
