"""The seeded runtime: one thread at a time, in an order that the seed chooses."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from mockdriver.runtime import Deadlock, Event, SeededRuntime, Thread

SEEDS = range(20)
MANY_SEEDS = range(50)


def trace(seed: int) -> list[str]:
    """Run three threads that meet at locks, events, waits and starts; return who did what when."""
    runtime = SeededRuntime(seed)
    lock, event = runtime.lock(), runtime.event()
    steps: list[str] = []

    def step(name: str, what: str) -> None:
        steps.append(f"{runtime.now():g} {name} {what}")

    def worker(name: str) -> Callable[[], None]:
        def work() -> None:
            for number in range(3):
                with lock:
                    step(name, f"locked {number}")
            event.set()
            runtime.wait(runtime.event(), until=runtime.now() + len(name))
            step(name, "slept")

        return work

    def starter() -> None:
        runtime.wait(event)
        step("starter", "woke")
        child = runtime.start(lambda: step("child", "ran"), "child")
        child.join()
        step("starter", "joined")

    runtime.run(worker("a"), worker("bb"), starter)
    return steps


# ----------------------------------------------------------------------------------------- order


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 4])
def test_the_same_seed_gives_the_same_order(seed: int) -> None:
    assert trace(seed) == trace(seed)


def test_different_seeds_give_different_orders_of_the_same_steps() -> None:
    traces = [trace(seed) for seed in MANY_SEEDS]
    assert len({tuple(steps) for steps in traces}) > len(MANY_SEEDS) // 2
    names = [sorted(step.split(" ", 1)[1] for step in steps) for steps in traces]
    assert all(steps == names[0] for steps in names)


def test_each_thread_is_first_for_some_seed() -> None:
    def first(seed: int) -> str:
        order: list[str] = []
        SeededRuntime(seed).run(*[partial(order.append, name) for name in "abc"])
        return order[0]

    assert {first(seed) for seed in MANY_SEEDS} == {"a", "b", "c"}


def test_only_one_thread_runs_at_a_time() -> None:
    runtime = SeededRuntime(seed=3)
    lock = runtime.lock()
    running = 0
    most = 0

    def work() -> None:
        nonlocal running, most
        for _ in range(20):
            running += 1
            most = max(most, running)
            _ = sum(range(2_000))
            running -= 1
            with lock:
                pass

    runtime.run(*[work] * 8)
    assert most == 1


# ---------------------------------------------------------------------------------- turning points


def counted_without_a_lock(seed: int, turn: Callable[[SeededRuntime], object]) -> int:
    """Let two threads count to 2 together, each with a turning point between look and change."""
    runtime = SeededRuntime(seed)
    total = 0

    def count() -> None:
        nonlocal total
        seen = total
        turn(runtime)
        total = seen + 1

    runtime.run(count, count)
    return total


def take_a_lock(runtime: SeededRuntime) -> None:
    with runtime.lock():
        pass


TURNS: dict[str, Callable[[SeededRuntime], object]] = {
    "a lock": take_a_lock,
    "the setting of an event": lambda runtime: runtime.event().set(),
    "a wait that ends at once": lambda runtime: runtime.wait(runtime.event(), until=0),
    "the start of a thread": lambda runtime: runtime.start(lambda: None, "child"),
    "an advance": lambda runtime: runtime.advance(0),
}


@pytest.mark.parametrize("name", TURNS)
def test_the_turn_may_change_at(name: str) -> None:
    """An update is lost for some seeds and for others it is not."""
    assert {counted_without_a_lock(seed, TURNS[name]) for seed in MANY_SEEDS} == {1, 2}


def test_without_a_turning_point_no_update_is_lost() -> None:
    assert {counted_without_a_lock(seed, lambda _: None) for seed in MANY_SEEDS} == {2}


def test_a_lock_keeps_others_out_though_the_turn_changes_within() -> None:
    def counted_under_a_lock(seed: int) -> int:
        runtime = SeededRuntime(seed)
        lock = runtime.lock()
        total = 0

        def count() -> None:
            nonlocal total
            with lock:
                seen = total
                runtime.advance(0)
                total = seen + 1

        runtime.run(*[count] * 4)
        return total

    assert {counted_under_a_lock(seed) for seed in MANY_SEEDS} == {4}


# ---------------------------------------------------------------------------------------- deadlock


def test_a_wait_that_nobody_can_end_is_a_deadlock_that_names_the_threads() -> None:
    runtime = SeededRuntime(seed=0)
    with pytest.raises(Deadlock, match="task-0"):
        runtime.run(lambda: _wait_for_ever(runtime))


def _wait_for_ever(runtime: SeededRuntime) -> None:
    runtime.wait(runtime.event())


def test_locks_taken_in_opposite_orders_are_a_deadlock_for_some_seeds_only() -> None:
    def ends(seed: int) -> bool:
        runtime = SeededRuntime(seed)
        left, right = runtime.lock(), runtime.lock()

        def left_first() -> None:
            with left, right:
                pass

        def right_first() -> None:
            with right, left:
                pass

        try:
            runtime.run(left_first, right_first)
        except Deadlock:
            return False
        return True

    assert {ends(seed) for seed in MANY_SEEDS} == {True, False}


def test_a_lock_taken_twice_by_one_thread_is_a_deadlock() -> None:
    runtime = SeededRuntime(seed=0)
    lock = runtime.lock()

    def twice() -> None:
        with lock, lock:
            pass

    with pytest.raises(Deadlock):
        runtime.run(twice)


def test_a_wait_that_time_ends_is_no_deadlock() -> None:
    runtime = SeededRuntime(seed=0)

    def sleep() -> None:
        assert not runtime.wait(runtime.event(), until=1_000_000)

    runtime.run(sleep)
    assert runtime.now() == 1_000_000


def test_a_wait_outside_of_run_that_nobody_can_end_is_a_deadlock() -> None:
    runtime = SeededRuntime(seed=0)
    with pytest.raises(Deadlock):
        runtime.wait(runtime.event())


# ------------------------------------------------------------------------------------------- clock


@pytest.mark.parametrize("seed", SEEDS)
def test_the_clock_jumps_from_one_awaited_moment_to_the_next(seed: int) -> None:
    runtime = SeededRuntime(seed)
    woke_at: list[float] = []

    def sleep_until(moment: float) -> Callable[[], None]:
        def sleep() -> None:
            runtime.wait(runtime.event(), until=moment)
            woke_at.append(runtime.now())

        return sleep

    runtime.run(sleep_until(30), sleep_until(10), sleep_until(20), sleep_until(10))
    assert woke_at == [10, 10, 20, 30]


@pytest.mark.parametrize("seed", SEEDS)
def test_the_clock_stands_still_while_a_thread_can_run(seed: int) -> None:
    runtime = SeededRuntime(seed)
    lock = runtime.lock()
    seen: set[float] = set()

    def work() -> None:
        for _ in range(10):
            with lock:
                seen.add(runtime.now())

    def sleep() -> None:
        runtime.wait(runtime.event(), until=5)
        seen.add(runtime.now())

    runtime.run(sleep, work, work)
    assert seen == {0, 5}


@pytest.mark.parametrize("seed", SEEDS)
def test_an_advance_wakes_the_waits_that_it_ends_and_no_other(seed: int) -> None:
    runtime = SeededRuntime(seed)
    never = runtime.event()
    woke: list[float] = []

    def sleep_until(moment: float) -> Callable[[], None]:
        def sleep() -> None:
            runtime.wait(never, until=moment)
            woke.append(runtime.now())

        return sleep

    def advance() -> None:
        runtime.advance(15)

    runtime.run(sleep_until(10), sleep_until(20), advance)
    # The clock does not jump to 10 first: the advancing thread can run all the time.
    assert woke == [15, 20]


@pytest.mark.parametrize("seed", SEEDS)
def test_an_event_ends_a_timed_wait_before_its_time(seed: int) -> None:
    runtime = SeededRuntime(seed)
    event = runtime.event()
    flags: list[bool] = []

    def sleep() -> None:
        flags.append(runtime.wait(event, until=60))

    runtime.run(sleep, event.set)
    assert flags == [True]
    assert runtime.now() == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_one_event_wakes_all_that_wait_for_it(seed: int) -> None:
    runtime = SeededRuntime(seed)
    event = runtime.event()
    woken = 0

    def sleep() -> None:
        nonlocal woken
        assert runtime.wait(event)
        woken += 1

    runtime.run(sleep, sleep, event.set, sleep)
    assert woken == 3


@pytest.mark.parametrize("seed", SEEDS)
def test_no_wake_up_is_lost_between_two_threads_that_take_turns(seed: int) -> None:
    runtime = SeededRuntime(seed)
    ping, pong = runtime.event(), runtime.event()
    rounds: list[str] = []

    def player(name: str, mine: Event, theirs: Event) -> Callable[[], None]:
        def play() -> None:
            for _ in range(5):
                runtime.wait(mine)
                mine.clear()
                rounds.append(name)
                theirs.set()

        return play

    ping.set()
    runtime.run(player("a", ping, pong), player("b", pong, ping))
    assert rounds == ["a", "b"] * 5


# ------------------------------------------------------------------------------------------ threads


@pytest.mark.parametrize("seed", SEEDS)
def test_run_ends_when_all_threads_have_ended_those_started_meanwhile_too(seed: int) -> None:
    runtime = SeededRuntime(seed)
    ended: list[str] = []

    def grandchild() -> None:
        runtime.wait(runtime.event(), until=9)
        ended.append("grandchild")

    def child() -> None:
        runtime.start(grandchild, "grandchild")
        ended.append("child")

    def parent() -> None:
        runtime.start(child, "child")
        ended.append("parent")

    runtime.run(parent)
    assert sorted(ended) == ["child", "grandchild", "parent"]


@pytest.mark.parametrize("seed", SEEDS)
def test_join_waits_for_the_end_of_a_thread(seed: int) -> None:
    runtime = SeededRuntime(seed)
    steps: list[str] = []

    def child() -> None:
        runtime.wait(runtime.event(), until=3)
        steps.append("child ended")

    def parent() -> None:
        thread: Thread = runtime.start(child, "child")
        thread.join()
        steps.append("parent went on")
        thread.join()

    runtime.run(parent)
    assert steps == ["child ended", "parent went on"]


@pytest.mark.parametrize("seed", SEEDS)
def test_run_raises_what_a_thread_raised_after_the_others_have_ended(seed: int) -> None:
    runtime = SeededRuntime(seed)
    ended: list[str] = []

    def fail() -> None:
        raise ZeroDivisionError

    def work() -> None:
        runtime.wait(runtime.event(), until=3)
        ended.append("work")

    with pytest.raises(ZeroDivisionError):
        runtime.run(fail, work)
    assert ended == ["work"]


def test_a_runtime_can_run_again_and_its_clock_goes_on() -> None:
    runtime = SeededRuntime(seed=0)

    def sleep() -> None:
        runtime.wait(runtime.event(), until=runtime.now() + 5)

    runtime.run(sleep)
    runtime.run(sleep, sleep)
    assert runtime.now() == 10


def test_an_error_of_one_run_is_not_raised_by_the_next() -> None:
    runtime = SeededRuntime(seed=0)

    def fail() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        runtime.run(fail)
    runtime.run(lambda: None)


def test_locks_events_and_advance_work_outside_of_run() -> None:
    runtime = SeededRuntime(seed=0)
    with runtime.lock():
        runtime.event().set()
    runtime.advance(3)
    assert runtime.now() == 3


def test_who_waits_for_a_clock_that_stands_still_is_stuck() -> None:
    runtime = SeededRuntime(0)

    def wait() -> None:
        runtime.stop_clock()
        runtime.wait(runtime.event(), 10)

    with pytest.raises(Deadlock):
        runtime.run(wait)


def test_a_clock_that_starts_lets_a_wait_end() -> None:
    runtime = SeededRuntime(0)
    ends: list[float] = []

    def wait() -> None:
        runtime.wait(runtime.event(), 10)
        ends.append(runtime.now())

    def stop_and_start() -> None:
        runtime.stop_clock()
        runtime.start_clock()

    runtime.run(wait, stop_and_start)
    assert ends == [10]
