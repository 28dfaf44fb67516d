"""Faults of RPCs: what a caller gets, what was done all the same, and what is recorded."""

from __future__ import annotations

from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.cloud import Quota
from mockdriver.driver.calls import OWN_CALL
from mockdriver.driver.driver import Driver
from mockdriver.driver.rpcs import RPCS
from mockdriver.faults import Fault
from mockdriver.faults.error_details import described
from mockdriver.faults.errors import ERROR_DETAILS_KEY
from mockdriver.journal import Entry
from tests.cloud.small_region import SmallRegion
from tests.driver.racing_driver import RacingDriver
from tests.driver.small_driver import Peer, SmallDriver, of

PUBLISH, GET_INFO = "ControllerPublishVolume", "ControllerGetNodeInfo"
SEEDS = range(6)


def driver_with(*faults: Fault, **regions: Any) -> Any:
    """Return a driver with `vol` to publish on `i-1`, and with faults."""
    return prepared(SmallDriver(SmallRegion(**regions)), *faults)


def prepared(driver: Any, *faults: Fault) -> Any:
    driver.region.add_instance(slots=3)
    driver.region.add_disk("vol")
    driver.faults.load(faults)
    return driver


def last(driver: SmallDriver) -> Entry:
    return driver.journal.entries()[-1]


def attached(driver: SmallDriver) -> list[str]:
    return [item.disk for item in driver.operator.attachments("i-1")]


# ----------------------------------------------------------------------------------- status codes


def test_twice_it_fails_and_then_it_works() -> None:
    driver = driver_with(Fault(rpc=GET_INFO, node_id="i-1", times=2, code="UNAVAILABLE"))
    codes = [driver.get_controller_info().code for _ in range(3)]
    assert codes == ["UNAVAILABLE", "UNAVAILABLE", "OK"]


@pytest.mark.parametrize("rpc", [rpc.name for rpc in RPCS if not rpc.required])
def test_every_rpc_can_be_made_to_fail(rpc: str) -> None:
    driver = driver_with(Fault(name="f", rpc="*", code="DATA_LOSS"))
    answer = driver.call(rpc)
    assert (answer.code, answer.message) == ("DATA_LOSS", "fault f")


def test_a_fault_before_the_work_keeps_it_from_being_done() -> None:
    driver = driver_with(Fault(rpc=PUBLISH, code="INTERNAL"))
    assert driver.publish("vol").code == "INTERNAL"
    assert attached(driver) == []
    assert driver.cloud_calls() == {}


def test_a_fault_after_the_work_loses_only_the_answer_and_a_repeat_is_idempotent() -> None:
    driver = driver_with(Fault(rpc=PUBLISH, when="after", times=1, code="UNAVAILABLE"))
    assert driver.publish("vol").code == "UNAVAILABLE"
    assert attached(driver) == ["vol"]
    number = driver.operator.attachments("i-1")[0].number
    assert driver.publish("vol").ok
    assert [item.number for item in driver.operator.attachments("i-1")] == [number]


def test_work_that_a_fault_comes_after_is_done_once() -> None:
    driver = driver_with(Fault(rpc=PUBLISH, when="after", code="UNAVAILABLE"))
    driver.publish("vol")
    assert driver.cloud_calls() == {"attach": 1}


def test_a_created_volume_whose_answer_is_lost_is_found_again() -> None:
    driver = driver_with(Fault(rpc="CreateVolume", when="after", times=1, code="UNAVAILABLE"))
    assert driver.create("pvc-1").code == "UNAVAILABLE"
    volume = of(driver.create("pvc-1")).volume
    assert volume.volume_id
    assert driver.cloud_calls()["create_disk"] == 1


def test_an_answer_that_is_lost_is_lost_whatever_it_was() -> None:
    driver = driver_with(Fault(rpc=PUBLISH, when="after", code="UNAVAILABLE"))
    assert driver.publish("unknown").code == "UNAVAILABLE"


def test_a_driver_can_lie_that_it_has_done_the_work() -> None:
    driver = driver_with(Fault(rpc=PUBLISH, code="OK"))
    assert of(driver.publish("vol")) == csi_pb2.ControllerPublishVolumeResponse()
    assert attached(driver) == []


