"""A driver that stops ends its calls, and knows when the last one has ended."""

from __future__ import annotations

import pytest

from mockdriver.cloud import Caller
from mockdriver.cloud.errors import CallerGone
from mockdriver.driver.calls_in_flight import CallsInFlight
from mockdriver.driver.errors import DriverStopped
from mockdriver.runtime import SeededRuntime, VirtualRuntime


def test_a_call_that_waits_is_ended_with_the_reason() -> None:
    runtime, calls = VirtualRuntime(), CallsInFlight()
    caller = Caller(runtime)
    calls.begin(caller)
    assert list(calls.stop()) == [caller]
    with pytest.raises(DriverStopped):
        caller.prepare()


def test_a_call_that_arrives_later_is_refused() -> None:
    runtime, calls = VirtualRuntime(), CallsInFlight()
    assert list(calls.stop()) == []
    late = Caller(runtime)
    with pytest.raises(DriverStopped):
        calls.begin(late)
    calls.end(late)


def test_the_first_reason_to_leave_is_the_one_that_counts() -> None:
    caller = Caller(VirtualRuntime())
    caller.leave()
    caller.leave(DriverStopped())
    with pytest.raises(CallerGone) as reason:
        caller.prepare()
    assert not isinstance(reason.value, DriverStopped)


def test_who_has_nobody_to_wait_for_does_not_wait() -> None:
    calls = CallsInFlight()
    calls.wait_until_ended(calls.stop(), Caller(VirtualRuntime()))


@pytest.mark.parametrize("seed", range(30))
def test_the_end_is_awaited_of_those_who_were_there(seed: int) -> None:
    runtime, calls = SeededRuntime(seed), CallsInFlight()
    callers = [Caller(runtime) for _ in range(3)]
    for caller in callers:
        calls.begin(caller)
    ended: list[Caller] = []

    def wait_for_ever(caller: Caller) -> None:
        while True:
            caller.prepare()
            caller.wait(None)

    def work(caller: Caller) -> None:
        with pytest.raises(DriverStopped):
            wait_for_ever(caller)
        ended.append(caller)
        calls.end(caller)

    def stop() -> None:
        calls.wait_until_ended(calls.stop(), Caller(runtime))
        assert set(ended) == set(callers)

    runtime.run(stop, *[lambda caller=caller: work(caller) for caller in callers])


def test_whoever_waits_for_the_end_can_leave() -> None:
    calls, runtime = CallsInFlight(), VirtualRuntime()
    calls.begin(Caller(runtime))
    impatient = Caller(runtime)
    impatient.leave()
    with pytest.raises(CallerGone):
        calls.wait_until_ended(calls.stop(), impatient)
