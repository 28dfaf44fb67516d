"""Calls that wait for the cloud, and what else happens meanwhile."""

from __future__ import annotations

import pytest

from mockdriver.cloud import IMMEDIATELY, AttachmentState, Quota, Transition
from mockdriver.co.calling import Answer
from tests.cloud.small_region import SmallRegion
from tests.driver.racing_driver import RacingDriver
from tests.driver.small_driver import Mode, Peer, SmallDriver, add_shared_disk, of

SEEDS = range(8)
HELD = Transition(held=True)
TWO_SECONDS = Transition(after_seconds=2)
THREE_READS = Transition(after_reads=3)


def quiet(*, attach: Transition = IMMEDIATELY, detach: Transition = IMMEDIATELY) -> SmallDriver:
    """Return a driver with one caller at a time and `vol` to publish on `i-1`."""
    region = SmallRegion(attach=attach, detach=detach)
    region.add_instance(slots=3)
    region.add_disk("vol")
    return SmallDriver(region)


def busy(
    seed: int = 0, *, attach: Transition = IMMEDIATELY, detach: Transition = IMMEDIATELY
) -> RacingDriver:
    """Return a driver with many callers, `vol`, and `vol-shared` for `i-1` and `i-2`."""
    driver = RacingDriver(seed, attach=attach, detach=detach)
    driver.region.add_instance("i-1", slots=3)
    driver.region.add_instance("i-2", slots=3)
    driver.region.add_disk("vol")
    add_shared_disk(driver.region, "vol-shared")
    return driver


# ----------------------------------------------------------------------------------- one caller


def test_a_publish_answers_when_the_attach_has_ended() -> None:
    driver = quiet(attach=TWO_SECONDS)
    assert driver.publish("vol").ok
    assert driver.runtime.now() == 2
    assert driver.region.states() == {"vol": "attached"}


def test_an_unpublish_answers_when_the_volume_is_gone() -> None:
    driver = quiet(detach=TWO_SECONDS)
    of(driver.publish("vol"))
    assert driver.unpublish("vol").ok
    assert driver.runtime.now() == 2
    assert driver.region.states() == {}


def test_an_attach_that_takes_three_reads_is_read_three_times_and_once_more() -> None:
    driver = quiet(attach=THREE_READS)
    assert driver.publish("vol").ok
    assert driver.cloud_calls() == {"attach": 1, "describe_disks": 4}
    assert driver.region.states() == {"vol": "attached"}


def test_a_detach_that_takes_three_reads_is_read_three_times_and_once_more() -> None:
    driver = quiet(detach=THREE_READS)
    of(driver.publish("vol"))
    assert driver.unpublish("vol").ok
    assert driver.cloud_calls() == {"attach": 1, "detach": 1, "describe_disks": 4}
    assert driver.region.states() == {}


def test_what_ends_at_once_is_not_looked_at_again() -> None:
    driver = quiet()
    of(driver.publish("vol"))
    of(driver.unpublish("vol"))
    assert driver.cloud_calls() == {"attach": 1, "detach": 1}


def test_a_timed_wait_looks_once_before_and_once_at_the_end() -> None:
    driver = quiet(attach=TWO_SECONDS)
    of(driver.publish("vol"))
    assert driver.cloud_calls() == {"attach": 1, "describe_disks": 2}


def test_a_repeat_of_a_publish_that_is_done_does_not_wait() -> None:
    driver = quiet(attach=TWO_SECONDS)
    of(driver.publish("vol"))
    assert driver.publish("vol").ok
    assert driver.runtime.now() == 2


def test_a_publish_while_the_volume_is_leaving_this_node_is_aborted() -> None:
    driver = quiet(detach=HELD)
    of(driver.publish("vol"))
    driver.operator.detach("vol", "i-1")
    answer = driver.publish("vol")
    assert answer.code == "ABORTED"
    assert "detaching" in answer.message


