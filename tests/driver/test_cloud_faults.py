"""Faults of the cloud's API: what the driver makes of a cloud that goes wrong."""

from __future__ import annotations

from typing import Any

import pytest

from mockdriver.cloud import IMMEDIATELY, Caller, Transition, errors
from mockdriver.driver import cloud_faults
from mockdriver.driver.cloud_client import PATIENCE_SECONDS
from mockdriver.driver.status import CODES
from mockdriver.faults import Fault
from mockdriver.faults.cloud_calls import CLOUD_ERRORS, ERROR_NAMES
from mockdriver.journal import Entry
from tests.cloud.small_region import SmallRegion
from tests.driver.racing_driver import RacingDriver
from tests.driver.small_driver import SmallDriver
from tests.driver.test_faults import attached, last, prepared

SEEDS = range(6)


def driver_with(*faults: Fault, **regions: Any) -> Any:
    """Return a driver with `vol` to publish on `i-1`, and with faults."""
    return prepared(SmallDriver(SmallRegion(**regions)), *faults)


def cloud_calls(entry: Entry) -> list[tuple[str, str]]:
    """Return the calls of the cloud in an entry, each with its error."""
    return [(call.api, call.error) for call in entry.cloud_calls]


def call(driver: Any, api: str) -> str:
    """Make a call of an RPC that calls this API of the cloud; return the code."""
    answer = {
        "describe_instances": driver.get_controller_info,
        "describe_types": driver.get_controller_info,
        "describe_disks": lambda: driver.call("ListVolumes"),
        "attach": lambda: driver.publish("vol"),
        "detach": lambda: driver.unpublish("vol"),
        "create_disk": lambda: driver.create("pvc-1"),
        "delete_disk": lambda: driver.delete("vol"),
    }[api]()
    return str(answer.code)


@pytest.mark.parametrize(
    ("api", "error"), [(api, error) for api, names in CLOUD_ERRORS.items() for error in names]
)
def test_an_api_refuses_with_each_of_its_errors(api: str, error: str) -> None:
    driver = driver_with(Fault(name="f", cloud_api=api, error=error))
    code = call(driver, api)
    expected = CODES[getattr(errors, error)].name
    # Gone is gone: an idempotent call is OK where what it was to undo is not there.
    if api == "detach" and error in ("DiskNotFound", "InstanceNotFound", "NotAttached"):
        expected = "OK"
    if api == "delete_disk" and error == "DiskNotFound":
        expected = "OK"
    assert code == expected, last(driver).message
    assert last(driver).faults == ("f",)
    assert cloud_calls(last(driver))[-1] == (api, error)


def test_every_error_that_a_fault_can_name_can_be_made() -> None:
    assert set(cloud_faults.BUILDERS) == set(ERROR_NAMES)


def test_an_error_tells_what_is_true_of_the_cloud() -> None:
    driver = driver_with(Fault(cloud_api="attach", error="SlotsExhausted"))
    assert driver.publish("vol").message == "instance 'i-1' has 3 slots and 3 slot users"
    driver.faults.load([Fault(cloud_api="attach", error="AttachedElsewhere")])
    driver.region.add_instance("i-2", slots=3)
    assert driver.publish("vol").message == "disk 'vol' is attached to instance 'i-2'"


@pytest.mark.parametrize("error", ERROR_NAMES)
def test_an_error_can_be_made_of_things_that_there_are_not(error: str) -> None:
    driver = driver_with()
    apis = [api for api, names in CLOUD_ERRORS.items() if error in names]
    driver.faults.load([Fault(cloud_api=api, error=error) for api in apis])
    codes = {
        driver.publish("ghost", "ghost").code,
        driver.unpublish("ghost", "ghost").code,
        driver.delete("ghost").code,
        driver.get_controller_info("ghost").code,
    }
    assert "INTERNAL" not in codes or error == "TooManyIds"


def test_a_throttled_call_is_tried_again() -> None:
    driver = driver_with(Fault(name="f", cloud_api="attach", error="Throttled", times=3))
    assert driver.publish("vol").ok
    assert cloud_calls(last(driver)) == [
        ("attach", "Throttled"),
        ("attach", "Throttled"),
        ("attach", "Throttled"),
        ("attach", ""),
    ]
    assert driver.cloud_calls()["attach"] == 4


