"""Attachments: their numbers, their tags, and how they end."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mockdriver.cloud import AttachmentState, Transition
from mockdriver.cloud.errors import (
    AlreadyAttached,
    AttachedElsewhere,
    BootDiskInUse,
    DiskInUse,
    DiskNotFound,
    InstanceNotFound,
    NotAttached,
    TooManyAttachments,
    TransitionUnderWay,
)
from tests.cloud.small_region import CO_TAGS, SmallRegion

OTHER_TAGS = {"access_mode": "SINGLE_NODE_READER_ONLY"}


def two_instances() -> SmallRegion:
    region = SmallRegion()
    region.add_instance("i-1")
    region.add_instance("i-2")
    return region


@pytest.fixture
def region() -> SmallRegion:
    return two_instances()


# --------------------------------------------------------------------------------------- numbers


def test_attachments_are_numbered_in_the_order_in_which_they_are_made(region: SmallRegion) -> None:
    numbers = [region.publish(disk).number for disk in region.add_disks(3)]
    assert numbers == [1, 2, 3]


def test_the_number_of_a_detached_attachment_is_never_given_again(region: SmallRegion) -> None:
    region.add_disk("vol")
    numbers = []
    for _ in range(5):
        numbers.append(region.publish("vol").number)
        region.unpublish("vol")
    assert numbers == sorted(set(numbers))


def test_the_numbers_of_a_terminated_instance_are_never_given_again(region: SmallRegion) -> None:
    first = region.publish(region.add_disk("vol"))
    region.operator.terminate_instance("i-1")
    region.add_instance("i-1")
    assert region.publish("vol").number > first.number


def test_an_attachment_keeps_its_number_through_all_its_states() -> None:
    region = SmallRegion(attach=Transition(held=True), detach=Transition(held=True))
    region.add_instance()
    number = region.publish(region.add_disk("vol")).number
    region.operator.release()
    leaving = region.unpublish("vol")
    assert leaving is not None
    assert leaving.number == number
    assert [item.number for item in region.operator.attachments("i-1")] == [number]


# -------------------------------------------------------------------------------------- adoption


def test_an_attach_by_the_api_adopts_an_attachment_without_tags(region: SmallRegion) -> None:
    region.add_disk("vol")
    manual = region.operator.attach("vol", "i-1")
    adopted = region.api.attach("vol", "i-1", region.caller, tags=CO_TAGS)
    assert manual.tags == {}
    assert adopted.tags == CO_TAGS
    assert adopted.number == manual.number
    assert region.operator.attachments("i-1") == [adopted]


def test_an_attach_by_the_api_leaves_the_tags_of_a_tagged_attachment_alone(
    region: SmallRegion,
) -> None:
    first = region.publish(region.add_disk("vol"))
    second = region.api.attach("vol", "i-1", region.caller, tags=OTHER_TAGS)
    assert second == first
    assert region.operator.attachments("i-1") == [first]


def test_an_attach_by_the_api_without_tags_adopts_nothing(region: SmallRegion) -> None:
    region.add_disk("vol")
    manual = region.operator.attach("vol", "i-1")
    assert region.api.attach("vol", "i-1", region.caller) == manual


def test_adoption_does_not_end_a_transition() -> None:
    region = SmallRegion(attach=Transition(held=True))
    region.add_instance()
    region.operator.attach(region.add_disk("vol"), "i-1")
    adopted = region.publish("vol")
    assert adopted.tags == CO_TAGS
    assert region.states() == {"vol": "attaching"}


def test_an_attachment_that_is_leaving_is_not_adopted() -> None:
    region = SmallRegion(detach=Transition(held=True))
    region.add_instance()
    region.operator.attach(region.add_disk("vol"), "i-1")
    region.operator.detach("vol", "i-1")
    with pytest.raises(TransitionUnderWay) as refusal:
        region.publish("vol")
    assert refusal.value.attachment.tags == {}


def test_a_busy_attachment_is_not_adopted_and_no_answer_to_a_repeat(region: SmallRegion) -> None:
    manual = region.operator.attach(region.add_disk("vol"), "i-1")
    # No call leads to this state; a scenario of a broken cloud may.
    busy = replace(manual, state=AttachmentState.BUSY)
    region.cloud.core.store.put_attachment(busy)
    with pytest.raises(TransitionUnderWay) as refusal:
        region.publish("vol")
    assert refusal.value.attachment == busy


def test_a_busy_attachment_can_be_detached_by_force_only(region: SmallRegion) -> None:
    attachment = region.publish(region.add_disk("vol"))
    busy = replace(attachment, state=AttachmentState.BUSY)
    region.cloud.core.store.put_attachment(busy)
    for refused in (region.unpublish, lambda disk: region.operator.detach(disk, "i-1")):
        with pytest.raises(TransitionUnderWay) as refusal:
            refused("vol")
        assert refusal.value.attachment == busy
    assert region.operator.detach("vol", "i-1", force=True) is None
    assert region.attached() == []


def test_an_attach_out_of_band_of_an_attached_disk_is_refused(region: SmallRegion) -> None:
    first = region.publish(region.add_disk("vol"))
    with pytest.raises(AlreadyAttached) as refusal:
        region.operator.attach("vol", "i-1")
    assert refusal.value.attachment == first


# ------------------------------------------------------------------------------ several instances


def test_a_disk_is_attached_to_as_many_instances_as_it_allows(region: SmallRegion) -> None:
    region.add_disk("vol", max_attachments=2)
    region.add_instance("i-3")
    region.publish("vol", "i-1")
    region.publish("vol", "i-2")
    with pytest.raises(TooManyAttachments) as refusal:
        region.publish("vol", "i-3")
    assert refusal.value.instances == ("i-1", "i-2")
    assert refusal.value.max_attachments == 2


def test_an_exclusive_attach_is_refused_while_the_disk_is_anywhere_else(
    region: SmallRegion,
) -> None:
    region.add_disk("vol", max_attachments=2)
    region.publish("vol", "i-1")
    with pytest.raises(AttachedElsewhere) as refusal:
        region.publish("vol", "i-2", exclusive=True)
    assert refusal.value.instances == ("i-1",)


def test_a_disk_that_is_leaving_one_instance_is_still_attached_there() -> None:
    region = SmallRegion(detach=Transition(held=True))
    region.add_instance("i-1")
    region.add_instance("i-2")
    region.publish(region.add_disk("vol"), "i-1")
    region.unpublish("vol", "i-1")
    with pytest.raises(TooManyAttachments):
        region.publish("vol", "i-2")
    region.operator.release()
    region.publish("vol", "i-2")
    assert region.attached("i-2") == ["vol"]


def test_a_detach_from_one_instance_leaves_the_others(region: SmallRegion) -> None:
    region.add_disk("vol", max_attachments=2)
    region.publish("vol", "i-1")
    region.publish("vol", "i-2")
    region.unpublish("vol", "i-1")
    assert region.attached("i-1") == []
    assert region.attached("i-2") == ["vol"]


# ---------------------------------------------------------------------------------------- detach


@pytest.mark.parametrize("by", ["api", "operator"])
def test_a_detached_attachment_is_gone_from_every_view(region: SmallRegion, by: str) -> None:
    region.publish(region.add_disk("vol"))
    gone = region.unpublish("vol") if by == "api" else region.operator.detach("vol", "i-1")
    assert gone is None
    assert region.describe().attachments == ()
    assert region.api.describe_disks(["vol"], region.caller)[0].attachments == ()
    assert region.operator.attachments("i-1") == []


@pytest.mark.parametrize("by", ["api", "operator"])
def test_a_disk_that_is_not_attached_cannot_be_detached(region: SmallRegion, by: str) -> None:
    region.publish(region.add_disk("vol"), "i-2")
    with pytest.raises(NotAttached) as refusal:
        region.unpublish("vol") if by == "api" else region.operator.detach("vol", "i-1")
    assert (refusal.value.disk, refusal.value.instance) == ("vol", "i-1")


def test_a_detach_of_an_unknown_disk_names_the_disk(region: SmallRegion) -> None:
    with pytest.raises(DiskNotFound) as refusal:
        region.unpublish("vol-unknown", "i-unknown")
    assert refusal.value.ids == ("vol-unknown",)


def test_a_detach_from_an_unknown_instance_names_the_instance(region: SmallRegion) -> None:
    region.add_disk("vol")
    with pytest.raises(InstanceNotFound) as refusal:
        region.unpublish("vol", "i-unknown")
    assert refusal.value.ids == ("i-unknown",)


@pytest.mark.parametrize("by", ["api", "operator"])
@pytest.mark.parametrize("uses_slot", [True, False], ids=["inside budget", "outside budget"])
def test_a_boot_disk_cannot_be_detached(by: str, uses_slot: bool) -> None:
    region = SmallRegion()
    region.add_instance(slots=3, boot_uses_slot=uses_slot, boot_disk="vol-boot")
    with pytest.raises(BootDiskInUse) as refusal:
        region.unpublish("vol-boot") if by == "api" else region.operator.detach("vol-boot", "i-1")
    assert refusal.value.disk == "vol-boot"
    assert region.attached() == ["vol-boot"]


def test_a_boot_disk_is_attached_to_no_second_instance_even_if_it_allows_two() -> None:
    region = SmallRegion()
    region.add_disk("vol-boot", max_attachments=2)
    region.add_instance("i-1", boot_disk="vol-boot")
    region.add_instance("i-2")
    with pytest.raises(TooManyAttachments) as refusal:
        region.publish("vol-boot", "i-2")
    assert refusal.value.max_attachments == 1


# ------------------------------------------------------------------------------------ whole disks


def test_a_disk_is_not_deleted_while_it_is_attached(region: SmallRegion) -> None:
    region.add_disk("vol", max_attachments=2)
    region.publish("vol", "i-1")
    region.publish("vol", "i-2")
    with pytest.raises(DiskInUse) as refusal:
        region.api.delete_disk("vol", region.caller)
    assert refusal.value.instances == ("i-1", "i-2")
    assert region.operator.has_disk("vol")


@pytest.mark.parametrize("transition", ["attach", "detach"])
def test_a_disk_is_not_deleted_while_its_attachment_is_under_way(transition: str) -> None:
    held = Transition(held=True)
    region = SmallRegion(attach=held) if transition == "attach" else SmallRegion(detach=held)
    region.add_instance()
    region.publish(region.add_disk("vol"))
    if transition == "detach":
        region.unpublish("vol")
    with pytest.raises(DiskInUse):
        region.api.delete_disk("vol", region.caller)


def test_a_disk_is_deleted_once_its_timed_detach_has_ended_though_nobody_looked() -> None:
    region = SmallRegion(detach=Transition(after_seconds=2))
    region.add_instance()
    region.publish(region.add_disk("vol"))
    region.unpublish("vol")
    region.runtime.advance(2)
    region.api.delete_disk("vol", region.caller)
    assert not region.operator.has_disk("vol")


def test_a_deleted_disk_is_unknown_everywhere(region: SmallRegion) -> None:
    region.add_disk("vol")
    region.api.delete_disk("vol", region.caller)
    with pytest.raises(DiskNotFound):
        region.api.describe_disks(["vol"], region.caller)
    with pytest.raises(DiskNotFound):
        region.publish("vol")
    with pytest.raises(DiskNotFound):
        region.api.delete_disk("vol", region.caller)
