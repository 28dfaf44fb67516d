"""Lazy transitions: at once, after a time, after a number of reads, held until released."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mockdriver.cloud import Quota, Transition
from mockdriver.cloud.errors import (
    InstanceNotFound,
    NotAttached,
    SlotsExhausted,
    Throttled,
    TooManyAttachments,
)
from tests.cloud.small_region import SmallRegion

HELD = Transition(held=True)
TWO_SECONDS = Transition(after_seconds=2)


def attaching_region(attach: Transition) -> SmallRegion:
    """Return a region in which `vol` has begun to attach to `i-1`."""
    region = SmallRegion(attach=attach)
    region.add_instance()
    region.publish(region.add_disk("vol"))
    return region


def detaching_region(detach: Transition) -> SmallRegion:
    """Return a region in which `vol` has begun to detach from `i-1`."""
    region = SmallRegion(detach=detach)
    region.add_instance()
    region.publish(region.add_disk("vol"))
    region.unpublish("vol")
    return region


def seen_by_instance(region: SmallRegion) -> str:
    """Read the instance; return the state of `vol`, or `gone`."""
    return next((item.state.value for item in region.describe().attachments), "gone")


def seen_by_disk(region: SmallRegion) -> str:
    """Read the disk; return the state of its attachment, or `gone`."""
    (description,) = region.api.describe_disks(["vol"], region.caller)
    attachment = description.attachment_to("i-1")
    return "gone" if attachment is None else attachment.state.value


Read = Callable[[SmallRegion], str]
BOTH_READS = pytest.mark.parametrize("read", [seen_by_instance, seen_by_disk])

# ---------------------------------------------------------------------------------- immediately

NO_WAIT = [Transition(), Transition(after_seconds=0), Transition(after_reads=0)]


@pytest.mark.parametrize("transition", NO_WAIT, ids=["no field", "0 seconds", "0 reads"])
def test_an_immediate_attach_is_attached_in_its_own_answer(transition: Transition) -> None:
    region = SmallRegion(attach=transition)
    region.add_instance()
    attachment = region.publish(region.add_disk("vol"))
    assert attachment.state.value == "attached"
    assert attachment.pending is None


@pytest.mark.parametrize("transition", NO_WAIT, ids=["no field", "0 seconds", "0 reads"])
def test_an_immediate_detach_is_gone_in_its_own_answer(transition: Transition) -> None:
    region = SmallRegion(detach=transition)
    region.add_instance()
    region.publish(region.add_disk("vol"))
    assert region.unpublish("vol") is None
    assert region.states() == {}


# ------------------------------------------------------------------------------------ after a time


@BOTH_READS
def test_a_timed_attach_ends_when_its_time_has_come_and_not_before(read: Read) -> None:
    region = attaching_region(TWO_SECONDS)
    assert read(region) == "attaching"
    region.runtime.advance(1.999)
    assert read(region) == "attaching"
    region.runtime.advance(0.001)
    assert read(region) == "attached"


@BOTH_READS
def test_a_timed_detach_ends_when_its_time_has_come_and_not_before(read: Read) -> None:
    region = detaching_region(TWO_SECONDS)
    assert read(region) == "detaching"
    region.runtime.advance(1.999)
    assert read(region) == "detaching"
    region.runtime.advance(0.001)
    assert read(region) == "gone"


def test_the_time_of_a_transition_counts_from_its_own_beginning() -> None:
    region = SmallRegion(attach=TWO_SECONDS)
    region.add_instance()
    region.add_disks(2)
    region.publish("vol-1")
    region.runtime.advance(1)
    region.publish("vol-2")
    region.runtime.advance(1)
    assert region.states() == {"vol-1": "attached", "vol-2": "attaching"}
    region.runtime.advance(1)
    assert region.states() == {"vol-1": "attached", "vol-2": "attached"}


def test_reads_do_not_end_a_timed_transition() -> None:
    region = attaching_region(TWO_SECONDS)
    assert [seen_by_instance(region) for _ in range(20)] == ["attaching"] * 20


def test_a_timed_detach_that_has_ended_cannot_be_detached_again() -> None:
    region = detaching_region(TWO_SECONDS)
    region.runtime.advance(2)
    with pytest.raises(NotAttached):
        region.unpublish("vol")


def test_a_disk_whose_timed_detach_has_ended_can_be_attached_to_the_same_instance() -> None:
    region = detaching_region(TWO_SECONDS)
    region.runtime.advance(2)
    region.publish("vol")
    assert region.states() == {"vol": "attached"}


def test_a_disk_whose_timed_detach_has_ended_can_be_attached_elsewhere() -> None:
    region = detaching_region(TWO_SECONDS)
    region.add_instance("i-2")
    with pytest.raises(TooManyAttachments):
        region.publish("vol", "i-2")
    region.runtime.advance(2)
    region.publish("vol", "i-2")
    assert region.states("i-1") == {}
    assert region.states("i-2") == {"vol": "attached"}


# ------------------------------------------------------------------------------------ after reads


@BOTH_READS
@pytest.mark.parametrize("reads", [1, 2, 3, 7])
def test_each_of_n_reads_shows_an_attach_under_way_and_the_next_shows_it_done(
    read: Read, reads: int
) -> None:
    region = attaching_region(Transition(after_reads=reads))
    assert [read(region) for _ in range(reads)] == ["attaching"] * reads
    assert read(region) == "attached"


@BOTH_READS
@pytest.mark.parametrize("reads", [1, 2, 3, 7])
def test_each_of_n_reads_shows_a_detach_under_way_and_the_next_shows_it_gone(
    read: Read, reads: int
) -> None:
    region = detaching_region(Transition(after_reads=reads))
    assert [read(region) for _ in range(reads)] == ["detaching"] * reads
    assert read(region) == "gone"


def test_a_read_of_the_disk_and_a_read_of_the_instance_count_alike() -> None:
    region = attaching_region(Transition(after_reads=2))
    assert seen_by_disk(region) == "attaching"
    assert seen_by_instance(region) == "attaching"
    assert seen_by_disk(region) == "attached"


def test_a_search_by_tag_that_finds_the_disk_is_a_read() -> None:
    region = SmallRegion(attach=Transition(after_reads=1))
    region.add_instance()
    disk = region.api.create_disk("zone-a", 10, region.caller, tags={"name": "a"})
    region.publish(disk.id)
    states = []
    for _ in range(2):
        (found,) = region.api.find_disks("name", "a", region.caller)
        states.append(found.attachments[0].state.value)
    assert states == ["attaching", "attached"]


def test_one_call_is_one_read_even_if_it_names_the_instance_twice() -> None:
    region = attaching_region(Transition(after_reads=2))
    twice = region.api.describe_instances(["i-1", "i-1"], region.caller)
    assert [item.attachments[0].state.value for item in twice] == ["attaching", "attaching"]
    assert seen_by_instance(region) == "attaching"
    assert seen_by_instance(region) == "attached"


def test_one_call_is_one_read_even_if_it_names_the_disk_twice() -> None:
    region = attaching_region(Transition(after_reads=2))
    twice = region.api.describe_disks(["vol", "vol"], region.caller)
    assert [item.attachments[0].state.value for item in twice] == ["attaching", "attaching"]
    assert seen_by_disk(region) == "attaching"
    assert seen_by_disk(region) == "attached"


def test_a_read_of_another_instance_is_no_read_of_the_attachment() -> None:
    region = attaching_region(Transition(after_reads=1))
    region.add_instance("i-2")
    for _ in range(3):
        region.describe("i-2")
    assert seen_by_instance(region) == "attaching"


def test_a_batch_that_fails_for_an_unknown_id_is_no_read() -> None:
    region = attaching_region(Transition(after_reads=1))
    for _ in range(3):
        with pytest.raises(InstanceNotFound):
            region.api.describe_instances(["i-1", "i-unknown"], region.caller)
    assert seen_by_instance(region) == "attaching"


def test_a_throttled_call_is_no_read() -> None:
    region = attaching_region(Transition(after_reads=1))
    region.api.set_quota("describe_instances", Quota(burst=0))
    for _ in range(3):
        with pytest.raises(Throttled):
            region.describe()
    assert seen_by_disk(region) == "attaching"


def test_looks_of_the_operator_are_no_reads() -> None:
    region = attaching_region(Transition(after_reads=1))
    for _ in range(5):
        assert region.states() == {"vol": "attaching"}
        assert region.operator.slot_users("i-1") == 1
        region.operator.instance("i-1")
        region.operator.disk("vol")
    assert seen_by_instance(region) == "attaching"
    assert seen_by_instance(region) == "attached"


def test_attach_and_detach_calls_are_no_reads() -> None:
    region = SmallRegion(attach=Transition(after_reads=1), detach=Transition(after_reads=1))
    region.add_instance()
    region.publish(region.add_disk("vol"))
    for _ in range(3):
        region.publish("vol")
    assert seen_by_instance(region) == "attaching"
    region.unpublish("vol")
    for _ in range(3):
        region.unpublish("vol")
    assert seen_by_instance(region) == "detaching"


def test_time_does_not_end_a_transition_that_counts_reads() -> None:
    region = attaching_region(Transition(after_reads=1))
    region.runtime.advance(1_000_000)
    assert region.states() == {"vol": "attaching"}


def test_the_slot_is_free_right_after_the_last_read_of_a_detach() -> None:
    region = SmallRegion(detach=Transition(after_reads=1))
    region.add_instance(slots=1)
    region.publish(region.add_disk("vol"))
    region.unpublish("vol")
    region.add_disk("vol-next")
    with pytest.raises(SlotsExhausted):
        region.publish("vol-next")
    assert seen_by_instance(region) == "detaching"
    region.publish("vol-next")
    assert region.states() == {"vol-next": "attached"}


# ------------------------------------------------------------------------------- held and released


@BOTH_READS
def test_neither_time_nor_reads_end_a_held_attach(read: Read) -> None:
    region = attaching_region(HELD)
    region.runtime.advance(1_000_000)
    assert [read(region) for _ in range(20)] == ["attaching"] * 20


@BOTH_READS
def test_a_release_ends_a_held_attach(read: Read) -> None:
    region = attaching_region(HELD)
    assert region.operator.release() == 1
    assert read(region) == "attached"


@BOTH_READS
def test_a_release_ends_a_held_detach(read: Read) -> None:
    region = detaching_region(HELD)
    assert region.operator.release() == 1
    assert read(region) == "gone"


def held_on_two_instances() -> SmallRegion:
    region = SmallRegion(attach=HELD)
    for name in ("i-1", "i-2"):
        region.add_instance(name)
        region.attach_new(2, name, prefix=f"{name}-vol")
    region.add_disk("vol-both", max_attachments=2)
    region.publish("vol-both", "i-1")
    region.publish("vol-both", "i-2")
    return region


def attaching_on(region: SmallRegion, instance: str) -> set[str]:
    return {disk for disk, state in region.states(instance).items() if state == "attaching"}


def test_a_release_without_a_name_ends_all_held_transitions() -> None:
    region = held_on_two_instances()
    assert region.operator.release() == 6
    assert attaching_on(region, "i-1") == attaching_on(region, "i-2") == set()
    assert region.operator.release() == 0


def test_a_release_of_an_instance_leaves_the_others_held() -> None:
    region = held_on_two_instances()
    assert region.operator.release(instance="i-1") == 3
    assert attaching_on(region, "i-1") == set()
    assert len(attaching_on(region, "i-2")) == 3


def test_a_release_of_a_disk_leaves_other_disks_held() -> None:
    region = held_on_two_instances()
    assert region.operator.release(disk="vol-both") == 2
    assert attaching_on(region, "i-1") == {"i-1-vol-1", "i-1-vol-2"}
    assert attaching_on(region, "i-2") == {"i-2-vol-1", "i-2-vol-2"}


def test_a_release_of_a_disk_on_an_instance_leaves_it_held_on_others() -> None:
    region = held_on_two_instances()
    assert region.operator.release(instance="i-1", disk="vol-both") == 1
    assert "vol-both" not in attaching_on(region, "i-1")
    assert "vol-both" in attaching_on(region, "i-2")


def test_a_release_of_an_unknown_instance_is_refused() -> None:
    with pytest.raises(InstanceNotFound):
        held_on_two_instances().operator.release(instance="i-unknown")


@pytest.mark.parametrize(
    "transition", [TWO_SECONDS, Transition(after_reads=2)], ids=["timed", "counting reads"]
)
def test_a_release_ends_held_transitions_only(transition: Transition) -> None:
    region = attaching_region(transition)
    assert region.operator.release() == 0
    assert region.states() == {"vol": "attaching"}


# --------------------------------------------------------------------- one transition over another


def test_a_detach_of_an_attaching_disk_begins_the_transition_of_detaching() -> None:
    region = SmallRegion(attach=HELD, detach=TWO_SECONDS)
    region.add_instance()
    region.publish(region.add_disk("vol"))
    region.runtime.advance(5)
    leaving = region.unpublish("vol")
    assert leaving is not None
    assert leaving.state.value == "detaching"
    region.runtime.advance(1.999)
    assert region.states() == {"vol": "detaching"}
    region.runtime.advance(0.001)
    assert region.states() == {}


def test_a_detach_of_an_attaching_disk_is_over_at_once_where_detaching_is_immediate() -> None:
    region = attaching_region(HELD)
    assert region.unpublish("vol") is None
    assert region.states() == {}
    assert region.operator.release() == 0


def test_the_end_of_the_abandoned_attach_does_not_bring_the_disk_back() -> None:
    region = SmallRegion(attach=TWO_SECONDS, detach=Transition(after_seconds=10))
    region.add_instance()
    region.publish(region.add_disk("vol"))
    region.unpublish("vol")
    region.runtime.advance(2)
    assert region.states() == {"vol": "detaching"}
    region.runtime.advance(8)
    assert region.states() == {}


def test_a_second_detach_does_not_start_the_time_anew() -> None:
    region = detaching_region(TWO_SECONDS)
    region.runtime.advance(1)
    assert region.unpublish("vol") is not None
    region.runtime.advance(1)
    assert region.states() == {}


def test_the_operator_can_attach_at_once_however_long_attaching_takes() -> None:
    region = SmallRegion(attach=HELD)
    region.add_instance()
    region.operator.attach(region.add_disk("vol"), "i-1", immediately=True)
    assert region.states() == {"vol": "attached"}


def test_attaches_and_detaches_out_of_band_take_their_time_too() -> None:
    region = SmallRegion(attach=TWO_SECONDS, detach=TWO_SECONDS)
    region.add_instance()
    region.operator.attach(region.add_disk("vol"), "i-1")
    assert region.states() == {"vol": "attaching"}
    region.runtime.advance(2)
    assert region.states() == {"vol": "attached"}
    region.operator.detach("vol", "i-1")
    assert region.states() == {"vol": "detaching"}
    region.runtime.advance(2)
    assert region.states() == {}