def test_a_refusal_can_be_answered_ok() -> None:
    driver = driver_with(Fault(rpc=PUBLISH, when="after", code="OK"))
    assert driver.publish("unknown").ok


def test_message_and_details_come_with_the_code() -> None:
    detail = {"@type": "google.rpc.ErrorInfo", "reason": "FULL"}
    fault = Fault(rpc=PUBLISH, code="RESOURCE_EXHAUSTED", message="no room", details=(detail,))
    driver, peer = driver_with(fault), Peer()
    answer = driver.publish("vol", peer=peer)
    assert (answer.code, answer.message) == ("RESOURCE_EXHAUSTED", "no room")
    ((key, encoded),) = peer.trailing_metadata
    assert key == ERROR_DETAILS_KEY
    status = described(encoded)
    assert (status["code"], status["message"]) == (8, "no room")
    assert [item.reason for item in status["details"]] == ["FULL"]


def test_without_details_there_is_no_metadata() -> None:
    peer = Peer()
    driver_with(Fault(rpc=PUBLISH, code="ABORTED")).publish("vol", peer=peer)
    assert peer.trailing_metadata == ()


# -------------------------------------------------------------------------------------- replies


def test_fields_of_the_reply_are_overridden_after_the_work() -> None:
    driver = driver_with(Fault(rpc=GET_INFO, reply={"max_volumes_per_node": 1}))
    driver.publish("vol")
    info = driver.controller_info()
    assert info.max_volumes_per_node == 1
    assert list(info.published_volume_ids) == ["vol"]


def test_a_reply_before_the_work_has_no_other_fields() -> None:
    driver = driver_with(
        Fault(rpc=GET_INFO, node_id="ghost", when="before", reply={"published_volume_ids": ["a"]})
    )
    assert driver.controller_info("ghost") == csi_pb2.ControllerGetNodeInfoResponse(
        published_volume_ids=["a"]
    )


def test_a_refusal_has_no_fields_to_override() -> None:
    driver = driver_with(Fault(rpc=GET_INFO, reply={"max_volumes_per_node": 1}))
    assert driver.get_controller_info("unknown").code == "NOT_FOUND"


def test_a_reply_that_csi_forbids_can_be_made() -> None:
    driver = driver_with(
        Fault(rpc="CreateVolume", reply={"volume.volume_id": "", "volume.capacity_bytes": -1})
    )
    volume = of(driver.create("pvc-1")).volume
    assert (volume.volume_id, volume.capacity_bytes) == ("", -1)


# ----------------------------------------------------------------------------- which calls


def test_a_node_is_whose_node_service_is_asked() -> None:
    driver = driver_with(Fault(rpc="NodeGetInfo", node_id="i-2", code="ABORTED"))
    driver.region.add_instance("i-2", slots=3)
    assert driver.call_with_bytes("NodeGetInfo", b"", at_node="i-1").ok
    assert driver.call_with_bytes("NodeGetInfo", b"", at_node="i-2").code == "ABORTED"


def test_calls_are_told_apart_by_their_fields() -> None:
    driver = driver_with(
        Fault(rpc="*", request={"volume_id": "vol-b*"}, code="INTERNAL"),
        Fault(rpc="CreateVolume", request={"parameters.type": "fast"}, code="OUT_OF_RANGE"),
    )
    assert driver.delete("vol-bad").code == "INTERNAL"
    assert driver.publish("vol-bad").code == "INTERNAL"
    assert driver.delete("vol-good").ok
    assert driver.create("a", parameters={"type": "fast"}).code == "OUT_OF_RANGE"


@pytest.mark.parametrize(
    "call",
    [
        lambda driver: driver.publish(""),
        lambda driver: driver.call_with_bytes(PUBLISH, b"\xff"),
        lambda driver: driver.call("ListSnapshots"),
    ],
)
def test_a_call_that_the_layers_before_refuse_is_not_counted(call: Any) -> None:
    driver = driver_with(Fault(name="f", rpc="*", code="DATA_LOSS"))
    assert call(driver).code in ("INVALID_ARGUMENT", "UNIMPLEMENTED")
    assert driver.faults.get("f").matched == 0
    assert last(driver).faults == ()


