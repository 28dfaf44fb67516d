"""Many callers at once: slots are never given twice, whatever the order of the threads.

The store has turning points of its own here (`TurningStore`), so that a change which is not kept
together by the lock comes apart for some seed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from mockdriver.cloud import Attachment, Caller, Instance, Quota, Transition
from mockdriver.cloud.errors import CloudError
from mockdriver.cloud.store import Store
from mockdriver.runtime import SeededRuntime
from tests.cloud.small_region import SmallRegion

SEEDS = range(40)


class TurningStore(Store):
    """A store in the midst of whose questions another thread may get its turn."""

    def __init__(self, runtime: SeededRuntime) -> None:
        super().__init__()
        self._runtime = runtime

    def slot_users(self, instance: Instance) -> int:
        users = super().slot_users(instance)
        self._runtime.advance(0)
        return users

    def attachment(self, disk: str, instance: str) -> Attachment | None:
        present = super().attachment(disk, instance)
        self._runtime.advance(0)
        return present


def turning_region(seed: int, **arguments: object) -> SmallRegion:
    runtime = SeededRuntime(seed)
    region = SmallRegion(runtime=runtime, **arguments)  # type: ignore[arg-type]
    region.cloud.core.store = TurningStore(runtime)
    return region


def run_all(region: SmallRegion, *actions: Callable[[], object]) -> Counter[str]:
    """Run the actions as threads; count what they answered, an error by its name."""
    answers: Counter[str] = Counter()

    def answering(action: Callable[[], object]) -> Callable[[], None]:
        def act() -> None:
            try:
                action()
            except CloudError as refusal:
                answers[type(refusal).__name__] += 1
            else:
                answers["OK"] += 1

        return act

    assert isinstance(region.runtime, SeededRuntime)
    region.runtime.run(*map(answering, actions))
    return answers


def publishing(region: SmallRegion, disk: str, instance: str = "i-1") -> Callable[[], object]:
    def publish() -> Attachment:
        return region.api.attach(disk, instance, Caller(region.runtime), tags={"by": "co"})

    return publish


@pytest.mark.parametrize("quota", [Quota(), Quota(delay_seconds=0.05)], ids=["no delay", "a delay"])
@pytest.mark.parametrize("free", [1, 4, 11])
def test_of_twelve_attaches_as_many_succeed_as_there_are_free_slots(
    free: int, quota: Quota
) -> None:
    for seed in SEEDS:
        region = turning_region(seed, quotas={"attach": quota})
        region.add_instance(slots=free + 2, shared=True, interfaces=1, boot_disk="vol-boot")
        disks = region.add_disks(12)
        answers = run_all(region, *[publishing(region, disk) for disk in disks])
        assert answers == {"OK": free, "SlotsExhausted": 12 - free}, seed
        assert region.operator.slot_users("i-1") == free + 2
        numbers = [item.number for item in region.operator.attachments("i-1")]
        assert len(set(numbers)) == free + 1


def test_attaches_by_the_api_and_out_of_band_share_the_free_slots() -> None:
    for seed in SEEDS:
        region = turning_region(seed)
        region.add_instance(slots=3)
        by_api = [publishing(region, disk) for disk in region.add_disks(4, "api")]

        def manually(disk: str, region: SmallRegion = region) -> Callable[[], object]:
            return lambda: region.operator.attach(disk, "i-1")

        by_hand = [manually(disk) for disk in region.add_disks(4, "manual")]
        assert run_all(region, *by_api, *by_hand) == {"OK": 3, "SlotsExhausted": 5}, seed


def test_a_disk_for_one_instance_goes_to_one_of_two_that_want_it() -> None:
    winners: set[str] = set()
    for seed in SEEDS:
        region = turning_region(seed)
        region.add_instance("i-1", slots=1)
        region.add_instance("i-2", slots=1)
        region.add_disk("vol")
        wanting = [publishing(region, "vol", instance) for instance in ("i-1", "i-2")]
        assert run_all(region, *wanting) == {"OK": 1, "TooManyAttachments": 1}, seed
        winners.update(name for name in ("i-1", "i-2") if region.attached(name) == ["vol"])
    assert winners == {"i-1", "i-2"}


def test_many_attaches_of_one_disk_make_one_attachment() -> None:
    for seed in SEEDS:
        region = turning_region(seed)
        region.add_instance(slots=1)
        region.add_disk("vol")
        assert run_all(region, *[publishing(region, "vol")] * 6) == {"OK": 6}, seed
        assert [item.number for item in region.operator.attachments("i-1")] == [1]


def test_many_detaches_of_one_disk_free_one_slot() -> None:
    for seed in SEEDS:
        region = turning_region(seed)
        region.add_instance(slots=2)
        region.attach_new(2)

        def detach(region: SmallRegion = region) -> object:
            return region.api.detach("vol-1", "i-1", Caller(region.runtime))

        assert run_all(region, *[detach] * 4) == {"OK": 1, "NotAttached": 3}, seed
        assert region.attached() == ["vol-2"]


def test_detaches_and_attaches_at_once_never_leave_more_slot_users_than_slots() -> None:
    outcomes: set[int] = set()
    for seed in SEEDS:
        region = turning_region(seed, detach=Transition(after_seconds=1))
        region.add_instance(slots=3)
        old = region.attach_new(3, prefix="old")
        new = region.add_disks(4, prefix="new")

        def replacing(disk: str, region: SmallRegion = region) -> Callable[[], object]:
            def replace_disk() -> None:
                leaving = region.api.detach(disk, "i-1", Caller(region.runtime))
                assert leaving is not None
                region.operator.wait_until_settled(leaving, Caller(region.runtime))

            return replace_disk

        def attaching_later(disk: str, region: SmallRegion = region) -> Callable[[], object]:
            def attach_later() -> None:
                Caller(region.runtime).sleep_until(1)
                publishing(region, disk)()
                assert region.operator.slot_users("i-1") <= 3

            return attach_later

        answers = run_all(
            region, *[replacing(disk) for disk in old], *[attaching_later(disk) for disk in new]
        )
        assert answers == {"OK": 3 + 3, "SlotsExhausted": 1}, seed
        outcomes.add(region.operator.slot_users("i-1"))
    assert outcomes == {3}


def test_a_token_bucket_lets_exactly_its_burst_through() -> None:
    for seed in SEEDS:
        region = turning_region(seed, quotas={"attach": Quota(burst=5)})
        region.add_instance(slots=12)
        disks = region.add_disks(12)
        answers = run_all(region, *[publishing(region, disk) for disk in disks])
        assert answers == {"OK": 5, "Throttled": 7}, seed
        assert region.api.calls()["attach"] == 12


def test_created_disks_get_ids_of_their_own() -> None:
    for seed in SEEDS:
        region = turning_region(seed, quotas={"create_disk": Quota(delay_seconds=1)})
        region.operator.add_zone("zone-a")
        ids: list[str] = []

        def create(region: SmallRegion = region, ids: list[str] = ids) -> None:
            ids.append(region.api.create_disk("zone-a", 10, Caller(region.runtime)).id)

        assert run_all(region, *[create] * 6) == {"OK": 6}, seed
        assert len(set(ids)) == 6
