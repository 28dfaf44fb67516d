"""The virtual runtime: free threads, and a clock that jumps when all work waits for it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from functools import partial

import pytest

from mockdriver.runtime import Event, Thread, VirtualRuntime
from tests.runtime.threads import finish, spin_until


def start_at_work(runtime: VirtualRuntime, *targets: Callable[[], None]) -> list[Thread]:
    """Start threads whose work is counted before any of them runs."""
    works = [runtime.working() for _ in targets]
    for work in works:
        work.__enter__()

    def at_work(target: Callable[[], None], work: AbstractContextManager[None]) -> None:
        with ExitStack() as stack:
            stack.push(work)
            target()

    return [
        runtime.start(partial(at_work, target, work), "at work")
        for target, work in zip(targets, works, strict=True)
    ]


def number_waiting(runtime: VirtualRuntime) -> int:
    return len(runtime._waiters)


def test_time_begins_at_a_fixed_moment() -> None:
    assert VirtualRuntime().now() == 0
    assert VirtualRuntime().epoch_seconds == VirtualRuntime().epoch_seconds == 1_767_225_600


def test_advance_moves_the_clock_by_just_that_much() -> None:
    runtime = VirtualRuntime()
    runtime.advance(1.5)
    runtime.advance(0)
    runtime.advance(2)
    assert runtime.now() == 3.5


@pytest.mark.parametrize("seconds", [0.001, 60, 365 * 86_400])
def test_a_lone_wait_ends_at_once_with_the_clock_at_its_moment(seconds: float) -> None:
    runtime = VirtualRuntime()
    with runtime.working():
        assert not runtime.wait(runtime.event(), until=seconds)
        assert runtime.now() == seconds


def test_a_wait_needs_no_counted_work_to_be_ended_by_the_clock() -> None:
    runtime = VirtualRuntime()
    runtime.wait(runtime.event(), until=7)
    runtime.wait(runtime.event(), until=9)
    assert runtime.now() == 9


def test_the_clock_stands_still_while_any_work_does_not_wait() -> None:
    runtime = VirtualRuntime()
    log: list[tuple[str, float]] = []

    def sleep() -> None:
        runtime.wait(runtime.event(), until=5)
        log.append(("woke", runtime.now()))

    def work() -> None:
        spin_until(lambda: number_waiting(runtime) == 1 or runtime.now() > 0)
        log.append(("worked", runtime.now()))

    finish(*start_at_work(runtime, sleep, work))
    assert log == [("worked", 0), ("woke", 5)]


def test_work_that_another_thread_counted_holds_the_clock_until_that_work_ends() -> None:
    runtime = VirtualRuntime()
    woke_at: list[float] = []
    call = runtime.working()
    call.__enter__()

    def answer() -> None:
        runtime.wait(runtime.event(), until=5)
        woke_at.append(runtime.now())
        call.__exit__(None, None, None)

    finish(runtime.start(answer, "answer"))
    assert woke_at == [5]
    # Nothing is left of the work: the clock is free.
    runtime.wait(runtime.event(), until=6)
    assert runtime.now() == 6


def test_work_that_fails_is_handed_back() -> None:
    runtime = VirtualRuntime()
    with pytest.raises(ZeroDivisionError), runtime.working():
        _ = 1 // 0
    with runtime.working():
        runtime.wait(runtime.event(), until=5)
    assert runtime.now() == 5


def test_the_end_of_the_last_work_that_does_not_wait_lets_the_clock_jump() -> None:
    runtime = VirtualRuntime()
    woke_at: list[float] = []

    def sleep() -> None:
        runtime.wait(runtime.event(), until=5)
        woke_at.append(runtime.now())

    with runtime.working():
        threads = start_at_work(runtime, sleep)
        spin_until(lambda: number_waiting(runtime) == 1)
        assert runtime.now() == 0
    finish(*threads)
    assert woke_at == [5]


def test_the_clock_jumps_from_one_awaited_moment_to_the_next() -> None:
    runtime = VirtualRuntime()
    woke_at: list[float] = []

    def sleeper(moment: float) -> Callable[[], None]:
        def sleep() -> None:
            runtime.wait(runtime.event(), until=moment)
            woke_at.append(runtime.now())

        return sleep

    finish(*start_at_work(runtime, *[sleeper(moment) for moment in (30, 10, 20, 40)]))
    assert woke_at == [10, 20, 30, 40]


def test_two_waits_that_end_at_the_same_moment_both_see_that_moment() -> None:
    """One of them goes on to a later wait at once, and must not take the clock along with it."""
    for _ in range(100):
        runtime = VirtualRuntime()
        woke_at: list[float] = []

        def sleep_twice(runtime: VirtualRuntime = runtime) -> None:
            runtime.wait(runtime.event(), until=5)
            runtime.wait(runtime.event(), until=9)

        def sleep_once(runtime: VirtualRuntime = runtime, woke_at: list[float] = woke_at) -> None:
            runtime.wait(runtime.event(), until=5)
            woke_at.append(runtime.now())

        finish(*start_at_work(runtime, sleep_twice, sleep_once, sleep_twice, sleep_once))
        assert woke_at == [5, 5]
        assert runtime.now() == 9


def test_a_thread_that_an_event_woke_is_at_work_before_it_runs() -> None:
    """Else the clock could jump between the setting of the event and the waking."""
    for _ in range(100):
        runtime = VirtualRuntime()
        event = runtime.event()
        woke_at: list[float] = []

        def wait(
            runtime: VirtualRuntime = runtime,
            event: Event = event,
            woke_at: list[float] = woke_at,
        ) -> None:
            runtime.wait(event)
            woke_at.append(runtime.now())

        def wake_and_sleep(runtime: VirtualRuntime = runtime, event: Event = event) -> None:
            spin_until(lambda: number_waiting(runtime) == 1)
            event.set()
            runtime.wait(runtime.event(), until=5)

        finish(*start_at_work(runtime, wait, wake_and_sleep))
        assert woke_at == [0]
        assert runtime.now() == 5


def test_an_event_wakes_all_that_wait_for_it_and_time_stands_still() -> None:
    runtime = VirtualRuntime()
    event = runtime.event()
    flags: list[bool] = []

    def wait() -> None:
        flags.append(runtime.wait(event))

    def wait_with_a_time() -> None:
        flags.append(runtime.wait(event, until=60))

    def wake() -> None:
        spin_until(lambda: number_waiting(runtime) == 4)
        event.set()

    finish(*start_at_work(runtime, wait, wait_with_a_time, wait, wait_with_a_time, wake))
    assert flags == [True] * 4
    assert runtime.now() == 0
    assert number_waiting(runtime) == 0


def test_a_wait_that_an_event_ended_does_not_stop_the_clock_at_its_moment() -> None:
    runtime = VirtualRuntime()
    event = runtime.event()
    moments: list[float] = []

    def wait() -> None:
        runtime.wait(event, until=5)
        runtime.wait(runtime.event(), until=20)
        moments.append(runtime.now())

    def wake() -> None:
        spin_until(lambda: number_waiting(runtime) == 1)
        event.set()
        spin_until(lambda: number_waiting(runtime) == 1)
        runtime.wait(runtime.event(), until=10)
        moments.append(runtime.now())

    finish(*start_at_work(runtime, wait, wake))
    assert moments == [10, 20]


def test_an_event_that_was_lowered_again_is_waited_for_again() -> None:
    runtime = VirtualRuntime()
    event = runtime.event()
    event.set()
    event.clear()
    with runtime.working():
        assert not runtime.wait(event, until=5)
    assert runtime.now() == 5


def test_an_advance_ends_the_waits_that_it_reaches_and_no_others() -> None:
    runtime = VirtualRuntime()
    event = runtime.event()
    flags: dict[float, bool] = {}

    def sleeper(moment: float) -> Callable[[], None]:
        def sleep() -> None:
            flags[moment] = runtime.wait(event, until=moment)

        return sleep

    # This thread's own work keeps the clock from jumping: only the advance moves it.
    with runtime.working():
        near, exact, far = start_at_work(runtime, sleeper(5), sleeper(10), sleeper(10.5))
        spin_until(lambda: number_waiting(runtime) == 3)
        runtime.advance(10)
        finish(near, exact)
        assert flags == {5: False, 10: False}
        assert number_waiting(runtime) == 1
        event.set()
        finish(far)
    assert flags == {5: False, 10: False, 10.5: True}
    assert runtime.now() == 10


def test_a_wait_without_a_time_does_not_move_the_clock() -> None:
    runtime = VirtualRuntime()
    event = runtime.event()
    log: list[tuple[str, float]] = []

    def wait() -> None:
        runtime.wait(event)
        log.append(("woken", runtime.now()))

    def sleep_then_wake() -> None:
        runtime.wait(runtime.event(), until=5)
        log.append(("slept", runtime.now()))
        event.set()

    finish(*start_at_work(runtime, wait, sleep_then_wake))
    assert log == [("slept", 5), ("woken", 5)]


def test_settling_lets_others_work_until_they_wait_and_the_clock_stands_still() -> None:
    runtime = VirtualRuntime()
    log: list[tuple[str, float]] = []

    def work_and_wait() -> None:
        spin_until(lambda: len(runtime._settling) == 1)
        log.append(("worked", runtime.now()))
        runtime.wait(runtime.event(), until=5)
        log.append(("woke", runtime.now()))

    with runtime.working():
        threads = start_at_work(runtime, work_and_wait)
        runtime.settle()
        log.append(("settled", runtime.now()))
    finish(*threads)
    assert log == [("worked", 0), ("settled", 0), ("woke", 5)]


def test_settling_ends_when_the_others_have_ended() -> None:
    runtime = VirtualRuntime()
    ended: list[bool] = []

    def work() -> None:
        spin_until(lambda: len(runtime._settling) == 1)
        ended.append(True)

    with runtime.working():
        threads = start_at_work(runtime, work, work)
        runtime.settle()
        assert ended == [True, True]
    finish(*threads)


def test_who_works_alone_is_settled() -> None:
    runtime = VirtualRuntime()
    with runtime.working():
        runtime.settle()
        runtime.wait(runtime.event(), until=3)
    assert runtime.now() == 3


def test_a_stopped_clock_does_not_jump_until_it_starts() -> None:
    runtime = VirtualRuntime()
    event = runtime.event()
    flags: list[bool] = []

    def wait() -> None:
        with runtime.working():
            flags.append(runtime.wait(event, 10))

    runtime.stop_clock()
    thread = runtime.start(wait, "waiter")
    spin_until(lambda: len(runtime._waiters) == 1)
    assert runtime.now() == 0
    runtime.start_clock()
    finish(thread)
    assert (flags, runtime.now()) == ([False], 10)
