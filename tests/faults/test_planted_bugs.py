"""Planted bugs: each of them must make a test of the faults fail, or that test tells nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from mockdriver.cloud import Caller
from mockdriver.driver import calls, fault_layer
from mockdriver.driver.fault_layer import FaultLayer
from mockdriver.faults import field_paths, rule
from mockdriver.faults.engine import ActingFault, FaultEngine
from mockdriver.faults.errors import NotHeldInTime
from mockdriver.faults.rule import Fate, Rule
from mockdriver.faults.waiting import Waiting
from mockdriver.runtime import Deadlock
from tests.driver import test_cloud_faults, test_faults
from tests.faults import test_barriers, test_engine, test_field_paths
from tests.faults.test_machine import FaultMachine
from tests.planting import Plant, assert_caught_by, replaced


def passes_over_without_times(found: Rule, number: int) -> str | None:
    """Look at the calls and at chance only."""
    return None if found.compiled.numbers.have(number) else "not one of the calls"


def count_only_what_acts(faults: FaultEngine, call: Any) -> ActingFault | None:
    """Choose, and count a call as matched only if the fault acts."""
    for found in faults._about.get(call.name, ()):
        subject = found.fits(call)
        if subject is not None and found.passes_over(found.matched + 1) is None:
            found.matched += 1
            found.acted += 1
            return ActingFault(found, subject.overrides, faults._waiting)
    return None


def begin_anew(
    found: Rule, compiled: Any, now_seconds: float, lifetime_seconds: float | None
) -> None:
    """Give a restored fault its whole lifetime."""
    _rule_init(found, compiled, now_seconds, compiled.fault.lifetime_seconds)


_rule_init = Rule.__init__


def forget_the_arriving(waiting: Waiting, wait: Any) -> None:
    """List a call that comes to a barrier whether or not its fault is still there."""
    with waiting._lock:
        waiting._waits[wait] = None
        watchers = tuple(waiting._watchers)
    for watcher in watchers:
        watcher.wake()


def enter_silently(waiting: Waiting, wait: Any) -> None:
    """List a call that comes to a barrier and tell nobody."""
    with waiting._lock:
        waiting._waits[wait] = None


def release_the_newest(waiting: Waiting, barrier: str, calls: int) -> list[Caller]:
    """Release calls from the wrong end."""
    held = [
        wait for wait in reversed(waiting._waits) if wait.barrier and barrier in ("", wait.barrier)
    ]
    return waiting._end(held[:calls] if calls else held)


@contextmanager
def not_aside(_: Caller) -> Iterator[None]:
    """Wait without regard to the wait around it."""
    yield


def work_twice(
    layer: FaultLayer, acting: ActingFault, work: Any, response_type: Any, caller: Caller
) -> Any:
    """Do the work before the fault's waits and again after them."""
    work()
    return _after(layer, acting, work, response_type, caller)


_after = FaultLayer._after


def before_only(layer: FaultLayer, acting: Any, work: Any, type_: Any, caller: Caller) -> Any:
    """Act before the work whatever the fault says."""
    return layer._before(acting, work, type_, caller)


def with_index_zero(items: Any, field: Any, rest: Any) -> Any:
    """Take the first item of a list for any of them."""
    return _texts_of_many(items, field, (0, *rest[1:]) if rest[:1] == (-1,) else rest)


_texts_of_many = field_paths._texts_of_many

_draw: Callable[[int, int], float] = rule.draw

FIRST = 0

