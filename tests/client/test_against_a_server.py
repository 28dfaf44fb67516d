"""The client and the control API of a real server: what one says, the other understands."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import grpc
import pytest

from mockdriver.client import CallsNotAsExpected, ControlClient, ControlError
from mockdriver.client.csi import CsiError
from mockdriver.testing import Driver, start
from tests.waiting import PATIENCE_SECONDS

SCENARIO = {
    "scenario": "client",
    "cloud": {
        "zones": ["region-1a", "region-1b"],
        "instance_types": {"t": {"slots": 4}},
        "instances": [{"count": 5, "id": "i-{n}", "type": "t", "zone": "region-1a"}],
        "disks": [{"id": "vol-1"}, {"id": "vol-2"}],
    },
}


@pytest.fixture(scope="module")
def server() -> Iterator[Driver]:
    with start(SCENARIO, nodes=["i-2"]) as server:
        yield server


@pytest.fixture
def driver(server: Driver) -> Driver:
    server.reset()
    return server


@pytest.fixture
def control(driver: Driver) -> ControlClient:
    return driver.control


def test_the_cloud_is_read(control: ControlClient) -> None:
    assert control.cloud.summary().instances == 5
    assert [zone.name for zone in control.cloud.zones()] == ["region-1a", "region-1b"]
    assert control.cloud.instance_type("t").slots == 4
    assert [found.name for found in control.cloud.instance_types()] == ["t"]
    assert control.cloud.instance("i-3").type == "t"
    assert control.cloud.disk("vol-1").size_gib == 10
    assert control.cloud.node_info("i-1").max_volumes_per_node == 4
    assert {api.name for api in control.cloud.apis()} >= {"attach", "detach"}
    assert control.cloud.transitions().attach == "immediately"


def test_pages_are_put_together(control: ControlClient) -> None:
    page = control.cloud.instance_page(page_size=2)
    rest = control.cloud.instance_page(page_size=1000, page_token=page.next_page_token)

    together = [instance.id for instance in (*page.instances, *rest.instances)]
    assert together == [instance.id for instance in control.cloud.instances()]
    assert page.total == 5
    assert [disk.id for disk in control.cloud.disks("vol-?")] == ["vol-1", "vol-2"]


def test_the_cloud_is_changed(control: ControlClient) -> None:
    cloud = control.cloud
    cloud.add_zone("region-1c")
    cloud.add_instance_type("large", slots=20, boot_disk_uses_slot=False)
    cloud.add_instance(
        "i-new", type="large", zone="region-1c", network_interfaces=["eni-a"], attached=["vol-3"]
    )
    assert cloud.add_network_interface("i-new").instance == "i-new"
    assert len(cloud.add_network_interfaces("i-new", 2)) == 2
    cloud.remove_network_interface("i-new", "eni-a")
    cloud.remove_network_interfaces("i-new", 2)
    assert len(cloud.network_interfaces("i-new")) == 1
    cloud.change_instance_type("large", no_slots=True)
    assert not cloud.instance("i-new").HasField("slots")
    cloud.add_disk("vol-4", zone="region-1c", tags={"a": "b"})
    assert cloud.change_disk("vol-4", size_gib=20, remove_tags=["a"]).size_gib == 20
    assert cloud.change_instance("i-new", type="t").type == "t"
    cloud.remove_instance("i-new")
    cloud.remove_disk("vol-4")
    cloud.remove_disk("vol-3")
    cloud.remove_instance_type("large")
    cloud.remove_zone("region-1c")

    assert cloud.summary().instances == 5


def test_disks_are_attached_and_detached(control: ControlClient) -> None:
    cloud = control.cloud
    cloud.set_transitions(attach="held", detach="after 20ms")
    assert cloud.attach("i-1", "vol-1").state == "attaching"
    assert cloud.release(instance="i-1") == 1
    assert cloud.attachment("i-1", "vol-1").state == "attached"
    assert cloud.attach("i-2", "vol-2", immediately=True, published=True).state == "attached"
    assert cloud.change_attachment("i-2", "vol-2", state="busy").state == "busy"
    assert len(cloud.attachments()) == 2

    left = cloud.detach("i-1", "vol-1")
    assert left is None or left.state == "detaching"
    assert cloud.detach("i-2", "vol-2", force=True, wait=True) is None


def test_what_the_cloud_refuses_has_its_name_and_can_be_forced(control: ControlClient) -> None:
    for n in range(4):
        control.cloud.attach("i-1", f"vol-{n}-full")

    with pytest.raises(ControlError) as caught:
        control.cloud.attach("i-1", "vol-1")

    assert caught.value.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert caught.value.error == "SlotsExhausted"
    assert control.cloud.attach("i-1", "vol-1", force=True).uses_slot


def test_a_quota_takes_a_timedelta(control: ControlClient) -> None:
    delay = timedelta(milliseconds=1.5)
    api = control.cloud.set_quota("attach", burst=5, per_second=2.5, delay=delay)

    assert (api.quota.burst, api.quota.per_second, api.quota.delay) == (5, 2.5, "1.5ms")


def test_faults_are_added_changed_and_removed(driver: Driver) -> None:
    faults = driver.control.faults
    second = faults.add(rpc="NodeGetInfo", code=grpc.StatusCode.ABORTED, message="second")
    first = faults.add(name="first", rpc="NodeGetInfo", code="UNAVAILABLE", before=second.name)
    assert [fault.name for fault in faults.list()] == ["first", second.name]
    explained = faults.explain("NodeGetInfo", {}, node_id="i-1")
    assert explained.acts == "first"

    faults.disable(first.name)
    with pytest.raises(CsiError) as caught:
        driver.csi.node.NodeGetInfo()
    assert caught.value.code is grpc.StatusCode.ABORTED
    assert faults.get(second.name).acted == 1
    faults.enable(first.name)
    faults.update(name="first", rpc="NodeGetInfo", reply={"max_volumes_per_node": 7})
    assert driver.csi.node.NodeGetInfo().max_volumes_per_node == 7
    faults.delete(first.name)
    assert faults.clear() == 1


def test_calls_fail_so_many_times(driver: Driver) -> None:
    with driver.fail("NodeGetInfo", code="UNAVAILABLE", times=2) as fault:
        codes = [driver_code(driver) for _ in range(3)]
        assert (fault.matched, fault.acted) == (3, 2)

    assert codes == ["UNAVAILABLE", "UNAVAILABLE", "OK"]
    assert driver.control.faults.list() == []
    assert driver.calls("NodeGetInfo", fault=fault.name).count == 2


def driver_code(driver: Driver) -> str:
    """Ask a node for its info; return the name of the code."""
    try:
        driver.csi.node.NodeGetInfo()
    except CsiError as error:
        return error.code.name
    return "OK"


def test_calls_are_held_and_go_on(driver: Driver) -> None:
    with driver.hold("NodeGetInfo", node_id="i-2") as held:
        calls = [driver.csi.node_of("i-2").NodeGetInfo.begin() for _ in range(3)]
        assert held.wait_for(3, timeout_seconds=PATIENCE_SECONDS).held == 3
        assert driver.csi.node.NodeGetInfo().node_id == "i-1"
        assert driver.calls(code="RUNNING").count == held.count == 3
        assert held.release(1) == 1
        driver.calls("NodeGetInfo", node_id="i-2", code="OK").wait(
            1, timeout_seconds=PATIENCE_SECONDS
        )
        assert held.count == 2

    assert [call.result().node_id for call in calls] == ["i-2"] * 3


def test_waiting_for_what_does_not_come_ends(driver: Driver) -> None:
    with driver.hold("NodeGetInfo") as held:
        with pytest.raises(ControlError) as caught:
            held.wait_for(1, timeout_seconds=0.01)
        assert caught.value.code is grpc.StatusCode.DEADLINE_EXCEEDED

    with pytest.raises(ControlError, match="DEADLINE_EXCEEDED"):
        driver.calls("NodeGetInfo").wait(1, timeout_seconds=0.01)


def test_calls_are_counted_filtered_and_expected(driver: Driver) -> None:
    driver.csi.controller.ControllerGetNodeInfo(node_id="i-2")
    driver.csi.node.NodeGetInfo()

    asked = driver.calls("ControllerGetNodeInfo", request={"node_id": "i-2"})
    assert asked.count == 1
    assert asked.last().response["max_volumes_per_node"] == 4
    assert [call.cloud_calls[0].api for call in asked] == ["describe_instances"]
    asked.expect(exactly=1)
    with pytest.raises(CallsNotAsExpected, match="exactly 2 calls"):
        asked.expect(exactly=2)
    calls = driver.control.calls
    assert calls.expect(in_this_order=["ControllerGetNodeInfo", {"rpc": "NodeGetInfo"}])
    assert not calls.expect(in_this_order=["NodeGetInfo", "ControllerGetNodeInfo"])
    assert calls.clear() == 2
    assert driver.calls().list() == []
    with pytest.raises(LookupError, match="no <calls of NodeGetInfo>"):
        driver.calls("NodeGetInfo").last()


def test_calls_are_watched_from_the_moment_when_watching_begins(driver: Driver) -> None:
    with driver.control.calls.watch(rpc="Node*", timeout_seconds=PATIENCE_SECONDS) as watch:
        driver.csi.node.NodeGetInfo()
        arrived, ended = next(watch), next(watch)

    assert (arrived.code, ended.code) == ("RUNNING", "OK")
    assert arrived.sequence == ended.sequence


def test_a_scenario_is_loaded_exported_and_reset(driver: Driver) -> None:
    state = driver.control.state
    driver.cloud.attach("i-1", "vol-1")
    exported = state.export("later")
    driver.load("three-zones")
    assert state.server().scenario == "three-zones"
    assert state.scenario().name == "three-zones"

    state.load(yaml=exported.yaml)
    assert [disk.id for disk in driver.cloud.disks(instance="i-1")] == ["vol-1"]
    driver.cloud.attach("i-1", "vol-2")
    driver.fail("Probe", code="ABORTED")
    driver.reset("cloud")
    assert len(driver.cloud.attachments(instance="i-1")) == 1
    assert len(driver.control.faults.list()) == 1
    driver.load(SCENARIO)


def test_a_scenario_with_mistakes_changes_nothing(driver: Driver) -> None:
    with pytest.raises(ControlError, match="INVALID_ARGUMENT") as caught:
        driver.load("scenario: x\nclowd: {}")

    assert "2:1" in caught.value.message
    assert driver.control.state.server().scenario == "client"


def test_snapshots_are_kept_by_name(driver: Driver) -> None:
    state = driver.control.state
    driver.cloud.attach("i-1", "vol-1")
    state.snapshot("attached")
    driver.cloud.detach("i-1", "vol-1")

    assert "attached" in [snapshot.name for snapshot in state.snapshots()]
    state.restore("attached")
    assert len(driver.cloud.attachments(instance="i-1")) == 1
    state.delete_snapshot("attached")
    with pytest.raises(ControlError, match="NOT_FOUND"):
        state.restore("attached")


def test_the_driver_is_started_again_over_the_same_cloud(driver: Driver) -> None:
    driver.cloud.attach("i-1", "vol-1")

    driver.control.state.restart_driver()

    info = driver.csi.controller.ControllerGetNodeInfo(node_id="i-1")
    assert list(info.published_volume_ids) == ["vol-1"]


def test_the_clock_is_read_moved_stopped_and_started(driver: Driver) -> None:
    clock = driver.control.clock
    assert clock.stop().stopped
    before = clock.reading().seconds
    assert clock.advance(timedelta(minutes=1)).seconds == before + 60
    assert clock.reading().seconds == before + 60
    assert not clock.start().stopped
