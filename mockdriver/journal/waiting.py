"""Waiting until calls have come, and watching them come. Nobody polls."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mockdriver.cloud import Caller
from mockdriver.journal.entry import RUNNING, Moment
from mockdriver.journal.errors import CallsNotSeen, QueryMistake, TooFarBehind
from mockdriver.journal.filters import CallFilter
from mockdriver.journal.follower import Follower
from mockdriver.journal.journal import Journal
from mockdriver.journal.nearest import in_words, nearest, without
from mockdriver.runtime import Runtime

DEFAULT_TIMEOUT_SECONDS = 10.0


def wait_for_calls(
    journal: Journal,
    wanted: CallFilter,
    caller: Caller,
    runtime: Runtime,
    *,
    count: int = 1,
    timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
    arrived: bool = False,
) -> list[Moment]:
    """Wait until `count` calls match, those of before included; return them, oldest first.

    A call counts when it has ended. With `arrived`, and where the filter's code is RUNNING, it
    counts as soon as it matches, and no longer than it does: 5 calls with the code RUNNING are 5
    at the same time. The timeout is on the runtime's clock. Raises CallsNotSeen when it is over,
    CallerGone when the caller leaves, and QueryMistake for a count that the record cannot hold.
    """
    if not 1 <= count <= journal.capacity:
        raise QueryMistake(
            "count",
            f"{count} is not allowed, allowed: 1 to {journal.capacity}, so many calls are kept",
        )
    tally = _Tally(wanted, count, at_once=arrived or wanted.code == RUNNING)
    until_seconds = runtime.now() + timeout_seconds
    try:
        while True:
            with journal.following(caller) as (present, follower):
                tally.begin(present)
                if tally.fill(follower, caller, runtime, until_seconds):
                    return tally.calls()
    except TimeoutError:
        others = without(journal.moments(), tally.calls())
        raise CallsNotSeen(
            f"{timeout_seconds:g} s passed, and {tally} were seen; "
            f"{in_words(wanted, nearest(wanted, others))}"
        ) from None


def watch_calls(
    journal: Journal,
    wanted: CallFilter,
    caller: Caller,
    runtime: Runtime,
    *,
    from_start: bool = False,
) -> Iterator[Moment]:
    """Return an iterator of each call that matches, as it arrives and again as it ends.

    It misses nothing from now on, and ends when the caller leaves. With `from_start` those in the
    record come first, each once. Calls never wait for a reader: one that is `follower.MAX_BEHIND`
    messages behind gets those, and then TooFarBehind. Raises CallerGone.
    """
    watching = _watch(journal, wanted, caller, runtime, from_start=from_start)
    next(watching)
    return (moment for moment in watching if moment is not None)


def _watch(
    journal: Journal, wanted: CallFilter, caller: Caller, runtime: Runtime, *, from_start: bool
) -> Iterator[Moment | None]:
    """Yield None when nothing will be missed any more, and then the calls."""
    with journal.following(caller) as (present, follower):
        yield None
        if from_start:
            yield from filter(wanted.matches, present)
        while True:
            caller.prepare()
            moments, missed = follower.take()
            yield from filter(wanted.matches, moments)
            if missed:
                raise TooFarBehind(missed, moments[-1].entry.sequence)
            if not moments:
                # No call of a story waits for this one, so its wait must not be taken for theirs.
                with runtime.working():
                    caller.wait(None)


class _Tally:
    """The calls that match, as far as they have been seen."""

    def __init__(self, wanted: CallFilter, count: int, *, at_once: bool) -> None:
        self._wanted = wanted
        self._count = count
        self._at_once = at_once
        self._calls: dict[int, Moment] = {}

    def __str__(self) -> str:
        return f"{len(self._calls)} of {self._count} calls{self._wanted}"

    def calls(self) -> list[Moment]:
        """Return the calls that match, oldest first."""
        return [moment for _, moment in sorted(self._calls.items())]

    def begin(self, present: Iterable[Moment]) -> None:
        """Count anew."""
        self._calls.clear()
        self._add(present)

    def fill(
        self, follower: Follower, caller: Caller, runtime: Runtime, until_seconds: float
    ) -> bool:
        """Count what comes until there are enough calls; False if the follower has missed some.

        Raises TimeoutError when the time is over.
        """
        while not self._is_full():
            caller.prepare()
            moments, missed = follower.take()
            self._add(moments)
            if missed and not self._is_full():
                return False
            if not moments:
                if runtime.now() >= until_seconds:
                    raise TimeoutError
                caller.wait(until_seconds)
        return True

    def _is_full(self) -> bool:
        return len(self._calls) >= self._count

    def _add(self, moments: Iterable[Moment]) -> None:
        """Count moments in their order, as many as are needed."""
        for moment in moments:
            if self._is_full():
                return
            sequence = moment.entry.sequence
            if (moment.ended or self._at_once) and self._wanted.matches(moment):
                self._calls[sequence] = moment
            else:
                self._calls.pop(sequence, None)