def test_the_server_s_own_probe_meets_no_fault() -> None:
    driver = driver_with(Fault(name="f", rpc="Probe", code="UNAVAILABLE"))
    own, peer = Peer(), Peer()
    own.metadata = (("user-agent", "x"), OWN_CALL)
    peer.metadata = (("user-agent", "x"),)
    assert driver.call("Probe", peer=own).ok
    assert driver.call("Probe", peer=peer).code == "UNAVAILABLE"
    assert driver.faults.get("f").matched == 1


# ------------------------------------------------------------------------------------- waiting


@pytest.mark.parametrize("seed", SEEDS)
def test_a_delay_comes_before_the_work_or_after_it(seed: int) -> None:
    for when, seen in (("before", []), ("after", ["vol"])):
        driver = prepared(RacingDriver(seed), Fault(rpc=PUBLISH, when=when, delay_seconds=5))
        found: list[str] = []
        codes = driver.run_for_codes(
            lambda driver=driver: driver.publish("vol"),
            driver.silently(4, lambda driver=driver, found=found: found.extend(attached(driver))),
        )
        assert (codes, found) == (["OK"], seen)
        assert driver.runtime.now() == 5


@pytest.mark.parametrize("seed", SEEDS)
def test_an_answer_that_comes_too_late_is_of_work_that_was_done(seed: int) -> None:
    driver = prepared(RacingDriver(seed), Fault(rpc=PUBLISH, when="after", delay_seconds=60))
    peer = Peer()
    codes = driver.run_for_codes(
        lambda: driver.publish("vol", peer=peer), driver.silently(3, peer.hang_up)
    )
    assert codes == ["CANCELLED"]
    assert attached(driver) == ["vol"]
    assert driver.runtime.now() == 3
    driver.assert_at_rest()


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("when", ["before", "after"])
def test_no_answer_lasts_until_the_caller_leaves(seed: int, when: str) -> None:
    driver = prepared(RacingDriver(seed), Fault(rpc=PUBLISH, when=when, no_answer=True))
    peer = Peer()
    codes = driver.run_for_codes(
        lambda: driver.publish("vol", peer=peer), driver.silently(100, peer.hang_up)
    )
    assert codes == ["CANCELLED"]
    assert attached(driver) == (["vol"] if when == "after" else [])
    driver.assert_at_rest()


@pytest.mark.parametrize("seed", SEEDS)
def test_a_held_call_goes_on_with_its_work_when_it_is_released(seed: int) -> None:
    driver = prepared(RacingDriver(seed), Fault(rpc=PUBLISH, hold="gate"))
    codes = driver.run_for_codes(
        lambda: driver.publish("vol"), driver.silently(3, driver.faults.release)
    )
    assert codes == ["OK"]
    assert driver.runtime.now() == 3


@pytest.mark.parametrize("seed", SEEDS)
def test_a_held_call_can_fail_when_it_is_released(seed: int) -> None:
    driver = prepared(
        RacingDriver(seed), Fault(rpc=PUBLISH, when="after", hold="gate", code="ABORTED")
    )
    found: list[str] = []

    def release() -> None:
        found.extend(attached(driver))
        driver.faults.release("gate")

    codes = driver.run_for_codes(lambda: driver.publish("vol"), driver.silently(3, release))
    assert (codes, found) == (["ABORTED"], ["vol"])


@pytest.mark.parametrize("seed", SEEDS)
def test_a_call_keeps_its_object_while_it_is_held(seed: int) -> None:
    driver = prepared(RacingDriver(seed), Fault(rpc=PUBLISH, times=1, hold="gate"))
    codes = driver.run_for_codes(
        lambda: driver.publish("vol"),
        driver.later(1, lambda: driver.publish("vol")),
        driver.later(2, driver.get_controller_info),
        driver.silently(3, driver.faults.release),
    )
    assert codes == ["OK", "ABORTED", "OK"]
    driver.assert_at_rest()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_race_of_the_kep_an_attach_ends_while_a_lookup_is_held(seed: int) -> None:
    driver = prepared(RacingDriver(seed), Fault(rpc=GET_INFO, when="after", hold="lookup"))
    answers = driver.run(
        driver.get_controller_info,
        driver.later(1, lambda: driver.publish("vol")),
        driver.silently(2, driver.faults.release),
    )
    assert list(of(answers[0]).published_volume_ids) == []
    assert attached(driver) == ["vol"]


