"""Barriers: calls are held, somebody waits for them to be, and they go on; in any order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from mockdriver.cloud import Caller
from mockdriver.cloud.errors import CallerGone
from mockdriver.faults import Fault
from mockdriver.faults.engine import FaultEngine
from mockdriver.faults.errors import (
    BarrierNotFound,
    InjectedFailure,
    NotHeldInTime,
    StateReplaced,
    TooManyWaiting,
)
from mockdriver.faults.waiting import MAX_WAITING
from mockdriver.runtime import SeededRuntime
from tests.faults.calls import engine, fault, publish

SEEDS = range(12)
GATE = fault("gate", hold="b")


class Held:
    """Callers at the barriers of a list, one at a time in an order that a seed chooses."""

    def __init__(self, seed: int, *faults: Fault) -> None:
        self.runtime = SeededRuntime(seed)
        self.faults: FaultEngine = engine(*faults, runtime=self.runtime)
        self.ends: Counter[str] = Counter()
        self.order: list[int] = []
        self.callers: dict[int, Caller] = {}
        self.calls = 0

    def arrive(self, number: int | None = None) -> Callable[[], None]:
        """Return a call that comes to the list, waits as its fault says, and tells how it ended."""
        self.calls += 1
        number = self.calls if number is None else number

        def act() -> None:
            caller = self.callers.setdefault(number, Caller(self.runtime))
            try:
                acting = self.faults.choose(publish())
                if acting is not None:
                    acting.wait(caller, number)
                self.ends["went on"] += 1
            except (CallerGone, InjectedFailure) as error:
                self.ends[type(error).__name__] += 1
            self.order.append(number)

        return act

    def held(self, barrier: str = "b") -> int:
        return next((item.held for item in self.faults.barriers() if item.name == barrier), 0)

    def wait(self, calls: int, timeout_seconds: float = 60) -> int:
        caller = Caller(self.runtime)
        return self.faults.wait_until_held("b", calls, timeout_seconds, caller).held

    def later(self, seconds: float, action: Callable[[], object]) -> Callable[[], None]:
        def act() -> None:
            Caller(self.runtime).sleep_until(self.runtime.now() + seconds)
            action()

        return act

    def run(self, *actions: Callable[[], object]) -> None:
        self.runtime.run(*[lambda action=action: (action(), None)[1] for action in actions])
        assert self.faults.waiting() == 0, "nobody is left behind"


# --------------------------------------------------------------------------------- held, released


@pytest.mark.parametrize("seed", SEEDS)
def test_calls_are_held_until_they_are_released(seed: int) -> None:
    race = Held(seed, GATE)
    found = []

    def steer() -> None:
        assert race.wait(3) == 3
        assert race.runtime.now() == 0
        assert race.ends == {}
        found.append(race.faults.release("b"))

    race.run(*[race.arrive(number) for number in range(1, 4)], steer)
    assert found == [3]
    assert race.ends == {"went on": 3}


@pytest.mark.parametrize("seed", SEEDS)
def test_the_longest_held_go_first(seed: int) -> None:
    race = Held(seed, GATE)

    def steer() -> None:
        for number in range(1, 5):
            race.runtime.start(race.arrive(number), f"call-{number}")
            race.wait(number)
        (barrier,) = race.faults.barriers()
        assert barrier.calls == (1, 2, 3, 4)
        assert race.faults.release("b", 3) == 3
        assert race.held() == 1
        assert race.faults.release("b", 3) == 1
        assert race.faults.release("b", 3) == 0

    race.run(steer)
    assert sorted(race.order) == [1, 2, 3, 4]
    assert race.order.index(4) > 0


def test_a_barrier_is_closed_for_those_who_come_later() -> None:
    race = Held(0, GATE)

    def steer() -> None:
        race.faults.release("b")
        race.runtime.start(race.arrive(), "call")
        race.wait(1)
        race.faults.release()

    race.run(steer)
    assert race.ends == {"went on": 1}


def test_without_a_name_all_barriers_are_released() -> None:
    race = Held(0, fault("a", hold="a", times=2), fault("b", hold="b"))

    def steer() -> None:
        race.wait(1)
        assert [(item.name, item.held) for item in race.faults.barriers()] == [("a", 2), ("b", 1)]
        assert race.faults.release() == 3

    race.run(race.arrive(), race.arrive(), race.arrive(), steer)


def test_an_unknown_barrier_is_told_with_those_that_there_are() -> None:
    race = Held(0, GATE)
    with pytest.raises(BarrierNotFound, match="no barrier 'x', there are: 'b'"):
        race.faults.release("x")
    with pytest.raises(BarrierNotFound):
        race.faults.wait_until_held("x", 1, 10, Caller(race.runtime))


# ------------------------------------------------------------------------------------- waiting


@pytest.mark.parametrize("seed", SEEDS)
def test_who_waits_for_more_calls_than_come_is_told_how_many_came(seed: int) -> None:
    race = Held(seed, GATE)

    def steer() -> None:
        with pytest.raises(NotHeldInTime, match="2 of 3 calls are held at barrier 'b' after 5 s"):
            race.wait(3, 5)
        assert race.runtime.now() == 5
        race.faults.release()

    race.run(race.arrive(), race.arrive(), steer)


@pytest.mark.parametrize("seed", SEEDS)
def test_several_can_wait_for_the_same_calls(seed: int) -> None:
    race = Held(seed, GATE)
    seen: list[int] = []

    def watch() -> None:
        seen.append(race.wait(2))

    def steer() -> None:
        race.wait(2)
        race.runtime.wait(race.runtime.event(), 1)
        race.faults.release()

    race.run(watch, watch, race.arrive(), race.arrive(), steer)
    assert seen == [2, 2]


@pytest.mark.parametrize("seed", SEEDS)
def test_who_waits_learns_at_once_that_the_fault_is_gone(seed: int) -> None:
    race = Held(seed, GATE)

    def wait() -> None:
        with pytest.raises(BarrierNotFound):
            race.wait(1)
        assert race.runtime.now() == 3

    race.run(wait, race.later(3, race.faults.clear))


@pytest.mark.parametrize("seed", SEEDS)
def test_who_waits_can_leave(seed: int) -> None:
    race = Held(seed, GATE)
    caller = Caller(race.runtime)

    def wait() -> None:
        with pytest.raises(CallerGone):
            race.faults.wait_until_held("b", 1, 60, caller)

    race.run(wait, race.later(3, caller.leave))
    assert race.runtime.now() == 3


# ------------------------------------------------------------------------------- who leaves


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("keys", [{"hold": "b"}, {"delay_seconds": 60}], ids=["held", "delayed"])
def test_a_caller_that_leaves_gives_up_its_place(seed: int, keys: dict[str, object]) -> None:
    race = Held(seed, fault("a", **keys))

    def leave() -> None:
        race.callers[1].leave()

    race.run(race.arrive(1), race.later(3, leave))
    assert race.ends == {"CallerGone": 1}
    assert race.runtime.now() == 3


@pytest.mark.parametrize("seed", range(40))
def test_a_call_that_is_released_as_its_caller_leaves_ends_once(seed: int) -> None:
    race = Held(seed, GATE)

    def leave() -> None:
        for number in (1, 2, 3):
            race.callers.setdefault(number, Caller(race.runtime)).leave()

    def release() -> None:
        race.faults.release("b", 2)
        race.faults.clear()

    race.run(*[race.arrive(number) for number in (1, 2, 3)], leave, release)
    assert sum(race.ends.values()) == 3


@pytest.mark.parametrize("seed", range(40))
def test_however_a_release_races_with_arrivals_nobody_is_forgotten(seed: int) -> None:
    race = Held(seed, GATE)
    released: list[int] = []

    def release() -> None:
        while sum(released) < 6:
            race.wait(1)
            released.append(race.faults.release("b", 2))

    race.run(*[race.arrive(number) for number in range(6)], release)
    assert race.ends == {"went on": 6}
    assert sum(released) == 6


# --------------------------------------------------------------------- faults that go away


def remove(faults: FaultEngine) -> None:
    faults.delete("gate")


def clear(faults: FaultEngine) -> None:
    faults.clear()


def replace(faults: FaultEngine) -> None:
    faults.update(fault("gate", hold="b", node_id="i-2"))


@pytest.mark.parametrize("go_away", [remove, clear, replace])
@pytest.mark.parametrize("seed", range(25))
def test_calls_are_released_when_their_fault_goes_away_even_as_they_come(
    go_away: Callable[[FaultEngine], None], seed: int
) -> None:
    race = Held(seed, GATE)
    # No call is held for ever: that would be a Deadlock.
    race.run(*[race.arrive(number) for number in range(4)], lambda: go_away(race.faults))
    assert race.ends == {"went on": 4}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_fault_releases_its_own_calls_only(seed: int) -> None:
    race = Held(seed, fault("first", hold="b", times=1), fault("second", hold="b"))

    def steer() -> None:
        race.wait(2)
        race.faults.delete("first")
        assert race.held() == 1
        race.faults.delete("second")

    race.run(race.arrive(), race.arrive(), steer)
    assert race.ends == {"went on": 2}


@pytest.mark.parametrize("seed", SEEDS)
def test_calls_are_released_when_the_lifetime_of_their_fault_is_over(seed: int) -> None:
    race = Held(seed, fault("gate", hold="b", lifetime_seconds=10))
    race.run(race.arrive(), race.later(4, race.arrive()))
    assert race.ends == {"went on": 2}
    assert race.runtime.now() == 10


@pytest.mark.parametrize("seed", SEEDS)
def test_calls_stay_held_when_their_fault_is_switched_off(seed: int) -> None:
    race = Held(seed, GATE)

    def steer() -> None:
        race.wait(1)
        race.faults.enable("gate", False)
        assert race.held() == 1
        race.arrive(2)()  # not held any more
        race.faults.release("b")

    race.run(race.arrive(1), steer)
    assert race.order == [2, 1]


@pytest.mark.parametrize("seed", range(25))
@pytest.mark.parametrize(
    "keys", [{"hold": "b"}, {"delay_seconds": 60}, {"hold": "b", "delay_seconds": 0.5}]
)
def test_a_state_that_is_set_back_ends_those_who_wait(seed: int, keys: dict[str, object]) -> None:
    race = Held(seed, fault("a", **keys))
    snapshot = race.faults.snapshot()

    def steer() -> None:
        race.runtime.wait(race.runtime.event(), 1)
        race.faults.restore(snapshot)

    race.run(race.arrive(1), race.arrive(2), steer)
    assert race.ends == {"StateReplaced": 2}
    assert race.runtime.now() == 1


def test_what_a_call_of_a_former_state_is_answered_names_the_fault() -> None:
    assert str(StateReplaced("gate")) == (
        "the faults were set back while fault 'gate' let this call wait"
    )
    assert StateReplaced("gate").code == "UNAVAILABLE"


@pytest.mark.parametrize("seed", range(25))
def test_a_state_may_be_set_back_at_any_moment(seed: int) -> None:
    race = Held(seed, GATE)
    snapshot = race.faults.snapshot()

    def steer() -> None:
        race.faults.restore(snapshot)
        race.faults.release("b")
        race.runtime.wait(race.runtime.event(), 1)
        race.faults.clear()

    race.run(*[race.arrive(number) for number in range(4)], steer)
    assert sum(race.ends.values()) == 4
    assert set(race.ends) <= {"went on", "StateReplaced"}


# ---------------------------------------------------------------------------- delay, and the most


def test_a_delay_comes_before_the_barrier() -> None:
    race = Held(0, fault("a", delay_seconds=5, hold="b"))

    def steer() -> None:
        race.wait(1)
        assert race.runtime.now() == 5
        race.faults.release("b")

    race.run(race.arrive(), steer)
    assert race.runtime.now() == 5


def test_only_so_many_calls_wait_and_the_next_is_refused() -> None:
    race = Held(0, fault("slow", delay_seconds=1_000, times=MAX_WAITING - 1), GATE)

    def steer() -> None:
        race.wait(1)
        caller = Caller(race.runtime)
        acting = race.faults.choose(publish())
        assert acting is not None
        with pytest.raises(TooManyWaiting, match=f"{MAX_WAITING} calls are held") as caught:
            acting.wait(caller)
        assert caught.value.code == "UNAVAILABLE"
        race.faults.release("b")
        race.runtime.start(race.arrive(), "one more")
        race.wait(1)
        race.faults.load([])

    # Started one after the other: a thousand threads that take turns by chance take minutes.
    def fill() -> None:
        for number in range(MAX_WAITING):
            race.runtime.start(race.arrive(number), f"call-{number}")

    race.run(fill, steer)
    assert race.ends == {"StateReplaced": MAX_WAITING, "went on": 1}
