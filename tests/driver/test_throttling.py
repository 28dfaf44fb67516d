"""A cloud that throttles: patience, and never the code of a full node."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mockdriver.cloud import Quota
from mockdriver.co.calling import Answer
from mockdriver.driver.cloud_client import PATIENCE_SECONDS
from tests.cloud.small_region import SmallRegion
from tests.driver.racing_driver import RacingDriver
from tests.driver.small_driver import Peer, SmallDriver, of

NEVER = Quota(burst=0, per_second=0)
CALLS: list[tuple[str, str, Callable[[SmallDriver], Answer]]] = [
    ("describe_instances", "ControllerGetNodeInfo", lambda driver: driver.get_controller_info()),
    ("describe_types", "ControllerGetNodeInfo", lambda driver: driver.get_controller_info()),
    ("describe_instances", "NodeGetInfo", lambda driver: driver.call("NodeGetInfo")),
    ("describe_types", "NodeGetInfo", lambda driver: driver.call("NodeGetInfo")),
    ("attach", "ControllerPublishVolume", lambda driver: driver.publish("vol")),
    ("detach", "ControllerUnpublishVolume", lambda driver: driver.unpublish("vol-published")),
    ("describe_disks", "ControllerUnpublishVolume", lambda driver: driver.unpublish("vol", "")),
    ("describe_disks", "CreateVolume", lambda driver: driver.create("pvc-1")),
    ("create_disk", "CreateVolume", lambda driver: driver.create("pvc-1")),
    ("delete_disk", "DeleteVolume", lambda driver: driver.delete("vol")),
]
IDS = [f"{rpc}-{api}" for api, rpc, _ in CALLS]


def driver_with(api: str, quota: Quota, slots: int = 3) -> SmallDriver:
    """Return a driver whose cloud throttles one API; `vol-published` is on `i-1`, `vol` is not."""
    region = SmallRegion()
    region.add_instance(slots=slots)
    driver = SmallDriver(region)
    of(driver.publish(region.add_disk("vol-published")))
    region.add_disk("vol")
    region.api.set_quota(api, quota)
    return driver


@pytest.mark.parametrize(("api", "call"), [(api, call) for api, _, call in CALLS], ids=IDS)
def test_throttled_past_the_patience_is_unavailable(
    api: str, call: Callable[[SmallDriver], Answer]
) -> None:
    driver = driver_with(api, NEVER)
    before = driver.region.states()
    answer = call(driver)
    assert answer.code == "UNAVAILABLE"
    assert answer.message == (
        f"the cloud throttled {api} for {PATIENCE_SECONDS:g} s, longer than this driver waits"
    )
    assert driver.region.states() == before


@pytest.mark.parametrize(("api", "call"), [(api, call) for api, _, call in CALLS], ids=IDS)
def test_a_bucket_that_refills_in_time_is_waited_for(
    api: str, call: Callable[[SmallDriver], Answer]
) -> None:
    # A token every 4 s, of which the first is spent.
    driver = driver_with(api, Quota(burst=1, per_second=0.25))
    assert driver.region.api._buckets[api].take(driver.runtime.now())
    assert call(driver).ok
    assert 4 <= driver.runtime.now() < PATIENCE_SECONDS


def test_a_full_node_is_told_from_a_throttled_one() -> None:
    driver = driver_with("attach", Quota(burst=1, per_second=0), slots=1)
    assert driver.publish("vol").code == "RESOURCE_EXHAUSTED"
    assert driver.publish("vol").code == "UNAVAILABLE"


def test_patience_ends_within_its_seconds() -> None:
    driver = driver_with("attach", NEVER)
    driver.publish("vol")
    assert PATIENCE_SECONDS / 2 < driver.runtime.now() <= PATIENCE_SECONDS


def test_a_throttled_cloud_is_not_asked_more_often_than_it_helps() -> None:
    driver = driver_with("attach", NEVER)
    before = driver.cloud_calls()["attach"]
    driver.publish("vol")
    assert 3 < driver.cloud_calls()["attach"] - before < 30


def test_a_repeat_after_unavailable_succeeds_when_the_cloud_has_room_again() -> None:
    driver = driver_with("attach", NEVER)
    assert driver.publish("vol").code == "UNAVAILABLE"
    driver.region.api.set_quota("attach", Quota())
    assert driver.publish("vol").ok


def test_a_caller_who_leaves_is_not_retried_for() -> None:
    driver = RacingDriver(0, quotas={"attach": NEVER})
    driver.region.add_instance(slots=3)
    driver.region.add_disk("vol")
    peer = Peer()
    codes = driver.run_for_codes(
        lambda: driver.publish("vol", peer=peer), driver.silently(1, peer.hang_up)
    )
    assert codes == ["CANCELLED"]
    assert driver.runtime.now() == 1
    driver.assert_at_rest()


@pytest.mark.parametrize("seed", range(8))
def test_callers_that_are_throttled_together_share_the_tokens_as_they_come(seed: int) -> None:
    driver = RacingDriver(seed, quotas={"attach": Quota(burst=1, per_second=1)})
    driver.region.add_instance(slots=9)
    volumes = driver.region.add_disks(5)
    codes = driver.run_for_codes(*[lambda v=volume: driver.publish(v) for volume in volumes])
    assert codes == ["OK"] * 5
    assert driver.runtime.now() >= 4


@pytest.mark.parametrize("seed", range(8))
def test_callers_that_are_throttled_together_do_not_come_back_together(seed: int) -> None:
    driver = RacingDriver(seed, quotas={"attach": NEVER})
    driver.region.add_instance(slots=9)
    volumes = driver.region.add_disks(5)
    driver.run(*[lambda v=volume: driver.publish(v) for volume in volumes])
    # Nothing but the jitter of the pauses can make these differ.
    assert len({entry.duration_seconds for entry in driver.journal.entries()}) == 5


def test_the_delay_of_an_api_is_on_the_clock_once_a_call() -> None:
    driver = driver_with("attach", Quota(delay_seconds=0.25))
    assert driver.publish("vol").ok
    assert driver.runtime.now() == 0.25


def test_a_volume_that_a_throttled_call_did_not_create_is_created_by_the_next() -> None:
    driver = driver_with("create_disk", NEVER)
    assert driver.create("pvc-1").code == "UNAVAILABLE"
    driver.region.api.set_quota("create_disk", Quota())
    assert driver.create("pvc-1").ok