@pytest.mark.parametrize("seed", SEEDS)
def test_a_state_that_is_set_back_ends_held_calls_without_their_work(seed: int) -> None:
    driver = prepared(RacingDriver(seed), Fault(name="f", rpc=PUBLISH, hold="gate"))
    snapshot = driver.faults.snapshot()
    codes = driver.run_for_codes(
        lambda: driver.publish("vol"), driver.silently(3, lambda: driver.faults.restore(snapshot))
    )
    assert codes == ["UNAVAILABLE"]
    assert attached(driver) == []
    driver.assert_at_rest()


def test_barriers_know_the_numbers_of_the_calls_in_the_journal() -> None:
    driver = prepared(RacingDriver(0), Fault(rpc=PUBLISH, hold="gate"))
    found: list[tuple[int, ...]] = []

    def release() -> None:
        found.extend(barrier.calls for barrier in driver.faults.barriers())
        driver.faults.release()

    driver.run(
        lambda: driver.call("Probe"),
        driver.later(1, lambda: driver.publish("vol")),
        driver.silently(2, release),
    )
    assert found == [(2,)]


# ---------------------------------------------------------------------------------- the process


class Crash(BaseException):
    """Stands in for the end of the process."""


def test_a_fault_ends_the_process_when_its_call_is_in_the_record() -> None:
    driver = driver_with()
    ended: list[tuple[str, int]] = []

    def crash(fault: str, exit_code: int) -> None:
        ended.append((fault, exit_code))
        raise Crash

    config, cloud = driver.driver.config, driver.region.cloud
    faults = driver.faults
    driver.driver = Driver(config, cloud, driver.runtime, driver.journal, faults, crash)
    faults.load([Fault(name="die", rpc=PUBLISH, when="after", exit=137)])
    with pytest.raises(Crash):
        driver.publish("vol")
    assert ended == [("die", 137)]
    assert attached(driver) == ["vol"]
    entry = last(driver)
    assert (entry.code, entry.faults) == ("UNAVAILABLE", ("die",))
    assert entry.message == "fault die ends the process with exit code 137"


def test_where_the_process_has_other_work_only_the_call_ends() -> None:
    driver = driver_with(Fault(name="die", rpc=PUBLISH, exit=1))
    assert driver.publish("vol").code == "UNAVAILABLE"
    assert driver.call("Probe").ok


def test_no_other_fault_keeps_the_process_alive() -> None:
    driver = driver_with(
        Fault(name="outer", rpc=PUBLISH, when="after", code="ABORTED"),
        Fault(name="die", cloud_api="attach", exit=1),
    )
    answer = driver.publish("vol")
    assert answer.message == "fault die ends the process with exit code 1"


# ------------------------------------------------------------------------------------- recorded


def test_the_journal_names_the_faults_that_acted() -> None:
    driver = driver_with(
        Fault(name="late", rpc=PUBLISH, delay_seconds=0.01, times=1),
        Fault(name="throttled", cloud_api="attach", error="Throttled", times=3),
        Fault(name="never", rpc=PUBLISH, calls="9", code="ABORTED"),
    )
    assert driver.publish("vol").ok
    assert last(driver).faults == ("late", "throttled")
    assert driver.publish("vol").ok
    assert last(driver).faults == ()


def test_faults_change_nothing_where_none_is_about_the_call() -> None:
    def played(*faults: Fault) -> list[tuple[str, str]]:
        driver = driver_with(*faults, quotas={"attach": Quota(burst=9, per_second=1)})
        volume = driver.new_volume()
        driver.publish(volume)
        driver.publish("unknown")
        driver.controller_info()
        driver.unpublish(volume)
        return [(entry.rpc, entry.code) for entry in driver.journal.entries()]

    assert played() == played(Fault(rpc="NodeGetInfo", code="ABORTED"))