def test_throttled_past_the_patience_is_unavailable() -> None:
    driver = driver_with(Fault(cloud_api="attach", error="Throttled"))
    assert driver.publish("vol").code == "UNAVAILABLE"
    assert driver.runtime.now() <= PATIENCE_SECONDS
    driver.faults.clear()
    assert driver.publish("vol").ok


def test_the_cloud_does_it_and_says_that_it_failed() -> None:
    driver = driver_with(Fault(cloud_api="attach", when="after", times=1, error="SlotsExhausted"))
    assert driver.publish("vol").code == "RESOURCE_EXHAUSTED"
    assert attached(driver) == ["vol"]
    assert driver.publish("vol").ok


def test_an_answer_that_is_throttled_away_is_found_by_the_next_try() -> None:
    driver = driver_with(Fault(cloud_api="attach", when="after", times=1, error="Throttled"))
    assert driver.publish("vol").ok
    assert driver.cloud_calls()["attach"] == 2
    assert len(driver.operator.attachments("i-1")) == 1


def test_a_code_of_the_cloud_s_reaches_the_caller_as_it_is() -> None:
    driver = driver_with(
        Fault(cloud_api="describe_instances", code="PERMISSION_DENIED", message="no credentials")
    )
    answer = driver.get_controller_info()
    assert (answer.code, answer.message) == ("PERMISSION_DENIED", "no credentials")
    assert cloud_calls(last(driver)) == [("describe_instances", "PERMISSION_DENIED")]


def test_what_never_reached_the_cloud_counts_as_a_call_all_the_same() -> None:
    driver = driver_with(Fault(cloud_api="attach", code="INTERNAL", times=1))
    driver.publish("vol")
    assert driver.cloud_calls() == {"attach": 1}


def test_calls_are_told_apart_by_what_they_name() -> None:
    driver = driver_with(
        Fault(cloud_api="attach", node_id="i-2", request={"disk": "vol-*"}, code="INTERNAL")
    )
    driver.region.add_instance("i-2", slots=3)
    driver.region.add_disk("vol-2")
    assert driver.publish("vol-2", "i-1").ok
    assert driver.publish("vol", "i-2").ok
    assert driver.publish("vol-2", "i-2").code == "INTERNAL"


def test_a_pattern_is_about_many_apis() -> None:
    driver = driver_with(Fault(cloud_api="describe_*", code="DATA_LOSS"))
    assert driver.get_controller_info().code == "DATA_LOSS"
    assert driver.call("ListVolumes").code == "DATA_LOSS"
    assert driver.publish("vol").ok


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("seed", SEEDS)
def test_a_cloud_can_be_slow(seed: int, when: str) -> None:
    driver = prepared(RacingDriver(seed), Fault(cloud_api="attach", when=when, delay_seconds=5))
    seen: list[str] = []
    codes = driver.run_for_codes(
        lambda: driver.publish("vol"), driver.silently(4, lambda: seen.extend(attached(driver)))
    )
    assert codes == ["OK"]
    assert seen == (["vol"] if when == "after" else [])
    assert driver.runtime.now() == 5


@pytest.mark.parametrize("seed", SEEDS)
def test_calls_of_the_cloud_can_be_held(seed: int) -> None:
    driver = prepared(RacingDriver(seed), Fault(cloud_api="attach", when="after", hold="gate"))

    def release() -> None:
        driver.faults.wait_until_held("gate", 1, 10, Caller(driver.runtime))
        assert attached(driver) == ["vol"]
        driver.faults.release("gate")

    assert driver.run_for_codes(lambda: driver.publish("vol"), driver.silently(0, release)) == [
        "OK"
    ]
    driver.assert_at_rest()


HELD = Transition(held=True)


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("keys", [{"delay_seconds": 2}, {"hold": "gate", "times": 2}])
def test_a_transition_that_ends_while_a_look_is_slow_is_not_missed(
    seed: int, when: str, keys: dict[str, Any]
) -> None:
    driver = prepared(
        RacingDriver(seed, attach=HELD, detach=IMMEDIATELY),
        Fault(cloud_api="describe_disks", when=when, **keys),
    )
    # The driver looks at the attachment from 0 s on; after the look it would wait for ever.
    codes = driver.run_for_codes(
        lambda: driver.publish("vol"),
        driver.silently(1, driver.operator.release),
        driver.silently(3, driver.faults.release),
        driver.silently(5, driver.faults.clear),
    )
    assert codes == ["OK"]
    driver.assert_at_rest()
