"""Waiting until a transition has ended, with whatever ends it racing. No wake-up is ever lost.

In the seeded runtime a lost wake-up is a `Deadlock`, which fails the test.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from mockdriver.cloud import IMMEDIATELY, Attachment, Caller, Transition
from mockdriver.cloud.errors import CallerGone
from mockdriver.runtime import SeededRuntime
from tests.cloud.small_region import SmallRegion

SEEDS = range(200)
HELD = Transition(held=True)


class Waiting:
    """`vol` is under way on `i-1`, and some wait for the end of it while others act."""

    def __init__(
        self, seed: int, *, attach: Transition = IMMEDIATELY, detach: Transition = IMMEDIATELY
    ) -> None:
        self.runtime = SeededRuntime(seed)
        self.region = SmallRegion(runtime=self.runtime, attach=attach, detach=detach)
        self.region.add_instance("i-1", slots=2)
        self.attachment = self.region.publish(self.region.add_disk("vol"))
        self.ends: list[Attachment | None] = []

    def wait(self) -> None:
        """Wait as one caller of its own, and note how it ended."""
        end = self.region.operator.wait_until_settled(self.attachment, Caller(self.runtime))
        self.ends.append(end)

    def run(self, *others: Callable[[], object], waiters: int = 1) -> list[str]:
        """Let all run; return how each wait ended: a state, or `gone`."""

        def silent(action: Callable[[], object]) -> Callable[[], None]:
            def act() -> None:
                action()

            return act

        self.runtime.run(*[self.wait] * waiters, *map(silent, others))
        assert self.region.cloud.core._watchers == {}
        return ["gone" if end is None else end.state.value for end in self.ends]


# ------------------------------------------------------------------------------------- nobody races


def test_what_is_settled_is_not_waited_for() -> None:
    waiting = Waiting(0)
    assert waiting.run() == ["attached"]
    assert waiting.runtime.now() == 0


def test_a_wait_for_a_timed_attach_ends_when_it_does() -> None:
    waiting = Waiting(0, attach=Transition(after_seconds=2))
    assert waiting.run(waiters=3) == ["attached"] * 3
    assert waiting.runtime.now() == 2


def test_a_wait_for_a_timed_detach_ends_when_it_does() -> None:
    waiting = Waiting(0, detach=Transition(after_seconds=2))
    waiting.region.unpublish("vol")
    assert waiting.run(waiters=3) == ["gone"] * 3
    assert waiting.runtime.now() == 2


def test_a_wait_for_an_attachment_that_is_gone_ends_at_once() -> None:
    waiting = Waiting(0)
    waiting.region.unpublish("vol")
    assert waiting.run() == ["gone"]


def test_a_later_attachment_of_the_same_disk_is_not_taken_for_the_one_waited_for() -> None:
    waiting = Waiting(0)
    waiting.region.unpublish("vol")
    waiting.region.publish("vol")
    assert waiting.run() == ["gone"]


def test_a_wait_is_no_read() -> None:
    waiting = Waiting(0, attach=Transition(after_reads=1))
    caller = Caller(waiting.runtime)
    ended: list[str] = []

    def wait() -> None:
        with pytest.raises(CallerGone):
            waiting.region.operator.wait_until_settled(waiting.attachment, caller)
        ended.append("left")

    def leave() -> None:
        waiting.runtime.wait(waiting.runtime.event(), until=60)
        caller.leave()

    waiting.runtime.run(wait, leave)
    assert ended == ["left"]
    assert waiting.region.states() == {"vol": "attaching"}


# ----------------------------------------------------------------------------------- somebody races


@pytest.mark.parametrize("waiters", [1, 3])
def test_a_release_ends_every_wait_for_a_held_attach(waiters: int) -> None:
    for seed in SEEDS:
        waiting = Waiting(seed, attach=HELD)
        ends = waiting.run(waiting.region.operator.release, waiters=waiters)
        assert ends == ["attached"] * waiters, seed


def test_a_release_ends_every_wait_for_a_held_detach() -> None:
    for seed in SEEDS:
        waiting = Waiting(seed, detach=HELD)
        waiting.region.unpublish("vol")
        assert waiting.run(waiting.region.operator.release, waiters=2) == ["gone"] * 2, seed


@pytest.mark.parametrize("by", ["api", "operator"])
def test_a_detach_ends_every_wait_for_an_attach(by: str) -> None:
    for seed in SEEDS:
        waiting = Waiting(seed, attach=HELD)
        region = waiting.region

        def detach(region: SmallRegion = region) -> object:
            if by == "operator":
                return region.operator.detach("vol", "i-1")
            return region.api.detach("vol", "i-1", Caller(region.runtime))

        assert waiting.run(detach, waiters=2) == ["gone"] * 2, seed


def test_a_detach_and_a_release_together_end_every_wait() -> None:
    seen: set[str] = set()
    for seed in SEEDS:
        waiting = Waiting(seed, attach=HELD)
        operator = waiting.region.operator
        ends = waiting.run(operator.release, partial(operator.detach, "vol", "i-1"), waiters=2)
        assert len(ends) == 2, seed
        seen.update(ends)
    # Both orders occurred: a wait ended between the two, and a wait ended after both.
    assert seen == {"attached", "gone"}


def test_a_held_detach_over_a_held_attach_is_waited_out_to_its_own_release() -> None:
    for seed in SEEDS:
        waiting = Waiting(seed, attach=HELD, detach=HELD)
        operator = waiting.region.operator

        def detach_and_release(waiting: Waiting = waiting) -> None:
            waiting.region.operator.detach("vol", "i-1")
            waiting.region.operator.release()

        ends = waiting.run(detach_and_release, waiters=2)
        assert ends == ["gone"] * 2, seed
        assert operator.attachments("i-1") == []


def test_the_end_of_the_instance_ends_every_wait() -> None:
    for seed in SEEDS:
        waiting = Waiting(seed, attach=HELD)
        operator = waiting.region.operator
        ends = waiting.run(partial(operator.terminate_instance, "i-1"), waiters=2)
        assert ends == ["gone"] * 2, seed


@pytest.mark.parametrize("reads", [1, 3])
def test_the_last_read_ends_every_wait(reads: int) -> None:
    for seed in SEEDS:
        waiting = Waiting(seed, attach=Transition(after_reads=reads))
        region = waiting.region

        def read(region: SmallRegion = region) -> object:
            return region.api.describe_instances(["i-1"], Caller(region.runtime))

        def read_disk(region: SmallRegion = region) -> object:
            return region.api.describe_disks(["vol"], Caller(region.runtime))

        ends = waiting.run(*[read, read_disk, read][:reads], waiters=2)
        assert ends == ["attached"] * 2, seed


def test_an_advance_ends_every_wait_for_a_timed_attach() -> None:
    for seed in SEEDS:
        waiting = Waiting(seed, attach=Transition(after_seconds=60))
        runtime = waiting.runtime
        ends = waiting.run(partial(runtime.advance, 60), waiters=2)
        assert ends == ["attached"] * 2, seed
        assert runtime.now() == 60


def test_a_caller_that_leaves_ends_its_own_wait_and_no_other() -> None:
    for seed in SEEDS:
        waiting = Waiting(seed, attach=HELD)
        operator, caller = waiting.region.operator, Caller(waiting.runtime)
        left: list[str] = []

        def wait_and_leave(
            waiting: Waiting = waiting, caller: Caller = caller, left: list[str] = left
        ) -> None:
            with pytest.raises(CallerGone):
                waiting.region.operator.wait_until_settled(waiting.attachment, caller)
            left.append("left")
            waiting.region.operator.release()

        assert waiting.run(wait_and_leave, caller.leave) == ["attached"], seed
        assert left == ["left"]
        assert operator.slot_users("i-1") == 1


# --------------------------------------------------------------------- watching through the API


def poll_until_settled(region: SmallRegion, attachment: Attachment, caller: Caller) -> str:
    """Do as a driver's client does: watch, describe, and wait for something new to see."""
    with region.api.watching(attachment, caller):
        while True:
            caller.prepare()
            (description,) = region.api.describe_disks([attachment.disk], caller)
            present = description.attachment_to(attachment.instance)
            if present is None or present.pending is None:
                return "gone" if present is None else present.state.value
            caller.wait(present.pending.due_seconds)


def test_whoever_watches_through_the_api_is_woken_by_every_change() -> None:
    endings: set[str] = set()
    for seed in SEEDS:
        waiting = Waiting(seed, attach=HELD)
        operator = waiting.region.operator
        ends: list[str] = []

        def poll(waiting: Waiting = waiting, ends: list[str] = ends) -> None:
            caller = Caller(waiting.runtime)
            ends.append(poll_until_settled(waiting.region, waiting.attachment, caller))

        waiting.run(poll, operator.release, partial(operator.detach, "vol", "i-1"))
        endings.update(ends)
    assert endings == {"attached", "gone"}


def test_a_watch_ends_with_its_block_also_when_that_fails() -> None:
    waiting = Waiting(0, attach=HELD)
    watchers = waiting.region.cloud.core._watchers

    def watch_and_fail() -> None:
        with waiting.region.api.watching(waiting.attachment, Caller(waiting.runtime)):
            assert len(watchers) == 1
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        watch_and_fail()
    assert watchers == {}
