"""Waiting until calls have come, whatever races with it. Nobody polls, no wake-up is lost.

In the seeded runtime a lost wake-up is a `Deadlock` or a wait that ends too late; both fail a test.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.cloud import Caller
from mockdriver.cloud.errors import CallerGone
from mockdriver.journal import follower
from mockdriver.journal.entry import Entry, Moment
from mockdriver.journal.errors import CallsNotSeen, QueryMistake
from mockdriver.journal.filters import EVERY_CALL, CallFilter
from mockdriver.journal.waiting import wait_for_calls
from mockdriver.runtime import SeededRuntime, VirtualRuntime
from tests.journal.recorded import SmallJournal

SEEDS = range(100)
PROBE = CallFilter(rpc="Probe")


class Racing:
    """A journal on the seeded runtime, with somebody who waits for its calls."""

    def __init__(self, seed: int = 0, capacity: int = 100) -> None:
        self.runtime = SeededRuntime(seed)
        self.small = SmallJournal(capacity, runtime=self.runtime)
        self.caller = Caller(self.runtime)
        self.outcome: list[int] | str = "none"
        self.ended_at: float | None = None

    def wait(self, wanted: CallFilter = PROBE, **fields: Any) -> Callable[[], None]:
        """Make a task that waits."""

        def task() -> None:
            try:
                found = wait_for_calls(
                    self.small.journal, wanted, self.caller, self.runtime, **fields
                )
                self.outcome = [moment.entry.sequence for moment in found]
            except (CallsNotSeen, CallerGone) as error:
                self.outcome = f"{type(error).__name__}: {error}"
            self.ended_at = self.runtime.now()

        return task

    def calls(self, *rpcs: str, takes_seconds: float = 0.0) -> Callable[[], None]:
        """Make a task that makes calls, one after the other."""

        def task() -> None:
            for rpc in rpcs:
                entry = self.small.begin(b"", rpc)
                if takes_seconds:
                    self.pause(takes_seconds)
                self.small.end(entry)

        return task

    def pause(self, seconds: float) -> None:
        self.runtime.wait(self.runtime.event(), self.runtime.now() + seconds)

    def run(self, *tasks: Callable[[], None]) -> list[int] | str:
        """Run tasks at once; return what the one who waits has got."""
        self.runtime.run(*tasks)
        assert self.small.journal._followers == ()
        return self.outcome


def test_calls_of_before_count() -> None:
    racing = Racing()
    racing.small.call(b"", "Probe")
    assert racing.run(racing.wait()) == [1]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_wait_ends_when_enough_calls_match_whatever_the_order(seed: int) -> None:
    racing = Racing(seed)
    outcome = racing.run(
        racing.wait(count=3),
        racing.calls("Probe", "DeleteVolume", "Probe"),
        racing.calls("DeleteVolume", "Probe"),
    )
    assert isinstance(outcome, list)
    assert len(outcome) == 3
    assert outcome == sorted(outcome)
    assert racing.ended_at == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_a_call_counts_when_it_ends(seed: int) -> None:
    racing = Racing(seed)
    assert racing.run(racing.wait(), racing.calls("Probe", takes_seconds=3)) == [1]
    assert racing.ended_at == 3


@pytest.mark.parametrize("seed", SEEDS)
def test_with_arrived_a_call_counts_when_it_arrives(seed: int) -> None:
    racing = Racing(seed)
    assert racing.run(racing.wait(arrived=True), racing.calls("Probe", takes_seconds=3)) == [1]
    assert racing.ended_at == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_with_arrived_a_code_is_still_waited_for(seed: int) -> None:
    racing = Racing(seed)
    wanted = CallFilter(rpc="Probe", code="OK")
    racing.run(racing.wait(wanted, arrived=True), racing.calls("Probe", takes_seconds=3))
    assert racing.ended_at == 3


@pytest.mark.parametrize("seed", SEEDS)
def test_calls_with_the_code_running_are_counted_while_they_run_at_the_same_time(seed: int) -> None:
    racing = Racing(seed)

    def delete_later() -> None:
        racing.pause(5)
        racing.calls("DeleteVolume")()

    outcome = racing.run(
        racing.wait(CallFilter(code="RUNNING"), count=2),
        racing.calls("Probe", "Probe", "Probe", takes_seconds=2),
        delete_later,
    )
    # The third Probe runs from 4 s to 6 s, and DeleteVolume arrives in between.
    assert outcome == [3, 4]
    assert racing.ended_at == 5


@pytest.mark.parametrize("seed", SEEDS)
def test_when_the_time_is_over_the_wait_says_what_was_seen(seed: int) -> None:
    racing = Racing(seed)
    outcome = racing.run(
        racing.wait(count=3, timeout_seconds=2.5), racing.calls("Probe", "DeleteVolume", "Probe")
    )
    assert outcome == (
        'CallsNotSeen: 2.5 s passed, and 2 of 3 calls with rpc="Probe" were seen; '
        "nearest: call 2, DeleteVolume OK"
    )
    assert racing.ended_at == 2.5


def test_a_timeout_of_nothing_looks_once() -> None:
    racing = Racing()
    assert str(racing.run(racing.wait(timeout_seconds=0))).startswith("CallsNotSeen: 0 s passed")
    racing.small.call(b"", "Probe")
    assert racing.run(racing.wait(timeout_seconds=0)) == [1]


@pytest.mark.parametrize("seed", SEEDS)
def test_whoever_leaves_does_not_wait_on(seed: int) -> None:
    racing = Racing(seed)

    def leave() -> None:
        racing.pause(1)
        racing.caller.leave()

    assert racing.run(racing.wait(), leave) == "CallerGone: the caller has left"
    assert racing.ended_at == 1


@pytest.mark.parametrize("seed", SEEDS)
def test_clearing_the_record_takes_nothing_from_a_wait(seed: int) -> None:
    racing = Racing(seed)

    def clear_between() -> None:
        racing.calls("Probe")()
        racing.pause(1)
        racing.small.journal.clear()
        racing.calls("Probe")()

    assert racing.run(racing.wait(count=2), clear_between) == [1, 2]


def test_a_record_that_loses_calls_takes_nothing_from_a_wait() -> None:
    racing = Racing(capacity=2)
    tasks = racing.calls("Probe", "DeleteVolume", "DeleteVolume", "Probe", takes_seconds=1)
    assert racing.run(racing.wait(count=2), tasks) == [1, 4]


@pytest.mark.parametrize("seed", SEEDS)
def test_several_can_wait_for_different_calls(seed: int) -> None:
    racing = Racing(seed)
    found: list[str] = []

    def another(rpc: str) -> Callable[[], None]:
        def task() -> None:
            caller = Caller(racing.runtime)
            wanted = CallFilter(rpc=rpc)
            wait_for_calls(racing.small.journal, wanted, caller, racing.runtime)
            found.append(rpc)

        return task

    racing.run(
        racing.wait(), another("DeleteVolume"), racing.calls("Probe"), racing.calls("DeleteVolume")
    )
    assert (racing.outcome, found) in [([1], ["DeleteVolume"]), ([2], ["DeleteVolume"])]


@pytest.mark.parametrize("count", [0, -1, 101])
def test_a_count_that_the_record_cannot_hold_is_a_mistake(count: int) -> None:
    small = SmallJournal(capacity=100)
    with pytest.raises(QueryMistake, match=f"count: {count} is not allowed, allowed: 1 to 100"):
        wait_for_calls(small.journal, PROBE, Caller(small.runtime), VirtualRuntime(), count=count)


# ------------------------------------------------------------------------------------ far behind


class _Slow(Caller):
    """A caller that finds many calls made when it comes to look."""

    def __init__(self, runtime: VirtualRuntime, make_calls: Callable[[], None]) -> None:
        super().__init__(runtime)
        self._make_calls: list[Callable[[], None]] = [make_calls]

    def prepare(self) -> None:
        super().prepare()
        while self._make_calls:
            self._make_calls.pop()()


def test_a_wait_that_misses_calls_looks_at_the_record_anew(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follower, "MAX_BEHIND", 4)
    runtime = VirtualRuntime()
    small = SmallJournal(runtime=runtime)

    def make_calls() -> None:
        for rpc in ["DeleteVolume"] * 5 + ["Probe"]:
            small.call(b"", rpc)

    caller = _Slow(runtime, make_calls)
    found = wait_for_calls(small.journal, PROBE, caller, runtime)
    assert [moment.entry.sequence for moment in found] == [6]


def test_a_wait_that_misses_calls_does_not_count_what_it_has_seen_running_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follower, "MAX_BEHIND", 2)
    runtime = VirtualRuntime()
    small = SmallJournal(2, runtime=runtime)
    first = small.begin(b"", "Probe")

    def make_calls() -> None:
        small.call()
        small.call()
        small.end(first)  # nobody is told, and the record has lost it
        small.begin(b"", "Probe")

    caller = _Slow(runtime, make_calls)
    with runtime.working(), pytest.raises(CallsNotSeen, match="1 of 2 calls"):
        wait_for_calls(
            small.journal, CallFilter(rpc="Probe", code="RUNNING"), caller, runtime, count=2
        )


# ------------------------------------------------------------------------------- virtual clock


def test_a_wait_on_the_virtual_clock_lets_it_jump_to_its_end() -> None:
    runtime = VirtualRuntime()
    small = SmallJournal(runtime=runtime)
    with runtime.working(), pytest.raises(CallsNotSeen, match="3600 s passed"):
        wait_for_calls(small.journal, PROBE, Caller(runtime), runtime, timeout_seconds=3600)
    assert runtime.now() == 3600


def test_nothing_is_decoded_for_a_wait_that_needs_no_messages(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(moment: Moment) -> None:
        raise AssertionError("decoded")

    monkeypatch.setattr(Moment, "request_message", property(refuse))
    small = SmallJournal()
    small.call(csi_pb2.DeleteVolumeRequest(volume_id="v"))
    entries: list[Entry] = [
        moment.entry
        for moment in wait_for_calls(
            small.journal,
            CallFilter(rpc="Delete*", code="OK"),
            Caller(small.runtime),
            small.runtime,
        )
    ]
    assert len(entries) == 1


def test_every_call_can_be_waited_for() -> None:
    racing = Racing()
    assert racing.run(racing.wait(EVERY_CALL), racing.calls("DeleteVolume")) == [1]
