"""The wall runtime: real time that `advance` pushes forward. No test waits for time to pass."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from mockdriver.runtime import Event, WallRuntime
from mockdriver.runtime.wall import _WallEvent
from tests.runtime.threads import finish, spin_until

HOUR = 3_600.0


def number_waiting(event: Event) -> int:
    assert isinstance(event, _WallEvent)
    return len(event.waiters)


def test_the_clock_begins_at_about_zero_and_goes_on() -> None:
    runtime = WallRuntime()
    first = runtime.now()
    second = runtime.now()
    assert 0 <= first <= second


def test_an_advance_ends_a_timed_wait() -> None:
    runtime = WallRuntime()
    event = runtime.event()
    flags: list[bool] = []
    until = runtime.now() + HOUR
    thread = runtime.start(lambda: flags.append(runtime.wait(event, until)), "waiter")
    spin_until(lambda: number_waiting(event) == 1)
    runtime.advance(HOUR)
    finish(thread)
    assert flags == [False]
    assert number_waiting(event) == 0


def test_an_advance_that_falls_short_leaves_the_wait_to_the_next() -> None:
    runtime = WallRuntime()
    event = runtime.event()
    woke_at: list[float] = []
    until = runtime.now() + HOUR

    def wait() -> None:
        runtime.wait(event, until)
        woke_at.append(runtime.now())

    thread = runtime.start(wait, "waiter")
    spin_until(lambda: number_waiting(event) == 1)
    for _ in range(6):
        runtime.advance(HOUR / 6)
    finish(thread)
    assert woke_at[0] >= until


def test_an_advance_ends_the_waits_of_many_threads() -> None:
    runtime = WallRuntime()
    events = [runtime.event() for _ in range(8)]
    until = runtime.now() + HOUR

    def waiter(event: Event) -> Callable[[], None]:
        def wait() -> None:
            assert not runtime.wait(event, until)

        return wait

    threads = [runtime.start(waiter(event), "waiter") for event in events]
    spin_until(lambda: all(number_waiting(event) == 1 for event in events))
    runtime.advance(HOUR)
    finish(*threads)


@pytest.mark.parametrize("timed", [False, True], ids=["without a time", "with a time"])
def test_one_event_wakes_all_that_wait_for_it(timed: bool) -> None:
    runtime = WallRuntime()
    event = runtime.event()
    flags: list[bool] = []
    until = runtime.now() + HOUR if timed else None
    threads = [
        runtime.start(lambda: flags.append(runtime.wait(event, until)), "waiter") for _ in range(8)
    ]
    spin_until(lambda: number_waiting(event) == 8)
    event.set()
    finish(*threads)
    assert flags == [True] * 8
    assert number_waiting(event) == 0


def test_an_event_of_another_wait_wakes_nobody_else() -> None:
    runtime = WallRuntime()
    event, other = runtime.event(), runtime.event()
    flags: list[bool] = []
    thread = runtime.start(lambda: flags.append(runtime.wait(event)), "waiter")
    spin_until(lambda: number_waiting(event) == 1)
    other.set()
    runtime.advance(HOUR)
    assert number_waiting(event) == 1
    event.set()
    finish(thread)
    assert flags == [True]


def test_no_wake_up_is_lost_between_two_threads_that_take_turns() -> None:
    runtime = WallRuntime()
    ping, pong = runtime.event(), runtime.event()
    rounds: list[str] = []

    def player(name: str, mine: Event, theirs: Event) -> Callable[[], None]:
        def play() -> None:
            for _ in range(1_000):
                runtime.wait(mine)
                mine.clear()
                rounds.append(name)
                theirs.set()

        return play

    ping.set()
    finish(runtime.start(player("a", ping, pong), "a"), runtime.start(player("b", pong, ping), "b"))
    assert rounds == ["a", "b"] * 1_000


def test_no_advance_is_lost_on_a_thread_that_waits_again_and_again() -> None:
    runtime = WallRuntime()
    event, begun = runtime.event(), runtime.event()
    waits = 0

    def wait() -> None:
        nonlocal waits
        for _ in range(200):
            until = runtime.now() + HOUR
            begun.set()
            runtime.wait(event, until)
            waits += 1

    thread = runtime.start(wait, "waiter")
    for _ in range(200):
        runtime.wait(begun)
        begun.clear()
        # Just before the wait, at its beginning or within it: the waiter has to notice.
        runtime.advance(HOUR)
    finish(thread)
    assert waits == 200


def test_join_waits_for_the_end_of_a_thread() -> None:
    runtime = WallRuntime()
    gate = runtime.event()
    ended: list[str] = []

    def work() -> None:
        runtime.wait(gate)
        ended.append("work")

    thread = runtime.start(work, "worker")
    gate.set()
    thread.join()
    assert ended == ["work"]


def test_a_lock_keeps_other_threads_out() -> None:
    runtime = WallRuntime()
    lock = runtime.lock()
    total = 0

    def count() -> None:
        nonlocal total
        for _ in range(2_000):
            with lock:
                seen = total
                total = seen + 1

    finish(*[runtime.start(count, "counter") for _ in range(4)])
    assert total == 8_000


def test_a_stopped_clock_keeps_a_timed_wait_waiting_until_it_starts() -> None:
    runtime = WallRuntime()
    event = runtime.event()
    flags: list[bool] = []
    until = runtime.now() + HOUR
    runtime.stop_clock()
    thread = runtime.start(lambda: flags.append(runtime.wait(event, until)), "waiter")
    spin_until(lambda: number_waiting(event) == 1)
    runtime.advance(HOUR / 2)
    assert flags == []
    runtime.start_clock()
    runtime.advance(HOUR)
    finish(thread)
    assert flags == [False]


def test_a_clock_that_stops_while_somebody_waits_lets_him_wait_on() -> None:
    runtime = WallRuntime()
    event = runtime.event()
    woke_at: list[float] = []
    until = runtime.now() + 0.05

    def wait() -> None:
        runtime.wait(event, until)
        woke_at.append(runtime.now())

    runtime.stop_clock()
    thread = runtime.start(wait, "waiter")
    spin_until(lambda: number_waiting(event) == 1)
    runtime.start_clock()
    finish(thread)
    assert woke_at[0] >= until


def test_an_event_ends_a_wait_on_a_stopped_clock() -> None:
    runtime = WallRuntime()
    event = runtime.event()
    runtime.stop_clock()
    flags: list[bool] = []
    thread = runtime.start(lambda: flags.append(runtime.wait(event, HOUR)), "waiter")
    spin_until(lambda: number_waiting(event) == 1)
    event.set()
    finish(thread)
    assert flags == [True]


def test_the_clock_goes_back_for_nobody_while_it_is_stopped_and_started() -> None:
    runtime = WallRuntime()
    backwards: list[tuple[float, float]] = []
    done = False

    def look() -> None:
        last = runtime.now()
        while not done:
            now = runtime.now()
            if now < last:
                backwards.append((last, now))
            last = now

    threads = [runtime.start(look, f"looker-{n}") for n in range(3)]
    for _ in range(2_000):
        runtime.stop_clock()
        runtime.advance(0.001)
        runtime.start_clock()
    done = True
    finish(*threads)
    assert backwards == []