def test_publishing_what_an_operator_is_attaching_adopts_it_and_waits() -> None:
    driver = quiet(attach=TWO_SECONDS)
    driver.operator.attach("vol", "i-1")
    assert driver.publish("vol").ok
    assert driver.runtime.now() == 2
    (attachment,) = driver.operator.attachments("i-1")
    assert attachment.state is AttachmentState.ATTACHED
    assert attachment.tags


def test_unpublishing_what_an_operator_is_detaching_waits_for_that() -> None:
    driver = quiet(detach=TWO_SECONDS)
    of(driver.publish("vol"))
    driver.operator.detach("vol", "i-1")
    assert driver.unpublish("vol").ok
    assert driver.runtime.now() == 2
    assert driver.region.states() == {}


def test_unpublishing_what_is_still_attaching_does_not_wait_for_that() -> None:
    driver = quiet(attach=HELD)
    driver.operator.attach("vol", "i-1")
    assert driver.unpublish("vol").ok
    assert driver.region.states() == {}


def test_an_unpublish_from_every_node_waits_for_every_node() -> None:
    region = SmallRegion(detach=TWO_SECONDS)
    for node in ("i-1", "i-2"):
        region.add_instance(node, slots=3)
    volume = add_shared_disk(region, "vol-shared")
    driver = SmallDriver(region)
    for node in ("i-1", "i-2"):
        of(driver.publish(volume, node, mode=Mode.MULTI_NODE_MULTI_WRITER))
    assert driver.unpublish(volume, "").ok
    assert region.states("i-1") == region.states("i-2") == {}


# ------------------------------------------------------------------------------ held and released


@pytest.mark.parametrize("seed", SEEDS)
def test_a_held_publish_answers_when_it_is_released(seed: int) -> None:
    driver = busy(seed, attach=HELD)
    codes = driver.run_for_codes(
        lambda: driver.publish("vol"), driver.silently(5, driver.operator.release)
    )
    assert codes == ["OK"]
    assert driver.runtime.now() == 5
    driver.assert_at_rest()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_held_unpublish_answers_when_it_is_released(seed: int) -> None:
    driver = busy(seed, detach=HELD)
    of(driver.publish("vol"))
    codes = driver.run_for_codes(
        lambda: driver.unpublish("vol"), driver.silently(5, driver.operator.release)
    )
    assert codes == ["OK"]
    assert driver.runtime.now() == 5
    assert driver.region.states() == {}
    driver.assert_at_rest()


