"""Where two refusals of an attach apply, which of them is the answer.

Each scene gives one reason to refuse. Two scenes put together give two reasons, and the one that
stands further up in `ORDER` has to be the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations

import pytest

from mockdriver.cloud import Transition, attaching
from mockdriver.cloud.errors import (
    AlreadyAttached,
    AttachedElsewhere,
    CloudError,
    DiskNotFound,
    InstanceNotFound,
    SlotsExhausted,
    TooManyAttachments,
    TransitionUnderWay,
    ZoneMismatch,
)
from tests.cloud.small_region import OTHER_ZONE, ZONE, SmallRegion

Refusal = type[CloudError]

ORDER: tuple[Refusal, ...] = (
    DiskNotFound,
    InstanceNotFound,
    AlreadyAttached,
    TransitionUnderWay,
    AttachedElsewhere,
    TooManyAttachments,
    ZoneMismatch,
    SlotsExhausted,
)


@dataclass(frozen=True)
class Scene:
    """Reasons to refuse; what is at its default is none."""

    disk_known: bool = True
    instance_known: bool = True
    here: bool = False
    leaving: bool = False
    elsewhere: bool = False
    exclusive: bool = False
    max_attachments: int = 3
    disk_zone: str = ZONE
    full: bool = False

    def joined_with(self, other: Scene) -> Scene:
        """Return a scene with the reasons of both."""
        return Scene(
            disk_known=self.disk_known and other.disk_known,
            instance_known=self.instance_known and other.instance_known,
            here=self.here or other.here,
            leaving=self.leaving or other.leaving,
            elsewhere=self.elsewhere or other.elsewhere,
            exclusive=self.exclusive or other.exclusive,
            max_attachments=min(self.max_attachments, other.max_attachments),
            disk_zone=other.disk_zone if self.disk_zone == ZONE else self.disk_zone,
            full=self.full or other.full,
        )


REASONS: dict[Refusal, Scene] = {
    DiskNotFound: Scene(disk_known=False),
    InstanceNotFound: Scene(instance_known=False),
    AlreadyAttached: Scene(here=True),
    TransitionUnderWay: Scene(here=True, leaving=True),
    AttachedElsewhere: Scene(elsewhere=True, exclusive=True),
    TooManyAttachments: Scene(elsewhere=True, max_attachments=1),
    ZoneMismatch: Scene(disk_zone=OTHER_ZONE),
    SlotsExhausted: Scene(full=True),
}

NEVER_TOGETHER: set[tuple[Refusal, Refusal]] = {
    # A disk that is unknown has no zone and is attached nowhere.
    (DiskNotFound, AlreadyAttached),
    (DiskNotFound, TransitionUnderWay),
    (DiskNotFound, AttachedElsewhere),
    (DiskNotFound, TooManyAttachments),
    (DiskNotFound, ZoneMismatch),
    # An instance that is unknown has no zone, no slots and no disks.
    (InstanceNotFound, AlreadyAttached),
    (InstanceNotFound, TransitionUnderWay),
    (InstanceNotFound, ZoneMismatch),
    (InstanceNotFound, SlotsExhausted),
    # An attachment has one state.
    (AlreadyAttached, TransitionUnderWay),
}

TOGETHER = [pair for pair in combinations(ORDER, 2) if pair not in NEVER_TOGETHER]


def play(scene: Scene) -> None:
    """Build the scene and attach the disk `vol` to the instance `i-here`."""
    region = SmallRegion(detach=Transition(held=True))
    region.add_instance("i-here", slots=2)
    region.add_instance("i-elsewhere", slots=2)
    region.add_disk("vol", max_attachments=3)
    if scene.elsewhere:
        region.publish("vol", "i-elsewhere")
    if scene.here:
        region.publish("vol", "i-here")
    if scene.leaving:
        region.unpublish("vol", "i-here")
    if scene.full:
        region.attach_new(1 if scene.here else 2, "i-here", prefix="filler")
    store = region.cloud.core.store
    # The record is changed afterwards, since no call leads to some of these states.
    store.replace_disk(
        replace(store.disk("vol"), max_attachments=scene.max_attachments, zone=scene.disk_zone)
    )
    attaching.attach(
        store,
        region.runtime.now(),
        disk_id="vol" if scene.disk_known else "vol-unknown",
        instance_id="i-here" if scene.instance_known else "i-unknown",
        exclusive=scene.exclusive,
    )


def test_without_a_reason_to_refuse_the_disk_is_attached() -> None:
    play(Scene())


@pytest.mark.parametrize("refusal", ORDER, ids=lambda refusal: refusal.__name__)
def test_each_reason_alone_has_its_own_refusal(refusal: Refusal) -> None:
    with pytest.raises(refusal):
        play(REASONS[refusal])


@pytest.mark.parametrize(
    ("first", "second"),
    TOGETHER,
    ids=[f"{first.__name__} before {second.__name__}" for first, second in TOGETHER],
)
def test_of_two_reasons_the_one_further_up_is_the_answer(first: Refusal, second: Refusal) -> None:
    with pytest.raises(first):
        play(REASONS[first].joined_with(REASONS[second]))


def test_all_reasons_that_can_apply_at_once_are_answered_in_order() -> None:
    reasons = [TransitionUnderWay, AttachedElsewhere, TooManyAttachments, ZoneMismatch]
    scene = REASONS[SlotsExhausted]
    for refusal in reversed(reasons):
        scene = scene.joined_with(REASONS[refusal])
        with pytest.raises(refusal):
            play(scene)


@pytest.mark.parametrize("full", [False, True], ids=["with free slots", "on a full instance"])
def test_a_repeat_by_the_api_is_answered_with_the_attachment_that_is_there(full: bool) -> None:
    region = SmallRegion()
    region.add_instance(slots=1 if full else 2)
    first = region.publish(region.add_disk("vol"))
    assert region.publish("vol") == first