BUGS: dict[str, tuple[Plant, Callable[[], object]]] = {
    "a call that nobody acts on is not counted": (
        replaced(FaultEngine, "_choose", count_only_what_acts),
        lambda: test_engine.test_a_fault_acts_on_these_of_six_calls({"calls": "3"}, [3]),
    ),
    "a fault acts more often than it may": (
        replaced(Rule, "passes_over", passes_over_without_times),
        lambda: test_engine.test_a_fault_acts_on_these_of_six_calls({"times": 2}, [1, 2]),
    ),
    "chance does not care for the seed": (
        replaced(rule, "draw", lambda seed, number: _draw(0, number)),
        test_engine.test_chance_is_the_same_for_the_same_seed_and_order_of_calls,
    ),
    "a restored fault lives as long as a new one": (
        replaced(Rule, "__init__", begin_anew),
        test_engine.test_a_snapshot_keeps_what_is_left_of_lifetimes,
    ),
    "any item of a list is the first one": (
        replaced(field_paths, "_texts_of_many", with_index_zero),
        lambda: test_field_paths.test_a_path_leads_to_values_as_text(
            "volume_capabilities.*.access_type", ["mount", "block"]
        ),
    ),
    "the newest calls are released first": (
        replaced(Waiting, "release", release_the_newest),
        lambda: test_barriers.test_the_longest_held_go_first(FIRST),
    ),
    "a state that is set back leaves those who wait": (
        replaced(Waiting, "end_all", lambda waiting: []),
        lambda: test_barriers.test_a_state_that_is_set_back_ends_those_who_wait(
            FIRST, {"delay_seconds": 60}
        ),
    ),
    "a fault that acts after the work keeps it from being done": (
        replaced(FaultLayer, "_after", before_only),
        test_faults.test_a_fault_after_the_work_loses_only_the_answer_and_a_repeat_is_idempotent,
    ),
    "the work is done twice": (
        replaced(FaultLayer, "_after", work_twice),
        test_faults.test_work_that_a_fault_comes_after_is_done_once,
    ),
    "faults that act are not recorded": (
        replaced(fault_layer, "record", lambda acting, caller: None),
        test_faults.test_the_journal_names_the_faults_that_acted,
    ),
    "the server's own probe meets faults": (
        replaced(calls, "_is_own_call", lambda context: False),
        test_faults.test_the_server_s_own_probe_meets_no_fault,
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_caught(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, test = BUGS[bug]
    test()
    plant(monkeypatch)
    with pytest.raises(AssertionError):
        test()


# ----------------------------------------------------------------------------- bugs of the races

RACES: dict[str, tuple[Plant, Callable[[int], object]]] = {
    "a call that arrives as its fault goes away is held for ever": (
        replaced(Waiting, "_enter", forget_the_arriving),
        lambda seed: (
            test_barriers.test_calls_are_released_when_their_fault_goes_away_even_as_they_come(
                test_barriers.clear, seed
            )
        ),
    ),
    "a look that is slow forgets who woke it": (
        replaced(Caller, "aside", not_aside),
        lambda seed: (
            test_cloud_faults.test_a_transition_that_ends_while_a_look_is_slow_is_not_missed(
                seed, "after", {"delay_seconds": 2}
            )
        ),
    ),
    "who waits for held calls is not told of them": (
        replaced(Waiting, "_enter", enter_silently),
        test_barriers.test_calls_are_held_until_they_are_released,
    ),
}


@pytest.mark.parametrize("bug", RACES)
def test_a_planted_race_is_found_by_some_seed(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, test = RACES[bug]

    def race() -> None:
        for seed in range(40):
            test(seed)

    plant(monkeypatch)
    with pytest.raises((AssertionError, Deadlock, NotHeldInTime)):
        race()


# -------------------------------------------------------------------- and the state machine's

MACHINE_BUGS: dict[str, Plant] = {
    "a call that nobody acts on is not counted": replaced(
        FaultEngine, "_choose", count_only_what_acts
    ),
    "a fault acts more often than it may": replaced(Rule, "passes_over", passes_over_without_times),
    "a fault whose time is over stays": replaced(FaultEngine, "_expire", lambda faults: []),
    "a fault that is off acts": replaced(
        Rule, "switch", lambda found, enabled: setattr(found, "fate", Fate.LISTED)
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("bug", MACHINE_BUGS)
def test_a_planted_bug_is_caught_by_the_state_machine(
    bug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    MACHINE_BUGS[bug](monkeypatch)
    assert_caught_by(FaultMachine)
