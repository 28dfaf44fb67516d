"""What an operator does to attachments and disks by hand, as the driver meets it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mockdriver.cloud import AttachmentState, Transition
from mockdriver.co.calling import Answer
from mockdriver.driver import attachment_tags
from mockdriver.driver.attachment_tags import PUBLISHED_AT_START, is_out_of_band
from tests.cloud.small_region import SmallRegion
from tests.driver.racing_driver import RacingDriver
from tests.driver.small_driver import Mode, SmallDriver, of

HELD = Transition(held=True)


@pytest.fixture
def driver() -> SmallDriver:
    region = SmallRegion()
    region.add_instance("i-1", slots=5)
    region.add_disk("vol")
    return SmallDriver(region)


def test_a_tag_of_an_operator_makes_nothing_the_drivers(driver: SmallDriver) -> None:
    driver.operator.attach("vol", "i-1", tags={"owner": "me"})
    assert is_out_of_band({"owner": "me"})
    assert not is_out_of_band(PUBLISHED_AT_START)
    assert driver.publish("vol").ok
    assert driver.publish("vol", mode=Mode.SINGLE_NODE_READER_ONLY).code == "ALREADY_EXISTS"
    (attachment,) = driver.operator.attachments("i-1")
    assert attachment.tags["owner"] == "me"
    assert attachment.tags.items() >= PUBLISHED_AT_START.items()


def test_a_tag_that_an_operator_adds_is_no_other_use(driver: SmallDriver) -> None:
    of(driver.publish("vol"))
    driver.operator.change_attachment("vol", "i-1", set_tags={"owner": "me"})
    assert driver.publish("vol").ok


@pytest.mark.parametrize("tag", [attachment_tags.ACCESS_MODE, attachment_tags.READONLY])
def test_a_tag_of_the_drivers_that_an_operator_takes_away_is_another_use(
    driver: SmallDriver, tag: str
) -> None:
    of(driver.publish("vol"))
    driver.operator.change_attachment("vol", "i-1", remove_tags=(tag,))
    answer = driver.publish("vol")
    assert answer.code == "ALREADY_EXISTS"
    assert "none" in answer.message
    assert driver.unpublish("vol").ok


@pytest.mark.parametrize("broken", ["{", "[]", "7", "[" * 30_000])
def test_parameters_that_an_operator_has_broken_fit_no_request(
    driver: SmallDriver, broken: str
) -> None:
    volume = of(driver.create("pvc-1")).volume
    driver.operator.change_disk(
        volume.volume_id,
        lambda disk: replace(disk, tags={**disk.tags, attachment_tags.PARAMETERS: broken}),
    )
    answer = driver.create("pvc-1")
    assert answer.code == "ALREADY_EXISTS"
    assert answer.message.startswith("parameters: ")


def test_a_busy_attachment_is_pending_for_publish_and_unpublish(driver: SmallDriver) -> None:
    of(driver.publish("vol"))
    driver.operator.change_attachment("vol", "i-1", state=AttachmentState.BUSY)
    assert driver.publish("vol").code == "ABORTED"
    assert driver.unpublish("vol").code == "ABORTED"
    driver.operator.release()
    assert driver.unpublish("vol").ok


@pytest.mark.parametrize("seed", range(8))
def test_an_unpublish_whose_disk_is_put_back_is_no_success(seed: int) -> None:
    driver = RacingDriver(seed, detach=HELD)
    driver.region.add_instance("i-1")
    driver.region.add_disk("vol")
    driver.region.publish("vol")
    answers: list[Answer] = []

    def put_back() -> None:
        while not answers:
            (attachment,) = driver.region.operator.attachments("i-1")
            if attachment.state is AttachmentState.DETACHING:
                driver.region.operator.change_attachment(
                    "vol", "i-1", state=AttachmentState.ATTACHED
                )

    driver.run(lambda: answers.append(driver.unpublish("vol")), put_back)
    assert [answer.code for answer in answers] == ["ABORTED"]
    assert "was kept attached" in answers[0].message
    assert driver.region.states() == {"vol": "attached"}
