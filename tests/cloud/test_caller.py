"""A caller: someone who can wait, be woken, and leave."""

from __future__ import annotations

import pytest

from mockdriver.cloud import Caller
from mockdriver.cloud.errors import CallerGone
from mockdriver.runtime import Deadlock, SeededRuntime, VirtualRuntime

SEEDS = range(30)


# ---------------------------------------------------------------------------------- alone in time


def test_a_wait_ends_when_its_moment_has_come() -> None:
    runtime = VirtualRuntime()
    caller = Caller(runtime)
    caller.prepare()
    caller.wait(5)
    assert runtime.now() == 5


def test_a_wait_has_to_be_prepared() -> None:
    with pytest.raises(AssertionError, match="prepare"):
        Caller(VirtualRuntime()).wait(5)


def test_a_wake_up_between_prepare_and_wait_ends_the_wait_at_once() -> None:
    runtime = VirtualRuntime()
    caller = Caller(runtime)
    caller.prepare()
    caller.wake()
    caller.wait(5)
    assert runtime.now() == 0


def test_a_wake_up_before_prepare_is_forgotten() -> None:
    runtime = VirtualRuntime()
    caller = Caller(runtime)
    caller.wake()
    caller.prepare()
    caller.wake()
    caller.prepare()
    caller.wait(5)
    assert runtime.now() == 5


def test_sleeping_until_a_moment_ends_there() -> None:
    runtime = VirtualRuntime()
    Caller(runtime).sleep_until(7)
    assert runtime.now() == 7


def test_sleeping_until_a_moment_that_is_past_does_not_wait() -> None:
    runtime = VirtualRuntime()
    runtime.advance(9)
    waits: list[Caller] = []
    Caller(runtime, on_first_wait=waits.append).sleep_until(7)
    assert runtime.now() == 9
    assert waits == []


# ------------------------------------------------------------------------------------- first wait


def test_the_first_wait_is_announced_once() -> None:
    runtime = VirtualRuntime()
    waits: list[Caller] = []
    caller = Caller(runtime, on_first_wait=waits.append)
    assert waits == []
    for moment in (1, 2, 3):
        caller.prepare()
        caller.wait(moment)
    caller.sleep_until(9)
    assert waits == [caller]


def test_a_caller_that_leaves_when_its_first_wait_is_announced_does_not_wait() -> None:
    caller = Caller(VirtualRuntime(), on_first_wait=Caller.leave)
    with pytest.raises(CallerGone):
        caller.prepare()


# ---------------------------------------------------------------------------------------- leaving


def test_a_caller_that_has_left_cannot_begin_to_wait() -> None:
    caller = Caller(VirtualRuntime())
    caller.leave()
    assert caller.gone
    with pytest.raises(CallerGone):
        caller.prepare()


def test_a_caller_that_leaves_between_prepare_and_wait_does_not_wait() -> None:
    runtime = VirtualRuntime()
    caller = Caller(runtime)
    caller.prepare()
    caller.leave()
    with pytest.raises(CallerGone):
        caller.wait(5)
    assert runtime.now() == 0


def test_a_caller_that_has_left_does_not_come_back() -> None:
    caller = Caller(VirtualRuntime())
    caller.leave()
    for _ in range(2):
        with pytest.raises(CallerGone):
            caller.sleep_until(5)


# ------------------------------------------------------------------------------------ with others


@pytest.mark.parametrize("seed", SEEDS)
def test_a_caller_that_leaves_ends_its_wait_wherever_that_is(seed: int) -> None:
    runtime = SeededRuntime(seed)
    caller = Caller(runtime)
    ended: list[str] = []

    def wait() -> None:
        try:
            caller.prepare()
            caller.wait(None)
        except CallerGone:
            ended.append("gone")

    runtime.run(wait, caller.leave)
    assert ended == ["gone"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_change_after_prepare_is_never_missed(seed: int) -> None:
    """Prepare, look, wait: a change that the look did not see ends the wait."""
    runtime = SeededRuntime(seed)
    caller = Caller(runtime)
    changed = False

    def wait() -> None:
        while True:
            caller.prepare()
            runtime.advance(0)
            if changed:
                return
            runtime.advance(0)
            caller.wait(None)

    def change() -> None:
        nonlocal changed
        changed = True
        caller.wake()

    runtime.run(wait, change)


def test_a_look_before_prepare_misses_a_change_for_some_seed() -> None:
    """Why the order matters, and that the seeded runtime finds out."""

    def ends(seed: int) -> bool:
        runtime = SeededRuntime(seed)
        caller = Caller(runtime)
        changed = False

        def wait() -> None:
            seen = changed
            runtime.advance(0)
            caller.prepare()
            if not seen:
                caller.wait(None)

        def change() -> None:
            nonlocal changed
            changed = True
            caller.wake()

        try:
            runtime.run(wait, change)
        except Deadlock:
            return False
        return True

    assert {ends(seed) for seed in SEEDS} == {True, False}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sleeper_that_is_woken_goes_on_sleeping(seed: int) -> None:
    runtime = SeededRuntime(seed)
    caller = Caller(runtime)
    woke_at: list[float] = []

    def sleep() -> None:
        caller.sleep_until(10)
        woke_at.append(runtime.now())

    def disturb() -> None:
        for _ in range(5):
            Caller(runtime).sleep_until(runtime.now() + 1)
            caller.wake()

    runtime.run(sleep, disturb)
    assert woke_at == [10]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_wake_up_is_for_one_caller_only(seed: int) -> None:
    runtime = SeededRuntime(seed)
    first, second = Caller(runtime), Caller(runtime)
    second.prepare()
    moments: dict[str, float] = {}

    def wait_first() -> None:
        first.prepare()
        first.wait(10)
        moments["first"] = runtime.now()

    def wait_second() -> None:
        second.wait(10)
        moments["second"] = runtime.now()

    runtime.run(wait_first, wait_second, second.wake)
    assert moments == {"first": 10, "second": 0}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_wake_up_during_a_wait_aside_ends_the_wait_around_it_too(seed: int) -> None:
    runtime = SeededRuntime(seed)
    caller = Caller(runtime)
    moments: list[float] = []

    def wait() -> None:
        caller.prepare()
        with caller.aside():
            caller.sleep_until(5)
        moments.append(runtime.now())
        caller.wait(100)
        moments.append(runtime.now())

    def disturb() -> None:
        Caller(runtime).sleep_until(1)
        caller.wake()

    runtime.run(wait, disturb)
    assert moments == [5, 5]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_wait_aside_that_nothing_disturbs_changes_nothing(seed: int) -> None:
    runtime = SeededRuntime(seed)
    caller = Caller(runtime)

    def wait() -> None:
        caller.prepare()
        with caller.aside():
            caller.sleep_until(5)
        caller.wait(100)

    runtime.run(wait)
    assert runtime.now() == 100


@pytest.mark.parametrize("seed", SEEDS)
def test_a_caller_can_leave_during_a_wait_aside(seed: int) -> None:
    runtime = SeededRuntime(seed)
    caller = Caller(runtime)

    def wait() -> None:
        caller.prepare()
        with pytest.raises(CallerGone), caller.aside():
            caller.sleep_until(50)

    def leave() -> None:
        Caller(runtime).sleep_until(1)
        caller.leave()

    runtime.run(wait, leave)
    assert runtime.now() == 1