def test_a_held_call_does_not_ask_the_cloud_again_and_again() -> None:
    driver = busy(attach=HELD)
    driver.run(lambda: driver.publish("vol"), driver.silently(3600, driver.operator.release))
    assert driver.cloud_calls() == {"attach": 1, "describe_disks": 2}


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("attach", [HELD, TWO_SECONDS], ids=["held", "timed"])
def test_a_volume_that_is_detached_while_its_publish_waits_is_aborted(
    attach: Transition, seed: int
) -> None:
    driver = busy(seed, attach=attach)
    (answer,) = driver.run(
        lambda: driver.publish("vol"),
        driver.silently(1, lambda: driver.operator.detach("vol", "i-1")),
    )[:1]
    assert answer is not None
    assert answer.code == "ABORTED"
    assert answer.message == (
        "disk 'vol' was detached from instance 'i-1' while this call waited for it"
    )
    driver.assert_at_rest()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_volume_that_leaves_slowly_while_its_publish_waits_is_aborted_at_once(seed: int) -> None:
    driver = busy(seed, attach=HELD, detach=HELD)
    codes = driver.run_for_codes(
        lambda: driver.publish("vol"),
        driver.silently(1, lambda: driver.operator.detach("vol", "i-1")),
    )
    assert codes == ["ABORTED"]
    assert driver.runtime.now() == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_a_later_attachment_is_not_taken_for_the_one_that_a_publish_waits_for(seed: int) -> None:
    driver = busy(seed, attach=HELD)

    def replace_it() -> None:
        driver.operator.detach("vol", "i-1")
        driver.operator.attach("vol", "i-1", immediately=True)

    codes = driver.run_for_codes(lambda: driver.publish("vol"), driver.silently(1, replace_it))
    assert codes == ["ABORTED"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_volume_that_is_deleted_while_its_publish_waits_is_aborted(seed: int) -> None:
    driver = busy(seed, attach=HELD)
    another_driver = SmallDriver(driver.region)

    def remove_it() -> None:
        driver.operator.detach("vol", "i-1")
        of(another_driver.delete("vol"))

    # Both happen before the publish looks again.
    driver.region.api.set_quota("describe_disks", Quota(delay_seconds=1))
    codes = driver.run_for_codes(lambda: driver.publish("vol"), driver.silently(2.5, remove_it))
    assert codes == ["ABORTED"]
    driver.assert_at_rest()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_publish_on_a_node_that_is_terminated_meanwhile_is_aborted(seed: int) -> None:
    driver = busy(seed, attach=HELD)
    codes = driver.run_for_codes(
        lambda: driver.publish("vol"),
        driver.silently(1, lambda: driver.operator.terminate_instance("i-1")),
    )
    assert codes == ["ABORTED"]
    driver.assert_at_rest()


@pytest.mark.parametrize("seed", SEEDS)
def test_an_unpublish_from_a_node_that_is_terminated_meanwhile_is_ok(seed: int) -> None:
    driver = busy(seed, detach=HELD)
    of(driver.publish("vol"))
    codes = driver.run_for_codes(
        lambda: driver.unpublish("vol"),
        driver.silently(1, lambda: driver.operator.terminate_instance("i-1")),
    )
    assert codes == ["OK"]
    driver.assert_at_rest()


# ------------------------------------------------------------------------------ callers that leave


@pytest.mark.parametrize("seed", SEEDS)
def test_a_caller_who_leaves_ends_its_call_and_frees_the_key(seed: int) -> None:
    driver, peer = busy(seed, attach=HELD), Peer()
    codes = driver.run_for_codes(
        lambda: driver.publish("vol", peer=peer), driver.silently(1, peer.hang_up)
    )
    assert codes == ["CANCELLED"]
    assert driver.runtime.now() == 1
    driver.assert_at_rest()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_publish_goes_on_where_a_caller_who_left_began_it(seed: int) -> None:
    driver, peer = busy(seed, attach=HELD), Peer()
    codes = driver.run_for_codes(
        lambda: driver.publish("vol", peer=peer),
        driver.silently(1, peer.hang_up),
        driver.later(2, lambda: driver.publish("vol")),
        driver.silently(3, driver.operator.release),
    )
    assert codes == ["CANCELLED", "OK"]
    assert driver.cloud_calls()["attach"] == 2
    assert [item.number for item in driver.operator.attachments("i-1")] == [1]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_unpublish_goes_on_where_a_caller_who_left_began_it(seed: int) -> None:
    driver, peer = busy(seed, detach=HELD), Peer()
    of(driver.publish("vol"))
    codes = driver.run_for_codes(
        lambda: driver.unpublish("vol", peer=peer),
        driver.silently(1, peer.hang_up),
        driver.later(2, lambda: driver.unpublish("vol")),
        driver.silently(3, driver.operator.release),
    )
    assert codes == ["CANCELLED", "OK"]
    driver.assert_at_rest()


def test_a_caller_who_has_left_already_does_not_wait_at_all() -> None:
    driver, peer = quiet(attach=HELD), Peer()
    peer.hang_up()
    assert driver.publish("vol", peer=peer).code == "CANCELLED"


def test_a_call_that_does_not_wait_asks_for_no_news_of_its_caller() -> None:
    driver, peer = quiet(), Peer()
    of(driver.publish("vol", peer=peer))
    assert peer._callbacks == []


# ---------------------------------------------------------------------------------- calls in flight


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("node", ["i-1", ""], ids=["this node", "every node"])
def test_while_a_publish_runs_calls_on_its_volume_are_aborted(node: str, seed: int) -> None:
    driver = busy(seed, attach=HELD)
    codes = driver.run_for_codes(
        lambda: driver.publish("vol"),
        driver.later(1, lambda: driver.publish("vol")),
        driver.later(1, lambda: driver.unpublish("vol", node)),
        driver.later(1, lambda: driver.delete("vol")),
        driver.silently(2, driver.operator.release),
    )
    assert codes == ["OK", "ABORTED", "ABORTED", "ABORTED"]
    assert driver.publish("vol").ok
    assert driver.unpublish("vol", node).ok
    assert driver.delete("vol").ok


def test_an_aborted_call_names_the_volume() -> None:
    driver = busy(attach=HELD)
    answers = driver.run(
        lambda: driver.publish("vol"),
        driver.later(1, lambda: driver.publish("vol")),
        driver.silently(2, driver.operator.release),
    )
    assert answers[1] == Answer("ABORTED", message="another call on the volume 'vol' is in flight")


@pytest.mark.parametrize("seed", SEEDS)
def test_while_a_publish_runs_other_nodes_and_volumes_are_not_affected(seed: int) -> None:
    driver = busy(seed, attach=HELD)
    driver.region.add_disk("vol-other")
    writers = Mode.MULTI_NODE_MULTI_WRITER
    codes = driver.run_for_codes(
        lambda: driver.publish("vol-shared", "i-1", mode=writers),
        driver.later(1, lambda: driver.publish("vol-shared", "i-2", mode=writers)),
        driver.later(1, lambda: driver.unpublish("vol-shared", "i-3")),
        driver.later(1, lambda: driver.publish("vol-other", "i-1")),
        driver.silently(2, driver.operator.release),
    )
    assert codes == ["OK"] * 4
    driver.assert_at_rest()


@pytest.mark.parametrize("seed", SEEDS)
def test_an_unpublish_from_every_node_keeps_all_other_calls_on_the_volume_out(seed: int) -> None:
    driver = busy(seed, detach=HELD)
    writers = Mode.MULTI_NODE_MULTI_WRITER
    of(driver.publish("vol-shared", "i-1", mode=writers))
    codes = driver.run_for_codes(
        lambda: driver.unpublish("vol-shared", ""),
        driver.later(1, lambda: driver.publish("vol-shared", "i-2", mode=writers)),
        driver.later(1, lambda: driver.unpublish("vol-shared", "i-2")),
        driver.later(1, lambda: driver.unpublish("vol-shared", "")),
        driver.silently(2, driver.operator.release),
    )
    assert codes == ["OK", "ABORTED", "ABORTED", "ABORTED"]
    driver.assert_at_rest()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_volume_that_is_being_published_is_listed_and_its_slot_is_taken(seed: int) -> None:
    driver = busy(seed, attach=HELD)
    driver.region.put_type("i-1", slots=1)
    answers = driver.run(
        lambda: driver.publish("vol"),
        driver.later(1, driver.get_controller_info),
        driver.later(1, lambda: driver.publish("vol-shared")),
        driver.silently(2, driver.operator.release),
    )
    assert [answer.code for answer in answers if answer] == ["OK", "OK", "RESOURCE_EXHAUSTED"]
    assert answers[1] is not None
    assert list(answers[1].response.published_volume_ids) == ["vol"]


@pytest.mark.parametrize("seed", SEEDS)
def test_one_name_is_created_by_one_call_at_a_time(seed: int) -> None:
    driver = RacingDriver(seed, quotas={"create_disk": Quota(delay_seconds=2)})
    driver.region.add_instance(slots=3)
    codes = driver.run_for_codes(
        lambda: driver.create("pvc-1"),
        driver.later(1, lambda: driver.create("pvc-1")),
        driver.later(1, lambda: driver.create("pvc-2")),
        driver.later(3, lambda: driver.create("pvc-1")),
    )
    assert codes == ["OK", "ABORTED", "OK", "OK"]
    assert driver.cloud_calls()["create_disk"] == 2
    driver.assert_at_rest()
