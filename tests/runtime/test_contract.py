"""What all three runtimes promise alike."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mockdriver.runtime import Runtime, SeededRuntime, VirtualRuntime, WallRuntime

MakeRuntime = Callable[[int], Runtime]

RUNTIMES: list[MakeRuntime] = [SeededRuntime, VirtualRuntime, WallRuntime]

pytestmark = pytest.mark.parametrize(
    "make", RUNTIMES, ids=["SeededRuntime", "VirtualRuntime", "WallRuntime"]
)


def numbers(runtime: Runtime, purpose: str) -> list[float]:
    source = runtime.random(purpose)
    return [source.random() for _ in range(5)]


def test_randomness_is_fixed_by_seed_and_purpose(make: MakeRuntime) -> None:
    assert numbers(make(7), "jitter") == numbers(make(7), "jitter")


def test_another_seed_gives_other_randomness(make: MakeRuntime) -> None:
    assert numbers(make(7), "jitter") != numbers(make(8), "jitter")


def test_each_purpose_has_randomness_of_its_own(make: MakeRuntime) -> None:
    runtime = make(7)
    assert numbers(runtime, "jitter") != numbers(runtime, "faults")


def test_what_one_purpose_draws_does_not_change_what_another_gets(make: MakeRuntime) -> None:
    disturbed, undisturbed = make(7), make(7)
    numbers(disturbed, "jitter")
    assert numbers(disturbed, "faults") == numbers(undisturbed, "faults")


def test_all_runtimes_draw_the_same_numbers(make: MakeRuntime) -> None:
    assert numbers(make(7), "jitter") == numbers(VirtualRuntime(7), "jitter")


def test_advance_moves_the_clock_forward(make: MakeRuntime) -> None:
    runtime = make(0)
    before = runtime.now()
    runtime.advance(3_600)
    assert runtime.now() - before >= 3_600


def test_the_clock_never_goes_backwards(make: MakeRuntime) -> None:
    runtime = make(0)
    runtime.advance(10)
    before = runtime.now()
    runtime.advance(-5)
    assert runtime.now() >= before


def test_an_event_begins_with_its_flag_down(make: MakeRuntime) -> None:
    assert not make(0).event().is_set()


def test_the_flag_of_an_event_is_raised_and_lowered(make: MakeRuntime) -> None:
    event = make(0).event()
    event.set()
    event.set()
    assert event.is_set()
    event.clear()
    assert not event.is_set()


def test_a_wait_for_a_raised_flag_ends_at_once_and_says_so(make: MakeRuntime) -> None:
    runtime = make(0)
    event = runtime.event()
    event.set()
    assert runtime.wait(event)
    assert runtime.wait(event, until=runtime.now() + 3_600)
    assert runtime.now() < 3_600


def test_a_wait_until_a_moment_that_is_past_ends_at_once_and_says_so(make: MakeRuntime) -> None:
    runtime = make(0)
    runtime.advance(10)
    assert not runtime.wait(runtime.event(), until=5)


def test_a_lock_is_given_back_when_its_block_raises(make: MakeRuntime) -> None:
    lock = make(0).lock()
    with pytest.raises(ZeroDivisionError), lock:
        _ = 1 // 0
    with lock:
        pass


def test_work_can_be_counted_within_work(make: MakeRuntime) -> None:
    runtime = make(0)
    with runtime.working(), runtime.working():
        pass
    with runtime.working():
        pass


def test_a_stopped_clock_stands_still_but_for_advance(make: MakeRuntime) -> None:
    runtime = make(0)
    runtime.stop_clock()
    assert runtime.clock_is_stopped()
    before = runtime.now()
    assert runtime.now() == before
    runtime.advance(5)
    assert runtime.now() == before + 5


def test_a_clock_that_starts_again_goes_on_from_where_it_stood(make: MakeRuntime) -> None:
    runtime = make(0)
    runtime.advance(10)
    runtime.stop_clock()
    runtime.advance(5)
    stood_at = runtime.now()
    runtime.start_clock()
    assert not runtime.clock_is_stopped()
    assert stood_at <= runtime.now() < stood_at + 60


def test_stopping_and_starting_twice_is_as_once(make: MakeRuntime) -> None:
    runtime = make(0)
    runtime.start_clock()
    runtime.stop_clock()
    before = runtime.now()
    runtime.stop_clock()
    assert runtime.now() == before
    runtime.start_clock()
    runtime.start_clock()
    assert runtime.now() >= before
