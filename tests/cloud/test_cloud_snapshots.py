"""A cloud is kept and put back whole; time, numbers and places go on."""

from __future__ import annotations

import pytest

from mockdriver.cloud import Caller, Cloud, Instance, Quota, Transition
from mockdriver.cloud.errors import Throttled
from mockdriver.runtime import SeededRuntime
from tests.cloud.consistency import check
from tests.cloud.small_region import ZONE, SmallRegion


@pytest.fixture
def region() -> SmallRegion:
    region = SmallRegion()
    region.add_instance("i-1", slots=9, boot_disk="boot")
    region.attach_new(2)
    return region


def test_what_was_there_is_there_again(region: SmallRegion) -> None:
    snapshot = region.cloud.snapshot()
    region.operator.terminate_instance("i-1")
    region.operator.remove_disk("vol-1")
    region.cloud.restore(snapshot)
    assert region.attached() == ["boot", "vol-1", "vol-2"]
    assert region.listed() == ["boot", "vol-1", "vol-2"]
    check(region.cloud.core.store)


@pytest.mark.parametrize("times", [1, 2])
def test_a_snapshot_stays_as_it_is(region: SmallRegion, times: int) -> None:
    snapshot = region.cloud.snapshot()
    for _ in range(times):
        region.attach_new(3, prefix="new")
        region.operator.detach("vol-1", "i-1")
        region.cloud.restore(snapshot)
    assert region.attached() == ["boot", "vol-1", "vol-2"]
    assert not region.operator.has_disk("new-1")
    check(region.cloud.core.store)


def test_settings_are_part_of_it() -> None:
    region = SmallRegion(attach=Transition(after_seconds=2), capacity_gib=7)
    snapshot = region.cloud.snapshot()
    other = Cloud(region.runtime, region="elsewhere", default_zone="z", zones_are_fixed=True)
    other.restore(snapshot)
    assert (other.region, other.operator.capacity_gib()) == (region.cloud.region, 7)
    assert other.operator.transitions().attach == Transition(after_seconds=2)
    assert other.operator.default_zone() == region.operator.default_zone()
    other.operator.add_instance(Instance("i-1", "a new zone"))


def test_a_transition_has_as_long_to_go_as_it_had(region: SmallRegion) -> None:
    region.operator.set_transitions(detach=Transition(after_seconds=10))
    region.operator.detach("vol-1", "i-1")
    region.runtime.advance(4)
    snapshot = region.cloud.snapshot()
    region.runtime.advance(100)
    region.cloud.restore(snapshot)
    region.runtime.advance(5)
    assert region.states()["vol-1"] == "detaching"
    region.runtime.advance(1)
    assert "vol-1" not in region.states()


def test_what_is_over_when_it_is_taken_is_over_when_it_is_restored(region: SmallRegion) -> None:
    region.operator.set_transitions(detach=Transition(after_seconds=10))
    region.operator.detach("vol-1", "i-1")
    region.runtime.advance(10)
    region.cloud.restore(region.cloud.snapshot())
    assert "vol-1" not in region.states()


def test_buckets_and_counters_are_part_of_it() -> None:
    region = SmallRegion(quotas={"attach": Quota(burst=2, per_second=1)})
    region.add_instance("i-1")
    region.publish(region.add_disk("vol"))
    snapshot = region.cloud.snapshot()
    region.publish("vol")
    region.runtime.advance(1_000)
    region.cloud.restore(snapshot)
    assert region.api.calls()["attach"] == 1
    region.publish("vol")
    with pytest.raises(Throttled):
        region.publish("vol")
    region.runtime.advance(1)
    region.publish("vol")


def test_numbers_and_places_go_on_but_disks_get_the_same_ids_again(region: SmallRegion) -> None:
    snapshot = region.cloud.snapshot()
    first = region.api.create_disk(ZONE, 1, region.caller)
    number = region.publish(first.id).number
    place = region.operator.last_disk_place()
    region.cloud.restore(snapshot)
    second = region.api.create_disk(ZONE, 1, region.caller)
    assert second.id == first.id
    assert region.publish(second.id).number > number
    assert region.operator.last_disk_place() > place


def test_a_cloud_that_takes_the_place_of_another_gives_none_of_its_numbers() -> None:
    region, other = SmallRegion(), SmallRegion()
    other.cloud.go_on_after(region.cloud)
    region.add_instance("i-1")
    last = region.publish(region.add_disk("vol")).number
    later = SmallRegion()
    later.cloud.go_on_after(region.cloud)
    later.add_instance("i-1")
    assert later.publish(later.add_disk("vol")).number > last
    assert later.operator.last_instance_place() > region.operator.last_instance_place()


def attached(region: SmallRegion) -> object:
    caller = Caller(region.runtime)
    return region.operator.wait_until_settled(region.operator.attach("vol", "i-1"), caller)


@pytest.mark.parametrize("seed", range(25))
def test_who_waits_for_what_a_restore_removes_is_woken(seed: int) -> None:
    runtime = SeededRuntime(seed)
    region = SmallRegion(attach=Transition(held=True), runtime=runtime)
    region.add_instance("i-1")
    region.add_disk("vol")
    snapshot = region.cloud.snapshot()
    ends: list[object] = []

    def release_again_and_again() -> None:
        # The attach may come after the restore, and then it is there to stay.
        while not ends:
            region.operator.release()

    runtime.run(
        lambda: ends.append(attached(region)),
        lambda: region.cloud.restore(snapshot),
        release_again_and_again,
    )
    assert len(ends) == 1
