"""Watching calls come: each as it arrives and as it ends, and no call ever waits for a reader."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice

import pytest

from csi_spec import csi_pb2
from mockdriver.cloud import Caller
from mockdriver.cloud.errors import CallerGone
from mockdriver.journal import follower
from mockdriver.journal.entry import CloudCall, Moment
from mockdriver.journal.errors import TooFarBehind
from mockdriver.journal.filters import EVERY_CALL, CallFilter
from mockdriver.journal.waiting import watch_calls
from mockdriver.runtime import Runtime, SeededRuntime, VirtualRuntime
from tests.journal.recorded import SmallJournal
from tests.runtime.threads import finish, spin_until

SEEDS = range(100)
Shown = tuple[int, str]


def shown(moment: Moment) -> Shown:
    return moment.entry.sequence, moment.code


class _During(Caller):
    """A caller during whose first wait something is done, after which it leaves."""

    def __init__(self, runtime: Runtime, *actions: Callable[[], object]) -> None:
        super().__init__(runtime)
        self._actions = list(actions)

    def wait(self, until_seconds: float | None) -> None:
        if not self._actions:
            self.leave()
        for action in self._actions:
            action()
        self._actions.clear()
        super().wait(until_seconds)


def watched(
    small: SmallJournal,
    *actions: Callable[[], object],
    wanted: CallFilter = EVERY_CALL,
    from_start: bool = False,
) -> list[Moment]:
    """Return what somebody sees who watches while actions are done."""
    found: list[Moment] = []
    caller = _During(small.runtime, *actions)
    stream = watch_calls(small.journal, wanted, caller, small.runtime, from_start=from_start)
    with pytest.raises(CallerGone):
        found.extend(stream)
    assert small.journal._followers == ()
    return found


def test_a_call_is_seen_as_it_arrives_and_as_it_ends() -> None:
    small = SmallJournal()
    found = watched(small, small.call, lambda: small.fail("ABORTED"))
    assert [shown(moment) for moment in found] == [
        *((1, "RUNNING"), (1, "OK")),
        *((2, "RUNNING"), (2, "ABORTED")),
    ]


def test_what_arrives_tells_nothing_of_what_came_later() -> None:
    small = SmallJournal()

    def call_with_all() -> None:
        entry = small.begin(csi_pb2.DeleteVolumeRequest(volume_id="v"))
        entry.faults = ("flaky",)
        entry.add_cloud_call(CloudCall("attach", ("v",), 1.0, ""))
        small.end(entry, "ABORTED", number=10, message="why")

    arrival, end = watched(small, call_with_all)
    assert arrival.request == end.request == {"volume_id": "v"}
    assert (arrival.faults, arrival.cloud_calls, arrival.message) == ((), (), "")
    assert (arrival.code_number, arrival.duration_seconds) == (-1, 0)
    assert (end.faults, end.message, end.code_number) == (("flaky",), "why", 10)
    assert len(end.cloud_calls) == 1


def test_calls_of_before_are_not_seen() -> None:
    small = SmallJournal()
    small.call()
    assert watched(small) == []


def test_from_the_start_those_in_the_record_come_first_each_once() -> None:
    small = SmallJournal()
    small.call()
    running = small.begin()
    found = watched(small, lambda: small.end(running), small.call, from_start=True)
    assert [shown(moment) for moment in found] == [
        *((1, "OK"), (2, "RUNNING")),
        *((2, "OK"), (3, "RUNNING"), (3, "OK")),
    ]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (CallFilter(code="OK"), [(1, "OK")]),
        (CallFilter(code="RUNNING"), [(1, "RUNNING"), (2, "RUNNING")]),
        (CallFilter(code="!OK"), [(2, "ABORTED")]),
        (CallFilter(rpc="Probe"), [(2, "RUNNING"), (2, "ABORTED")]),
        (CallFilter(after=1), [(2, "RUNNING"), (2, "ABORTED")]),
    ],
)
def test_only_what_matches_at_that_moment_is_seen(
    wanted: CallFilter, expected: list[Shown]
) -> None:
    small = SmallJournal()
    found = watched(small, small.call, lambda: small.fail("ABORTED", b"", "Probe"), wanted=wanted)
    assert [shown(moment) for moment in found] == expected


# ------------------------------------------------------------------------------------------ races


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_is_missed_and_nothing_comes_twice(seed: int) -> None:
    runtime = SeededRuntime(seed)
    small = SmallJournal(runtime=runtime)
    caller = Caller(runtime)
    found: list[Shown] = []

    def watch() -> None:
        stream = watch_calls(small.journal, EVERY_CALL, caller, runtime, from_start=True)
        ends = 0
        for moment in stream:
            found.append(shown(moment))
            ends += moment.ended
            if ends == 4:
                break
        stream.close()  # type: ignore[attr-defined]  # it is a generator

    def two_calls() -> None:
        small.call()
        small.call()

    runtime.run(two_calls, watch, two_calls)

    assert small.journal._followers == ()
    assert len(set(found)) == len(found)
    assert {sequence for sequence, code in found if code == "OK"} == {1, 2, 3, 4}
    for sequence in range(1, 5):
        codes = [code for number, code in found if number == sequence]
        assert codes in (["OK"], ["RUNNING", "OK"])


@pytest.mark.parametrize("seed", SEEDS)
def test_whoever_leaves_stops_watching(seed: int) -> None:
    runtime = SeededRuntime(seed)
    small = SmallJournal(runtime=runtime)
    caller = Caller(runtime)

    def watch() -> None:
        with pytest.raises(CallerGone):
            list(watch_calls(small.journal, EVERY_CALL, caller, runtime))

    def call() -> None:
        small.call()

    runtime.run(watch, call, caller.leave)
    assert small.journal._followers == ()


# ----------------------------------------------------------------------------------- slow readers


def test_a_reader_that_is_too_slow_gets_what_was_kept_and_then_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(follower, "MAX_BEHIND", 6)
    small = SmallJournal()

    def many() -> None:
        for _ in range(10):
            small.call()

    stream = watch_calls(small.journal, EVERY_CALL, _During(small.runtime, many), small.runtime)
    found = [shown(moment) for moment in islice(stream, 6)]
    assert found == [(n, code) for n in (1, 2, 3) for code in ("RUNNING", "OK")]
    with pytest.raises(TooFarBehind) as behind:
        next(stream)
    assert (behind.value.missed, behind.value.last_sequence) == (14, 3)
    assert "has missed 14 messages; the last one was of call 3" in str(behind.value)
    assert small.journal._followers == ()


def test_what_waits_for_a_reader_is_bounded() -> None:
    small = SmallJournal()
    with small.journal.following(Caller(small.runtime)) as (_, slow):
        for _ in range(follower.MAX_BEHIND):
            small.call()
        assert len(slow._queue) == follower.MAX_BEHIND
        moments, missed = slow.take()
        assert (len(moments), missed) == (follower.MAX_BEHIND, follower.MAX_BEHIND)
        small.call()
        assert [len(slow.take()[0]), slow.take()[1]] == [2, 0]


def test_a_reader_is_woken_once_for_all_that_came_since_it_looked() -> None:
    small = SmallJournal()
    wakes = []

    class Counting(Caller):
        def wake(self) -> None:
            wakes.append(1)

    with small.journal.following(Counting(small.runtime)) as (_, slow):
        for _ in range(5):
            small.call()
        assert len(wakes) == 1
        slow.take()
        small.call()
        assert len(wakes) == 2


# ---------------------------------------------------------------------------------- virtual clock


def test_watching_does_not_let_the_clock_of_a_story_jump() -> None:
    runtime = VirtualRuntime()
    small = SmallJournal(runtime=runtime)
    caller = Caller(runtime)

    def watch() -> None:
        with pytest.raises(CallerGone):
            list(watch_calls(small.journal, EVERY_CALL, caller, runtime))

    def wait_an_hour() -> None:
        with runtime.working():
            runtime.wait(runtime.event(), 3600)

    with runtime.working():
        watcher = runtime.start(watch, "watcher")
        spin_until(lambda: len(runtime._waiters) == 1)
        waiter = runtime.start(wait_an_hour, "waiter")
        spin_until(lambda: len(runtime._waiters) == 2 or runtime.now() > 0)
        # This block is work that does not wait.
        assert runtime.now() == 0
        caller.leave()
    finish(watcher, waiter)
    assert runtime.now() == 3600
