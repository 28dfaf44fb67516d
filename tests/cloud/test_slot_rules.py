"""Who uses a slot, what is refused when none is left, and what never is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mockdriver.cloud import Attachment, AttachmentState, Instance, Transition, slots
from mockdriver.cloud.errors import SlotsExhausted
from tests.cloud.small_region import SmallRegion

HELD = Transition(held=True)


def max_volumes_per_node(region: SmallRegion, instance: str = "i-1") -> int:
    interfaces = len(region.describe(instance).network_interfaces)
    return slots.max_volumes_per_node(region.type_of(instance), interfaces)


def assert_full(region: SmallRegion, instance: str = "i-1") -> SlotsExhausted:
    """Assert that one more disk is refused, and that the refusal leaves no trace."""
    before = region.operator.attachments(instance)
    disk = region.add_fresh_disk()
    with pytest.raises(SlotsExhausted) as refusal:
        region.publish(disk, instance)
    assert region.operator.attachments(instance) == before
    return refusal.value


def assert_room_for(region: SmallRegion, count: int, instance: str = "i-1") -> None:
    """Assert that exactly `count` more disks can be attached."""
    for _ in range(count):
        region.publish(region.add_fresh_disk(), instance)
    assert_full(region, instance)


# ------------------------------------------------------------------------------- slots and disks


@pytest.mark.parametrize("raw", [1, 2, 7, 40])
def test_an_instance_takes_as_many_disks_as_it_has_slots(raw: int) -> None:
    region = SmallRegion()
    region.add_instance(slots=raw)
    assert_room_for(region, raw)


def test_the_refusal_names_the_instance_its_slots_and_its_slot_users() -> None:
    region = SmallRegion()
    region.add_instance(slots=3, shared=True, interfaces=2, boot_disk="vol-boot")
    refusal = assert_full(region)
    assert (refusal.instance, refusal.slots, refusal.users) == ("i-1", 3, 3)


def test_a_disk_attached_out_of_band_uses_a_slot() -> None:
    region = SmallRegion()
    region.add_instance(slots=2)
    region.operator.attach(region.add_disk("vol-manual"), "i-1")
    assert_room_for(region, 1)


def test_an_attach_out_of_band_is_refused_past_the_slots_too() -> None:
    region = SmallRegion()
    region.add_instance(slots=1)
    region.attach_new(1)
    with pytest.raises(SlotsExhausted):
        region.operator.attach(region.add_disk("vol-manual"), "i-1")


def test_a_type_with_no_slots_takes_no_disk() -> None:
    region = SmallRegion()
    region.add_instance(slots=0)
    assert_full(region)


def test_a_disk_on_two_instances_uses_a_slot_of_each() -> None:
    region = SmallRegion()
    region.add_instance("i-1", slots=1)
    region.add_instance("i-2", slots=1)
    region.add_disk("vol-shared", max_attachments=2)
    region.publish("vol-shared", "i-1")
    region.publish("vol-shared", "i-2")
    assert_full(region, "i-1")
    assert_full(region, "i-2")


def test_the_slots_of_one_instance_are_not_those_of_another() -> None:
    region = SmallRegion()
    region.add_instance("i-1", slots=1)
    region.add_instance("i-2", slots=3)
    region.attach_new(1, "i-1")
    assert_room_for(region, 3, "i-2")


def test_a_refused_attach_takes_no_attachment_number() -> None:
    region = SmallRegion()
    region.add_instance(slots=1)
    first = region.publish(region.add_disk("vol-1"))
    assert_full(region)
    region.unpublish("vol-1")
    assert region.publish("vol-1").number == first.number + 1


# ------------------------------------------------------------------------------------ interfaces


def test_interfaces_use_slots_where_they_share_them() -> None:
    region = SmallRegion()
    region.add_instance(slots=5, shared=True, interfaces=3)
    assert region.operator.slot_users("i-1") == 3
    assert_room_for(region, 2)


def test_interfaces_use_no_slots_where_slots_are_dedicated_to_disks() -> None:
    region = SmallRegion()
    region.add_instance(slots=5, shared=False, interfaces=3)
    assert region.operator.slot_users("i-1") == 0
    assert_room_for(region, 5)


def test_an_interface_is_added_to_a_full_instance_and_then_slot_users_exceed_slots() -> None:
    region = SmallRegion()
    region.add_instance(slots=3, shared=True, interfaces=1)
    region.attach_new(2)
    region.operator.add_network_interface("i-1")
    assert region.operator.slot_users("i-1") == 4
    assert assert_full(region).users == 4


def test_a_disk_that_leaves_an_instance_with_too_many_slot_users_makes_no_room() -> None:
    region = SmallRegion()
    region.add_instance(slots=3, shared=True, interfaces=1)
    disks = region.attach_new(2)
    region.operator.add_network_interface("i-1")
    region.unpublish(disks[0])
    assert_full(region)
    region.unpublish(disks[1])
    assert_room_for(region, 1)


def test_an_interface_that_is_removed_makes_room_for_a_disk() -> None:
    region = SmallRegion()
    region.add_instance(slots=3, shared=True, interfaces=3)
    assert_full(region)
    region.operator.remove_network_interfaces("i-1")
    assert_room_for(region, 1)


def test_an_instance_may_begin_with_interfaces_beyond_its_slots() -> None:
    region = SmallRegion()
    region.add_instance(slots=2, shared=True, interfaces=5)
    assert region.operator.slot_users("i-1") == 5
    assert_full(region)


def test_an_instance_may_begin_with_a_boot_disk_and_interfaces_beyond_its_slots() -> None:
    region = SmallRegion()
    region.add_instance(slots=2, shared=True, interfaces=2, boot_disk="vol-boot")
    assert region.operator.slot_users("i-1") == 3
    assert_full(region)


# ------------------------------------------------------------------------------------- boot disk


def test_a_boot_disk_inside_the_budget_uses_a_slot() -> None:
    region = SmallRegion()
    region.add_instance(slots=4, boot_disk="vol-boot")
    assert region.operator.slot_users("i-1") == 1
    assert_room_for(region, 3)


def test_a_boot_disk_outside_the_budget_uses_no_slot() -> None:
    region = SmallRegion()
    region.add_instance(slots=4, boot_uses_slot=False, boot_disk="vol-boot")
    assert region.operator.slot_users("i-1") == 0
    assert_room_for(region, 4)


def test_a_boot_disk_outside_the_budget_needs_no_slot_to_begin_with() -> None:
    region = SmallRegion()
    region.add_instance(slots=0, boot_uses_slot=False, boot_disk="vol-boot")
    assert region.attached() == ["vol-boot"]
    assert_full(region)


def test_a_boot_disk_inside_the_budget_is_listed() -> None:
    region = SmallRegion()
    region.add_instance(slots=4, boot_disk="vol-boot")
    region.attach_new(1)
    assert region.listed() == ["vol-boot", "vol-1"]


def test_a_boot_disk_outside_the_budget_is_not_listed() -> None:
    region = SmallRegion()
    region.add_instance(slots=4, boot_uses_slot=False, boot_disk="vol-boot")
    region.attach_new(1)
    assert region.listed() == ["vol-1"]


# ------------------------------------------------------------------------ attachments under way


def test_a_disk_that_is_attaching_uses_its_slot_and_is_listed() -> None:
    region = SmallRegion(attach=HELD)
    region.add_instance(slots=1)
    region.attach_new(1)
    assert region.states() == {"vol-1": "attaching"}
    assert region.listed() == ["vol-1"]
    assert_full(region)


def test_a_disk_that_is_detaching_uses_its_slot_and_is_listed() -> None:
    region = SmallRegion(detach=HELD)
    region.add_instance(slots=1)
    region.attach_new(1)
    region.unpublish("vol-1")
    assert region.states() == {"vol-1": "detaching"}
    assert region.listed() == ["vol-1"]
    assert_full(region)


def test_a_busy_attachment_uses_its_slot_and_is_listed() -> None:
    region = SmallRegion()
    region.add_instance(slots=1)
    attachment = region.publish(region.add_disk("vol-1"))
    put_state(region, attachment, AttachmentState.BUSY)
    assert region.listed() == ["vol-1"]
    assert_full(region)


def test_a_detached_disk_frees_its_slot_for_another() -> None:
    region = SmallRegion()
    region.add_instance(slots=1)
    region.attach_new(1)
    region.unpublish("vol-1")
    assert_room_for(region, 1)


def test_a_slot_is_free_once_a_timed_detach_has_ended_though_nobody_looked() -> None:
    region = SmallRegion(detach=Transition(after_seconds=2))
    region.add_instance(slots=1)
    region.attach_new(1)
    region.unpublish("vol-1")
    region.runtime.advance(1)
    assert_full(region)
    region.runtime.advance(1)
    assert_room_for(region, 1)


def test_slot_users_leave_out_a_disk_whose_timed_detach_has_ended() -> None:
    region = SmallRegion(detach=Transition(after_seconds=2))
    region.add_instance(slots=3)
    region.attach_new(2)
    region.unpublish("vol-1")
    assert region.operator.slot_users("i-1") == 2
    region.runtime.advance(2)
    assert region.operator.slot_users("i-1") == 1


def put_state(region: SmallRegion, attachment: Attachment, state: AttachmentState) -> None:
    """Set a state that no call leads to."""
    region.cloud.core.store.put_attachment(replace(attachment, state=state))


# ----------------------------------------------------------------------------------------- types


def test_an_instance_without_a_type_has_no_limit() -> None:
    region = SmallRegion()
    region.operator.add_instance(Instance(id="i-1", zone="zone-a"), network_interfaces=3)
    region.attach_new(200)
    assert len(region.attached()) == 200


def test_a_type_without_slots_sets_no_limit() -> None:
    region = SmallRegion()
    region.add_instance(slots=None, shared=True, interfaces=3)
    region.attach_new(200)
    assert max_volumes_per_node(region) == 0


def test_a_change_to_a_type_with_fewer_slots_is_never_refused() -> None:
    region = SmallRegion()
    region.add_instance(slots=5)
    region.attach_new(5)
    small = region.put_type("smaller", slots=2)
    region.operator.change_instance_type("i-1", small.name)
    assert len(region.attached()) == 5
    assert assert_full(region).slots == 2


def test_a_change_to_a_type_with_more_slots_makes_room() -> None:
    region = SmallRegion()
    region.add_instance(slots=2)
    region.attach_new(2)
    large = region.put_type("larger", slots=5)
    region.operator.change_instance_type("i-1", large.name)
    assert_room_for(region, 3)


def test_a_change_to_no_type_takes_the_limit_away() -> None:
    region = SmallRegion()
    region.add_instance(slots=1)
    region.operator.change_instance_type("i-1", None)
    region.attach_new(30)
    assert len(region.attached()) == 30


def test_an_edit_of_the_type_below_its_slot_users_is_never_refused() -> None:
    region = SmallRegion()
    region.add_instance(slots=5)
    region.attach_new(5)
    region.put_type("i-1", slots=2)
    assert region.operator.slot_users("i-1") == 5
    assert_full(region)


def test_an_edit_of_the_type_holds_for_every_instance_of_it() -> None:
    region = SmallRegion()
    region.add_instance("i-1", slots=1)
    region.operator.add_instance(Instance(id="i-2", zone="zone-a", type="type-of-i-1"))
    region.put_type("i-1", slots=2)
    assert_room_for(region, 2, "i-1")
    assert_room_for(region, 2, "i-2")


# -------------------------------------------------------------------------- max_volumes_per_node


def test_attached_disks_do_not_change_max_volumes_per_node() -> None:
    region = SmallRegion()
    region.add_instance(slots=10, shared=True, interfaces=2, boot_disk="vol-boot")
    before = max_volumes_per_node(region)
    region.attach_new(4)
    assert before == max_volumes_per_node(region) == 8


def test_an_added_interface_lowers_max_volumes_per_node_by_one() -> None:
    region = SmallRegion()
    region.add_instance(slots=28, shared=True, interfaces=1, boot_disk="vol-boot")
    assert max_volumes_per_node(region) == 27
    region.operator.add_network_interface("i-1")
    assert max_volumes_per_node(region) == 26


def test_max_volumes_per_node_stays_one_when_interfaces_outgrow_the_slots() -> None:
    region = SmallRegion()
    region.add_instance(slots=2, shared=True, interfaces=1)
    for _ in range(4):
        region.operator.add_network_interface("i-1")
    assert max_volumes_per_node(region) == 1


def test_the_example_of_the_kep_comes_out_to_the_number() -> None:
    """KEP-6011: 25 slots shared, 2 interfaces, boot + manual + 8 CSI volumes attached."""
    region = SmallRegion()
    region.add_instance(slots=25, shared=True, interfaces=2, boot_disk="vol-boot")
    region.operator.attach(region.add_disk("vol-manual"), "i-1")
    published = region.attach_new(8)

    listed = region.listed()
    unknown = set(listed) - set(published)
    assert max_volumes_per_node(region) == 23
    assert len(listed) == 10
    assert unknown == {"vol-boot", "vol-manual"}

    effective_limit = max_volumes_per_node(region) - len(unknown)
    assert effective_limit == 21
    assert_room_for(region, effective_limit - len(published))
    assert len(region.attached()) == 10 + 13
