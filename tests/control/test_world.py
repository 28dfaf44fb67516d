"""The whole of a mock is set back, kept, put back and loaded anew, in the midst of calls."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from csi_spec import csi_pb2
from mockdriver.server.compose import DriverOverrides
from tests.control.live_world import LiveWorld, live_world
from tests.requests import (
    CAPABILITY,
    answer,
    begin_publish,
    create,
    is_ready,
    publish,
    published_ids,
)
from tests.waiting import wait_until

NO_STAGING = """\
scenario: without staging
driver: {capabilities: {node: {STAGE_UNSTAGE_VOLUME: false}}}
cloud:
  instances: [{id: i-1, published: [pvc]}, {id: i-2}]
  disks: [{id: vol}]
"""


@pytest.fixture
def world(tmp_path: Path) -> Iterator[LiveWorld]:
    with live_world(tmp_path) as world:
        yield world


@pytest.fixture
def mounting(tmp_path: Path) -> Iterator[LiveWorld]:
    with live_world(tmp_path, NO_STAGING) as world:
        yield world


def code_of(call: Any) -> str:
    error = call.exception()
    return "OK" if error is None else str(error.code().name)


def mount(world: LiveWorld, path: Path, volume_id: str = "pvc", *, block: bool = False) -> None:
    capability = csi_pb2.VolumeCapability()
    capability.CopyFrom(CAPABILITY)
    if block:
        capability.block.SetInParent()
    answer(
        world.csi.node.NodePublishVolume,
        csi_pb2.NodePublishVolumeRequest(
            volume_id=volume_id, target_path=str(path), volume_capability=capability
        ),
    )


def unmount(world: LiveWorld, path: Path, volume_id: str = "pvc") -> None:
    answer(
        world.csi.node.NodeUnpublishVolume,
        csi_pb2.NodeUnpublishVolumeRequest(volume_id=volume_id, target_path=str(path)),
    )


# -------------------------------------------------------------------------------------- reset


def test_a_reset_goes_back_to_the_loaded_scenario(world: LiveWorld) -> None:
    world.call("Cloud.RemoveInstance", id="i-1")
    world.call("Cloud.AddInstance", id="i-9")
    world.call("Cloud.SetTransitions", attach="held")
    world.call("Faults.CreateFault", fault={"name": "f", "rpc": "Probe", "code": "INTERNAL"})
    world.call("Clock.StopClock")
    answer(world.csi.controller.CreateVolume, create("pvc-1"))
    world.call("State.Reset")
    assert [item.id for item in world.call("Cloud.ListInstances").instances] == [
        "i-1", "i-2", "i-3",
    ]  # fmt: skip
    assert world.call("Cloud.GetTransitions").attach == "immediately"
    assert list(world.call("Faults.ListFaults").faults) == []
    assert not world.call("Clock.GetClock").stopped
    assert world.call("Journal.CountCalls").count == 0
    assert published_ids(world.csi, "i-1") == ["boot-1", "manual", "pvc"]


@pytest.mark.parametrize("part", ["cloud", "driver", "faults", "journal", "clock"])
def test_a_reset_can_be_of_one_part(world: LiveWorld, part: str) -> None:
    world.call("Cloud.RemoveInstance", id="i-2")
    world.call("Faults.CreateFault", fault={"name": "f", "rpc": "GetCapacity", "code": "INTERNAL"})
    is_ready(world.csi)
    world.call("Clock.StopClock")
    driver = world.server.world.driver
    world.call("State.Reset", parts=[part])
    assert (world.call("Cloud.GetCloud").instances == 3) == (part == "cloud")
    assert (len(world.call("Faults.ListFaults").faults) == 0) == (part == "faults")
    assert (world.call("Journal.CountCalls").count == 0) == (part == "journal")
    assert (not world.call("Clock.GetClock").stopped) == (part == "clock")
    assert (world.server.world.driver is not driver) == (part == "driver")


def test_the_faults_of_the_scenario_are_there_again(tmp_path: Path) -> None:
    scenario = "scenario: x\nfaults: [{name: f, rpc: GetPluginInfo, code: INTERNAL, times: 1}]\n"
    with live_world(tmp_path, scenario, node_id=None) as world:
        request = csi_pb2.GetPluginInfoRequest()
        for _ in range(2):
            with pytest.raises(grpc.RpcError):
                answer(world.csi.identity.GetPluginInfo, request)
            answer(world.csi.identity.GetPluginInfo, request)
            world.call("Faults.ClearFaults")
            world.call("State.Reset", parts=["faults"])
        assert world.call("Faults.GetFault", name="f").acted == 0


def test_the_clock_never_goes_back(world: LiveWorld) -> None:
    before = world.call("Clock.AdvanceClock", by="1h").seconds
    world.call("State.Reset")
    world.call("State.Reset", parts=["clock"])
    assert world.call("Clock.GetClock").seconds >= before


def test_an_unknown_part_is_refused_and_nothing_is_reset(world: LiveWorld) -> None:
    world.call("Cloud.RemoveInstance", id="i-2")
    code, message, name = world.refused("State.Reset", parts=["cloud", "clok"])
    assert (code, name) == ("INVALID_ARGUMENT", "InvalidRequest")
    assert message.startswith('InvalidRequest: parts[1]: unknown part "clok", allowed: cloud, ')
    assert 'did you mean "clock"?' in message
    assert world.call("Cloud.GetCloud").instances == 2


# ----------------------------------------------------------------------------- calls in flight


def test_a_reset_ends_the_calls_that_wait(world: LiveWorld) -> None:
    world.call("Cloud.SetTransitions", attach="held")
    calls = [begin_publish(world.csi, "free", "i-2")]
    world.wait_until_in_flight("ControllerPublishVolume")
    world.call("State.Reset")
    assert [code_of(call) for call in calls] == ["UNAVAILABLE"]
    assert "try again" in calls[0].exception().details()
    assert published_ids(world.csi, "i-2") == []


def test_a_call_that_waits_for_an_attachment_that_a_reset_removes_is_aborted(
    world: LiveWorld,
) -> None:
    world.call("Cloud.SetTransitions", attach="held")
    call = begin_publish(world.csi, "free", "i-2")
    world.wait_until_in_flight("ControllerPublishVolume")
    world.call("State.Reset", parts=["cloud"])
    assert code_of(call) == "ABORTED"


def test_a_call_that_waits_for_the_end_of_one_that_a_reset_puts_back_is_told(
    world: LiveWorld,
) -> None:
    world.call("Cloud.SetTransitions", detach="held")
    method: Any = world.csi.controller.ControllerUnpublishVolume
    call = method.future(
        csi_pb2.ControllerUnpublishVolumeRequest(volume_id="pvc", node_id="i-1"), timeout=60
    )
    world.wait_until_in_flight("ControllerUnpublishVolume")
    world.call("State.Reset", parts=["cloud"])
    assert code_of(call) == "ABORTED"
    assert published_ids(world.csi, "i-1") == ["boot-1", "manual", "pvc"]


def test_calls_held_at_a_barrier_do_nothing_to_the_state_after(world: LiveWorld) -> None:
    fault = {"name": "f", "rpc": "ControllerPublishVolume", "hold": "gate"}
    world.call("Faults.CreateFault", fault=fault)
    call = begin_publish(world.csi, "free", "i-2")
    world.call("Faults.WaitForHeld", barrier="gate")
    world.call("State.Reset")
    assert code_of(call) == "UNAVAILABLE"
    assert published_ids(world.csi, "i-2") == []
    assert [entry.rpc for entry in world.entries()] == ["ControllerGetNodeInfo"]


def test_an_operators_wait_ends_with_the_state(world: LiveWorld) -> None:
    world.call("Cloud.SetTransitions", attach="held", detach="held")
    attaching = world.begin("Cloud.Attach", instance="i-2", disk="new", wait=True)
    detaching = world.begin("Cloud.Detach", instance="i-1", disk="pvc", wait=True)

    def both_are_under_way() -> bool:
        found = world.call("Cloud.ListAttachments").attachments
        return len([item for item in found if item.state != "attached"]) == 2

    wait_until(both_are_under_way, "both transitions")
    world.call("State.Reset", parts=["cloud"])
    assert code_of(attaching) == "ABORTED"
    answered = detaching.result().attachment
    assert answered.state == "attached"


# ------------------------------------------------------------------------------------- driver


def test_a_restarted_driver_serves_on_over_the_same_cloud(world: LiveWorld) -> None:
    volume = answer(world.csi.controller.CreateVolume, create("pvc-1")).volume
    world.call("State.RestartDriver")
    assert answer(world.csi.controller.CreateVolume, create("pvc-1")).volume == volume
    answer(world.csi.controller.ControllerPublishVolume, publish(volume.volume_id, "i-2"))


def test_calls_in_flight_of_the_old_driver_end_with_unavailable(world: LiveWorld) -> None:
    world.call("Cloud.SetTransitions", attach="held")
    calls = [begin_publish(world.csi, f"d-{n}", "i-3") for n in range(5)]
    for n in range(5):
        world.call("Cloud.AddDisk", id=f"e-{n}", zone="zone-b")
    calls += [begin_publish(world.csi, f"e-{n}", "i-3") for n in range(5)]
    world.wait_until_in_flight("ControllerPublishVolume", 5)
    world.call("State.RestartDriver")
    assert sorted(code_of(call) for call in calls) == ["NOT_FOUND"] * 5 + ["UNAVAILABLE"] * 5
    # The cloud goes on with what was begun, and a repeat of a call is no second one at once.
    again = begin_publish(world.csi, "e-0", "i-3")
    world.wait_until_in_flight("ControllerPublishVolume")
    assert world.call("Cloud.Release").released == 5
    assert code_of(again) == "OK"


def test_a_call_that_waits_for_nothing_is_answered_while_the_driver_restarts(
    world: LiveWorld,
) -> None:
    for _ in range(20):
        restart = world.begin("State.RestartDriver")
        method: Any = world.csi.identity.Probe
        code = code_of(method.future(csi_pb2.ProbeRequest(), timeout=60))
        assert code in ("OK", "UNAVAILABLE")
        restart.result()
        assert is_ready(world.csi)


# ---------------------------------------------------------------------------------- snapshots


def test_a_snapshot_is_put_back_whole(world: LiveWorld) -> None:
    world.call("Faults.CreateFault", fault={"name": "f", "rpc": "GetCapacity", "code": "INTERNAL"})
    saved = world.call("State.SaveSnapshot", name="before")
    answer(world.csi.controller.ControllerPublishVolume, publish("free", "i-2"))
    world.call("Cloud.RemoveInstance", id="i-1")
    world.call("Faults.ClearFaults")
    restored = world.call("State.RestoreSnapshot", name="before")
    assert restored == saved
    assert published_ids(world.csi, "i-1") == ["boot-1", "manual", "pvc"]
    assert published_ids(world.csi, "i-2") == []
    assert [fault.name for fault in world.call("Faults.ListFaults").faults] == ["f"]
    assert world.call("Journal.CountCalls").count == 2


def test_snapshots_have_names_and_a_new_one_replaces_the_old(world: LiveWorld) -> None:
    world.call("State.SaveSnapshot", name="a")
    world.call("State.SaveSnapshot", name="b")
    world.call("Cloud.RemoveInstance", id="i-1")
    world.call("State.SaveSnapshot", name="a")
    listed = world.call("State.ListSnapshots").snapshots
    assert [item.name for item in listed] == ["b", "a"]
    assert listed[0].taken.ToNanoseconds() <= listed[1].taken.ToNanoseconds()
    world.call("State.RestoreSnapshot", name="b")
    assert world.call("Cloud.GetCloud").instances == 3
    world.call("State.RestoreSnapshot", name="a")
    assert world.call("Cloud.GetCloud").instances == 2
    world.call("State.DeleteSnapshot", name="a")
    for rpc in ("State.RestoreSnapshot", "State.DeleteSnapshot"):
        assert world.refused(rpc, name="a") == (
            "NOT_FOUND",
            "SnapshotNotFound: no snapshot has the name 'a'",
            "SnapshotNotFound",
        )


def test_a_transition_goes_on_for_as_long_as_it_had(world: LiveWorld) -> None:
    world.call("Clock.StopClock")
    world.call("Cloud.SetTransitions", detach="after 10s")
    world.call("Cloud.Detach", instance="i-1", disk="manual")
    world.call("Clock.AdvanceClock", by="4s")
    world.call("State.SaveSnapshot", name="a")
    world.call("Clock.AdvanceClock", by="1h")
    world.call("State.RestoreSnapshot", name="a")
    left = world.call("Cloud.GetAttachment", instance="i-1", disk="manual")
    assert (left.state, left.waits_for) == ("detaching", "6s")


# -------------------------------------------------------------------------------------- mounts


def test_a_reset_leaves_no_mount_and_no_folder_behind(mounting: LiveWorld, tmp_path: Path) -> None:
    target = tmp_path / "target"
    mount(mounting, target)
    (target / "data").write_text("x")
    mounting.call("State.Reset")
    assert not target.exists()
    mount(mounting, target)  # nothing is in the way of the same again
    assert target.is_dir()


def test_a_restore_unmounts_what_is_new_and_mounts_what_has_gone(
    mounting: LiveWorld, tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    mount(mounting, old)
    mounting.call("State.SaveSnapshot", name="a")
    unmount(mounting, old)
    answer(mounting.csi.controller.ControllerPublishVolume, publish("vol", "i-1"))
    mount(mounting, new, "vol")
    mounting.call("State.RestoreSnapshot", name="a")
    assert (old.is_dir(), new.exists()) == (True, False)
    unmount(mounting, old)
    assert not old.exists()


def test_what_cannot_be_mounted_again_is_not_mounted(mounting: LiveWorld, tmp_path: Path) -> None:
    folder = tmp_path / "pod"
    folder.mkdir()
    mount(mounting, folder / "target")
    mounting.call("State.SaveSnapshot", name="a")
    unmount(mounting, folder / "target")
    folder.rmdir()
    mounting.call("State.RestoreSnapshot", name="a")
    folder.mkdir()
    mount(mounting, folder / "target", block=True)  # no record of the other use is in the way


def test_a_mount_survives_a_restart_of_the_driver(mounting: LiveWorld, tmp_path: Path) -> None:
    mount(mounting, tmp_path / "target")
    mounting.call("State.RestartDriver")
    assert (tmp_path / "target").is_dir()
    stats = answer(
        mounting.csi.node.NodeGetVolumeStats,
        csi_pb2.NodeGetVolumeStatsRequest(volume_id="pvc", volume_path=str(tmp_path / "target")),
    )
    assert stats.usage


def test_a_machine_that_goes_takes_its_mounts_with_it(mounting: LiveWorld, tmp_path: Path) -> None:
    mount(mounting, tmp_path / "target")
    mounting.call("Cloud.RemoveInstance", id="i-1")
    assert not (tmp_path / "target").exists()


# ------------------------------------------------------------------------------------ scenarios


def test_a_scenario_takes_the_place_of_everything(world: LiveWorld) -> None:
    world.call("State.SaveSnapshot", name="a")
    is_ready(world.csi)
    world.call("Clock.StopClock")
    text = "scenario: other\ncloud: {instances: [{id: n-1, published: 2}]}\n"
    loaded = world.call("State.LoadScenario", yaml=text)
    assert (loaded.name, list(loaded.warnings)) == ("other", [])
    scenario = world.call("State.GetScenario")
    assert (scenario.name, scenario.yaml) == ("other", text)
    assert published_ids(world.csi, "n-1") == ["n-1-published-1", "n-1-published-2"]
    assert list(world.call("State.ListSnapshots").snapshots) == []
    assert not world.call("Clock.GetClock").stopped
    assert world.call("Journal.CountCalls").count == 1
    world.call("Cloud.RemoveInstance", id="n-1")
    world.call("State.Reset")
    assert world.call("Cloud.GetCloud").instances == 1


def test_the_driver_follows_the_scenario_and_so_does_its_node(world: LiveWorld) -> None:
    request = csi_pb2.NodeGetInfoRequest()
    assert answer(world.csi.node.NodeGetInfo, request).node_id == "i-1"
    world.call(
        "State.LoadScenario",
        yaml="scenario: other\n"
        "driver: {name: other.example.com, capabilities: {controller: {GET_CAPACITY: false}}}\n"
        "cloud: {instances: [{id: n-1}]}\n",
    )
    info = answer(world.csi.identity.GetPluginInfo, csi_pb2.GetPluginInfoRequest())
    assert info.name == "other.example.com"
    assert answer(world.csi.node.NodeGetInfo, request).node_id == "n-1"
    with pytest.raises(grpc.RpcError) as refusal:
        answer(world.csi.controller.GetCapacity, csi_pb2.GetCapacityRequest())
    assert refusal.value.code() is grpc.StatusCode.UNIMPLEMENTED
    server = world.call("State.GetServer")
    assert (server.driver_name, server.scenario, server.node_id) == (
        "other.example.com", "other", "n-1",
    )  # fmt: skip
    assert "controller.GET_CAPACITY" not in server.capabilities


def test_the_command_line_keeps_beating_the_scenario(tmp_path: Path) -> None:
    overrides = DriverOverrides(name="mine.example.com")
    with live_world(tmp_path, follow=False, overrides=overrides) as world:
        loaded = world.call(
            "State.LoadScenario",
            yaml="scenario: other\ndriver: {name: other}\ncloud: {instances: [{id: n-1}]}\n",
        )
        assert world.call("State.GetServer").driver_name == "mine.example.com"
        with pytest.raises(grpc.RpcError) as refusal:
            answer(world.csi.node.NodeGetInfo, csi_pb2.NodeGetInfoRequest())
        assert refusal.value.code() is grpc.StatusCode.NOT_FOUND
        assert loaded.name == "other"
        assert list(loaded.warnings) == [
            "the scenario has no instance 'i-1', whose Node service is served"
        ]


def test_a_shipped_scenario_is_loaded_by_its_name(world: LiveWorld) -> None:
    assert world.call("State.LoadScenario", name="three-zones").name == "three-zones"
    assert "scenario: three-zones" in world.call("State.GetScenario").yaml


@pytest.mark.parametrize(
    ("given", "name", "problem"),
    [
        ({}, "InvalidRequest", "name: neither is given, exactly one of name and yaml is needed"),
        (
            {"name": "a", "yaml": "b"},
            "InvalidRequest",
            "name: both are given, exactly one of name and yaml is needed",
        ),
        ({"name": "/etc/passwd"}, "InvalidRequest", 'name: unknown shipped scenario "/etc/passwd"'),
        ({"name": "../scenarios/three-zones.yaml"}, "InvalidRequest", "name: unknown shipped"),
        ({"name": "three-zone"}, "InvalidRequest", 'did you mean "three-zones"?'),
        ({"yaml": "a: 1"}, "ScenarioRefused", "scenario:1:1: scenario: this key is missing"),
        ({"yaml": "scenario: x\ncloud: 7"}, "ScenarioRefused", "scenario:2:8: cloud: 7 is not"),
        ({"yaml": "{" * 1000}, "ScenarioRefused", "scenario:1:"),
        ({"yaml": "a" * 2_000_000}, "ScenarioRefused", "has more than 1048576 bytes"),
    ],
)
def test_a_scenario_with_mistakes_changes_nothing(
    world: LiveWorld, given: dict[str, Any], name: str, problem: str
) -> None:
    code, message, error = world.refused("State.LoadScenario", **given)
    assert (code, error) == ("INVALID_ARGUMENT", name)
    assert problem in message
    assert world.call("State.GetScenario").name == "small"
    assert published_ids(world.csi, "i-1") == ["boot-1", "manual", "pvc"]


def test_a_call_that_waits_is_ended_by_a_new_scenario(world: LiveWorld) -> None:
    world.call("Cloud.SetTransitions", attach="held")
    call = begin_publish(world.csi, "free", "i-2")
    world.wait_until_in_flight("ControllerPublishVolume")
    world.call("State.LoadScenario", name="three-zones")
    assert code_of(call) == "UNAVAILABLE"


# --------------------------------------------------------------------------------------- export


def test_an_exported_state_is_loaded_again_and_equals(world: LiveWorld, tmp_path: Path) -> None:
    answer(world.csi.controller.CreateVolume, create('pvc "1"\n'))
    answer(world.csi.controller.ControllerPublishVolume, publish("free", "i-2"))
    world.call("Cloud.SetTransitions", attach="held", detach="after 2s")
    world.call("Cloud.Attach", instance="i-3", disk="slow")
    world.call("Cloud.SetQuota", api="attach", quota={"burst": 9, "per_second": 0.25})
    world.call(
        "Faults.CreateFault",
        fault={"name": "f", "rpc": "Probe", "code": "INTERNAL", "times": 3, "lifetime": "1h"},
    )
    exported = world.call("State.ExportScenario", name="again")
    assert exported.name == "again"
    world.call("State.LoadScenario", yaml=exported.yaml)
    second = world.call("State.ExportScenario", name="again")
    first_lines = [line for line in exported.yaml.splitlines() if "lifetime" not in line]
    assert (
        first_lines[1:] == [line for line in second.yaml.splitlines() if "lifetime" not in line][1:]
    )
    again = answer(world.csi.controller.CreateVolume, create('pvc "1"\n')).volume
    assert again.volume_id == "vol-00000001"
    assert world.call("Cloud.GetAttachment", instance="i-3", disk="slow").waits_for == "held"


def test_an_export_says_what_it_cannot_keep(mounting: LiveWorld, tmp_path: Path) -> None:
    mount(mounting, tmp_path / "target")
    mounting.call("Faults.CreateFault", fault={"name": "f", "rpc": "Probe", "code": "INTERNAL"})
    with pytest.raises(grpc.RpcError):
        is_ready(mounting.csi)
    comments = [
        line
        for line in mounting.call("State.ExportScenario").yaml.splitlines()
        if line.startswith("#")
    ]
    assert comments[-2:] == [
        "# Not kept: that fault f has matched 1 calls and acted on 1.",
        "# Not kept: 1 volumes that are staged or published on nodes.",
    ]


def test_a_state_that_no_file_can_say_is_refused(world: LiveWorld) -> None:
    long_id = "i" * 256
    world.call("Cloud.AddInstance", id=long_id, network_interface_count=2)
    world.call("Cloud.RemoveNetworkInterface", instance=long_id, id=f"{long_id}-eni-1")
    code, message, name = world.refused("State.ExportScenario")
    assert (code, name) == ("FAILED_PRECONDITION", "StateNotSayable")
    assert "network_interfaces[0]" in message


# ---------------------------------------------------------------------------------------- clock


def test_a_stopped_clock_keeps_waits_waiting_until_it_is_moved(world: LiveWorld) -> None:
    world.call("Clock.StopClock")
    world.call("Cloud.SetTransitions", attach="after 1h")
    call = begin_publish(world.csi, "free", "i-2")
    world.wait_until_in_flight("ControllerPublishVolume")
    reading = world.call("Clock.AdvanceClock", by="59m")
    assert reading.stopped
    assert world.call("Cloud.GetAttachment", instance="i-2", disk="free").waits_for == "60s"
    world.call("Clock.AdvanceClock", by="1m")
    assert code_of(call) == "OK"


def test_a_clock_that_starts_again_goes_on_from_where_it_stood(world: LiveWorld) -> None:
    stopped = world.call("Clock.StopClock")
    assert world.call("Clock.GetClock") == stopped
    started = world.call("Clock.StartClock")
    assert not started.stopped
    assert started.seconds >= stopped.seconds
    assert started.now.ToNanoseconds() >= stopped.now.ToNanoseconds()


def test_a_duration_that_is_none_is_refused(world: LiveWorld) -> None:
    for by in ("", "1", "-1s", "9000h", "x" * 10_000):
        code, message, name = world.refused("Clock.AdvanceClock", by=by)
        assert (code, name) == ("INVALID_ARGUMENT", "InvalidRequest")
        assert message.startswith("InvalidRequest: by: ")
        assert len(message) < 400
