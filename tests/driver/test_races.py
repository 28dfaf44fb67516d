"""Many calls at once, in orders that seeds choose."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from mockdriver.cloud import Quota, Transition
from mockdriver.cloud.errors import CloudError
from mockdriver.co.effective_limit import effective_limit
from mockdriver.co.volume_records import VolumeRecords
from tests.driver.racing_driver import Action, RacingDriver
from tests.driver.small_driver import Peer, of

MOMENT = Transition(after_seconds=0.01)

MAY_BE_ANSWERED = {
    "OK",
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "FAILED_PRECONDITION",
    "NOT_FOUND",  # of a volume that another call has deleted
    "RESOURCE_EXHAUSTED",
    "UNAVAILABLE",
}
"""What a CO may see of calls that race; nothing else, and INTERNAL never."""


def out_of_band(change: Callable[[], object]) -> None:
    """Do what an operator would do; the cloud may refuse it."""
    try:
        change()
    except CloudError:
        return


# ------------------------------------------------------------------------- the last slots of a node


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_a_hundred_publishes_at_once_onto_27_free_slots(seed: int) -> None:
    driver = RacingDriver(seed)
    driver.region.add_instance(slots=30, shared=True, interfaces=2, boot_disk="vol-boot")
    volumes = driver.region.add_disks(100)
    codes = driver.run_for_codes(*[lambda v=volume: driver.publish(v) for volume in volumes])
    assert Counter(codes) == {"OK": 27, "RESOURCE_EXHAUSTED": 73}
    assert driver.operator.slot_users("i-1") == 30
    driver.assert_at_rest()


@pytest.mark.parametrize("seed", range(10))
def test_publishes_that_take_time_share_the_last_slots_too(seed: int) -> None:
    driver = RacingDriver(seed, attach=MOMENT)
    driver.region.add_instance(slots=3)
    volumes = driver.region.add_disks(8)
    codes = driver.run_for_codes(*[lambda v=volume: driver.publish(v) for volume in volumes])
    assert Counter(codes) == {"OK": 3, "RESOURCE_EXHAUSTED": 5}


@pytest.mark.parametrize("seed", range(10))
def test_an_operator_and_the_co_who_race_for_the_last_slot_do_not_both_get_it(seed: int) -> None:
    driver = RacingDriver(seed)
    driver.region.add_instance(slots=1)
    driver.region.add_disk("vol")
    driver.region.add_disk("vol-manual")
    (code,) = driver.run_for_codes(
        lambda: driver.publish("vol"),
        lambda: out_of_band(lambda: driver.operator.attach("vol-manual", "i-1")),
    )
    here = [item.disk for item in driver.operator.attachments("i-1")]
    assert (code, here) in [("OK", ["vol"]), ("RESOURCE_EXHAUSTED", ["vol-manual"])]


# ------------------------------------------------------------------------------ one volume, many


@pytest.mark.parametrize("seed", range(20))
def test_one_volume_published_on_two_nodes_at_once_is_on_one(seed: int) -> None:
    driver = RacingDriver(seed, attach=MOMENT)
    for node in ("i-1", "i-2"):
        driver.region.add_instance(node, slots=3)
    driver.region.add_disk("vol")
    codes = driver.run_for_codes(
        lambda: driver.publish("vol", "i-1"), lambda: driver.publish("vol", "i-2")
    )
    assert Counter(codes) == {"OK": 1, "FAILED_PRECONDITION": 1}
    assert len(driver.region.states("i-1")) + len(driver.region.states("i-2")) == 1


@pytest.mark.parametrize("seed", range(20))
def test_the_same_publish_many_times_at_once_attaches_once(seed: int) -> None:
    driver = RacingDriver(seed, attach=MOMENT)
    driver.region.add_instance(slots=3)
    driver.region.add_disk("vol")
    codes = Counter(driver.run_for_codes(*[lambda: driver.publish("vol")] * 6))
    assert set(codes) <= {"OK", "ABORTED"}
    assert codes["OK"] >= 1
    assert [item.number for item in driver.operator.attachments("i-1")] == [1]


@pytest.mark.parametrize("seed", range(20))
def test_the_same_name_created_many_times_at_once_is_one_volume(seed: int) -> None:
    driver = RacingDriver(seed, quotas={"create_disk": Quota(delay_seconds=0.01)})
    driver.region.add_instance(slots=3)
    answers = driver.run(*[lambda: driver.create("pvc-1")] * 6)
    codes = {answer.code for answer in answers if answer}
    ids = {answer.response.volume.volume_id for answer in answers if answer and answer.ok}
    assert "OK" in codes
    assert codes <= {"OK", "ABORTED"}
    assert len(ids) == 1
    assert driver.cloud_calls()["create_disk"] == 1


# ------------------------------------------------------------------------------------------- a mix


def calls_on(driver: RacingDriver, volume: str) -> list[Action]:
    """Return calls of a CO about one volume, what an operator does to it, and a hang-up."""
    operator, peer = driver.operator, Peer()
    return [
        lambda: driver.publish(volume, "i-1"),
        lambda: driver.publish(volume, "i-2", peer=peer),
        driver.later(0.01, lambda: driver.unpublish(volume, "i-1")),
        driver.later(0.02, lambda: driver.unpublish(volume, "")),
        driver.later(0.03, lambda: driver.publish(volume, "i-2", readonly=True)),
        driver.silently(0.01, lambda: out_of_band(lambda: operator.attach(volume, "i-2"))),
        driver.silently(0.02, lambda: out_of_band(lambda: operator.detach(volume, "i-1"))),
        driver.silently(0.015, peer.hang_up),
        driver.later(0.01, lambda: driver.get_controller_info("i-1")),
    ]


def mixed_calls(driver: RacingDriver) -> list[Action]:
    """Return calls about four volumes on two nodes, and a few about other things."""
    volumes = driver.region.add_disks(4)
    return [
        *[action for volume in volumes for action in calls_on(driver, volume)],
        driver.later(0.01, lambda: driver.create("pvc-1")),
        lambda: driver.create("pvc-1"),
        driver.silently(0.01, lambda: driver.operator.add_network_interface("i-1")),
        driver.later(0.03, lambda: driver.delete(volumes[0])),
    ]


def play_mix(seed: int) -> RacingDriver:
    """Let the mix happen in the order that a seed chooses."""
    driver = RacingDriver(
        seed,
        attach=MOMENT,
        detach=Transition(after_reads=2),
        quotas={"attach": Quota(burst=6, per_second=100, delay_seconds=0.005)},
    )
    for node in ("i-1", "i-2"):
        driver.region.add_instance(node, slots=3, shared=True)
    driver.run(*mixed_calls(driver))
    return driver


@pytest.mark.parametrize("seed", range(30))
def test_a_mix_ends_with_every_rule_kept(seed: int) -> None:
    driver = play_mix(seed)
    driver.assert_at_rest()
    assert set(driver.codes()) <= MAY_BE_ANSWERED
    attached = [disk for node in ("i-1", "i-2") for disk in driver.region.attached(node)]
    assert max(Counter(attached).values(), default=1) == 1
    # i-1 got an interface meanwhile, which nothing refuses.
    assert driver.operator.slot_users("i-1") <= 4
    assert driver.operator.slot_users("i-2") <= 3


def test_the_same_seed_gives_the_same_journal_byte_for_byte() -> None:
    for seed in range(3):
        assert play_mix(seed).journal_text() == play_mix(seed).journal_text()


def test_other_seeds_give_other_journals() -> None:
    assert len({play_mix(seed).journal_text() for seed in range(4)}) > 1


# -------------------------------------------------------------------------- lookups during attaches


@pytest.mark.parametrize("seed", range(20))
def test_a_lookup_never_takes_the_co_s_own_volumes_for_somebody_else_s(seed: int) -> None:
    """KEP-6011, "Race Condition Mitigation": attaches and detaches race with lookups."""
    driver = RacingDriver(
        seed,
        attach=MOMENT,
        detach=MOMENT,
        quotas={"describe_instances": Quota(delay_seconds=0.005)},
    )
    driver.region.add_instance(slots=10, shared=True, boot_disk="vol-boot")
    volumes = driver.region.add_disks(6)
    records, limits = VolumeRecords(), list[int | None]()

    def come_and_go(volume: str) -> Action:
        def act() -> None:
            for _ in range(3):
                records.remember("i-1", volume, published=False)
                of(driver.publish(volume))
                records.remember("i-1", volume, published=True)
                of(driver.unpublish(volume))
                records.forget("i-1", volume)

        return act

    def look() -> None:
        for _ in range(6):
            with records.recording("i-1") as managed:
                info = driver.controller_info()
            limits.append(
                effective_limit(info.max_volumes_per_node, info.published_volume_ids, managed)
            )

    driver.run(*map(come_and_go, volumes), look, look)
    # 10 slots less one interface, less the boot disk.
    assert set(limits) == {8}
