"""Each method of the client asks one RPC, with what it was given; and no RPC is left out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import grpc
import pytest
from google.protobuf.json_format import MessageToDict

from mockdriver.client import CallFilter, ControlClient, FaultFields
from mockdriver.control.v1 import cloud_pb2, faults_pb2, journal_pb2
from tests.client.fake_control import METHODS, FakeControl

Use = Callable[[ControlClient], object]

USES: list[tuple[str, Use, dict[str, Any]]] = [
    ("GetCloud", lambda c: c.cloud.summary(), {}),
    ("ListZones", lambda c: c.cloud.zones(), {}),
    ("AddZone", lambda c: c.cloud.add_zone("z"), {"name": "z"}),
    ("RemoveZone", lambda c: c.cloud.remove_zone("z"), {"name": "z"}),
    (
        "RemoveZone",
        lambda c: c.cloud.remove_zone("z", force=True),
        {"name": "z", "force": True},
    ),
    ("ListInstanceTypes", lambda c: c.cloud.instance_types(), {}),
    ("GetInstanceType", lambda c: c.cloud.instance_type("t"), {"name": "t"}),
    (
        "AddInstanceType",
        lambda c: c.cloud.add_instance_type("t"),
        {"instance_type": {"name": "t"}},
    ),
    (
        "AddInstanceType",
        lambda c: c.cloud.add_instance_type(
            "t", slots=0, network_interfaces_share_slots=True, boot_disk_uses_slot=False
        ),
        {
            "instance_type": {
                "name": "t",
                "slots": "0",
                "network_interfaces_share_slots": True,
                "boot_disk_uses_slot": False,
            }
        },
    ),
    (
        "ChangeInstanceType",
        lambda c: c.cloud.change_instance_type("t", slots=8, boot_disk_uses_slot=False),
        {"name": "t", "slots": "8", "boot_disk_uses_slot": False},
    ),
    (
        "ChangeInstanceType",
        lambda c: c.cloud.change_instance_type(
            "t", no_slots=True, network_interfaces_share_slots=False
        ),
        {"name": "t", "no_slots": True, "network_interfaces_share_slots": False},
    ),
    (
        "RemoveInstanceType",
        lambda c: c.cloud.remove_instance_type("t", force=True),
        {"name": "t", "force": True},
    ),
    (
        "ListInstances",
        lambda c: c.cloud.instances("i-*", type="t", zone="z"),
        {"id": "i-*", "type": "t", "zone": "z"},
    ),
    (
        "ListInstances",
        lambda c: c.cloud.instance_page(page_size=5, page_token="p"),
        {"page_size": 5, "page_token": "p"},
    ),
    ("GetInstance", lambda c: c.cloud.instance("i"), {"id": "i"}),
    ("AddInstance", lambda c: c.cloud.add_instance("i"), {"id": "i"}),
    (
        "AddInstance",
        lambda c: c.cloud.add_instance("i", network_interfaces=0),
        {"id": "i", "network_interface_count": "0"},
    ),
    (
        "AddInstance",
        lambda c: c.cloud.add_instance(
            "i",
            type="t",
            zone="z",
            network_interfaces=["eni-1", "eni-2"],
            boot_disk="b",
            attached=["d-1"],
            published=["d-2", "d-3"],
            force=True,
        ),
        {
            "id": "i",
            "type": "t",
            "zone": "z",
            "network_interfaces": ["eni-1", "eni-2"],
            "boot_disk": "b",
            "attached": ["d-1"],
            "published": ["d-2", "d-3"],
            "force": True,
        },
    ),
    (
        "ChangeInstance",
        lambda c: c.cloud.change_instance("i", type="", zone="z", force=True),
        {"id": "i", "type": "", "zone": "z", "force": True},
    ),
    ("ChangeInstance", lambda c: c.cloud.change_instance("i"), {"id": "i"}),
    ("RemoveInstance", lambda c: c.cloud.remove_instance("i"), {"id": "i"}),
    ("GetNodeInfo", lambda c: c.cloud.node_info("i"), {"node_id": "i"}),
    ("ListNetworkInterfaces", lambda c: c.cloud.network_interfaces("i"), {"instance": "i"}),
    (
        "AddNetworkInterface",
        lambda c: c.cloud.add_network_interfaces("i", 3),
        {"instance": "i", "count": "3"},
    ),
    (
        "RemoveNetworkInterface",
        lambda c: c.cloud.remove_network_interface("i", "eni-1"),
        {"instance": "i", "id": "eni-1"},
    ),
    (
        "RemoveNetworkInterface",
        lambda c: c.cloud.remove_network_interfaces("i", 2),
        {"instance": "i", "count": "2"},
    ),
    (
        "ListDisks",
        lambda c: c.cloud.disks("d-?", zone="z", instance="i"),
        {"id": "d-?", "zone": "z", "instance": "i"},
    ),
    (
        "ListDisks",
        lambda c: c.cloud.disk_page(page_size=5, page_token="p"),
        {"page_size": 5, "page_token": "p"},
    ),
    ("GetDisk", lambda c: c.cloud.disk("d"), {"id": "d"}),
    (
        "AddDisk",
        lambda c: c.cloud.add_disk(
            "d", zone="z", size_gib=1, max_attachments=2, tags={"a": "b"}, force=True
        ),
        {
            "id": "d",
            "zone": "z",
            "size_gib": "1",
            "max_attachments": "2",
            "tags": {"a": "b"},
            "force": True,
        },
    ),
    (
        "ChangeDisk",
        lambda c: c.cloud.change_disk(
            "d",
            zone="z",
            size_gib=1,
            max_attachments=2,
            set_tags={"a": "b"},
            remove_tags=["c"],
            force=True,
        ),
        {
            "id": "d",
            "zone": "z",
            "size_gib": "1",
            "max_attachments": "2",
            "set_tags": {"a": "b"},
            "remove_tags": ["c"],
            "force": True,
        },
    ),
    (
        "RemoveDisk",
        lambda c: c.cloud.remove_disk("d", force=True),
        {"id": "d", "force": True},
    ),
    (
        "ListAttachments",
        lambda c: c.cloud.attachments(instance="i", disk="d"),
        {"instance": "i", "disk": "d"},
    ),
    (
        "GetAttachment",
        lambda c: c.cloud.attachment("i", "d"),
        {"instance": "i", "disk": "d"},
    ),
    ("Attach", lambda c: c.cloud.attach("i", "d"), {"instance": "i", "disk": "d"}),
    (
        "Attach",
        lambda c: c.cloud.attach("i", "d", wait=True, immediately=True, force=True, published=True),
        {
            "instance": "i",
            "disk": "d",
            "wait": True,
            "immediately": True,
            "force": True,
            "published": True,
        },
    ),
    (
        "Detach",
        lambda c: c.cloud.detach("i", "d", wait=True, immediately=True, force=True),
        {"instance": "i", "disk": "d", "wait": True, "immediately": True, "force": True},
    ),
    (
        "ChangeAttachment",
        lambda c: c.cloud.change_attachment(
            "i", "d", state="busy", set_tags={"a": "b"}, remove_tags=["c"]
        ),
        {
            "instance": "i",
            "disk": "d",
            "state": "busy",
            "set_tags": {"a": "b"},
            "remove_tags": ["c"],
        },
    ),
    (
        "Release",
        lambda c: c.cloud.release(instance="i", disk="d"),
        {"instance": "i", "disk": "d"},
    ),
    ("GetTransitions", lambda c: c.cloud.transitions(), {}),
    (
        "SetTransitions",
        lambda c: c.cloud.set_transitions(attach="held", detach="after 2s"),
        {"attach": "held", "detach": "after 2s"},
    ),
    ("ListApis", lambda c: c.cloud.apis(), {}),
    (
        "SetQuota",
        lambda c: c.cloud.set_quota(
            "attach", burst=1, per_second=0.5, max_ids=10, delay=timedelta(milliseconds=50)
        ),
        {
            "api": "attach",
            "quota": {"burst": "1", "per_second": 0.5, "max_ids": "10", "delay": "50ms"},
        },
    ),
    (
        "CreateFault",
        lambda c: c.faults.add(rpc="ControllerGetNodeInfo", code="UNAVAILABLE", times=2),
        {"fault": {"rpc": "ControllerGetNodeInfo", "code": "UNAVAILABLE", "times": "2"}},
    ),
    (
        "CreateFault",
        lambda c: c.faults.add(
            before="other",
            name="f",
            cloud_api="attach",
            node_id="i",
            request={"readonly": True, "volume_id": "pvc-*", "max_entries": 3},
            calls=3,
            times=1,
            probability=0.5,
            seed=7,
            when="after",
            code=grpc.StatusCode.ABORTED,
            message="m",
            details=[{"@type": "x"}],
            error="SlotsExhausted",
            delay="2s",
            hold="b",
            no_answer=True,
            reply={"max_volumes_per_node": 5, "published_volume_ids": ["a"]},
            exit=0,
            lifetime=timedelta(minutes=1),
            enabled=False,
        ),
        {
            "before": "other",
            "fault": {
                "name": "f",
                "cloud_api": "attach",
                "node_id": "i",
                "request": {"readonly": "true", "volume_id": "pvc-*", "max_entries": "3"},
                "calls": "3",
                "times": "1",
                "probability": 0.5,
                "seed": "7",
                "when": "after",
                "code": "ABORTED",
                "message": "m",
                "details": ['{"@type": "x"}'],
                "error": "SlotsExhausted",
                "delay": "2s",
                "hold": "b",
                "no_answer": True,
                "reply": {"max_volumes_per_node": "5", "published_volume_ids": '["a"]'},
                "exit": 0,
                "lifetime": "60000ms",
                "enabled": False,
            },
        },
    ),
    ("ListFaults", lambda c: c.faults.list(), {}),
    ("GetFault", lambda c: c.faults.get("f"), {"name": "f"}),
    (
        "UpdateFault",
        lambda c: c.faults.update(name="f", rpc="Probe", calls="every 2"),
        {"fault": {"name": "f", "rpc": "Probe", "calls": "every 2"}},
    ),
    ("EnableFault", lambda c: c.faults.enable("f"), {"name": "f", "enabled": True}),
    ("EnableFault", lambda c: c.faults.disable("f"), {"name": "f"}),
    ("DeleteFault", lambda c: c.faults.delete("f"), {"name": "f"}),
    ("ClearFaults", lambda c: c.faults.clear(), {}),
    (
        "ExplainFaults",
        lambda c: c.faults.explain("Probe", {"a": 1}, node_id="i"),
        {"rpc": "Probe", "request": '{"a": 1}', "node_id": "i"},
    ),
    (
        "ExplainFaults",
        lambda c: c.faults.explain(cloud_api="attach"),
        {"cloud_api": "attach"},
    ),
    ("ListBarriers", lambda c: c.faults.barriers(), {}),
    (
        "WaitForHeld",
        lambda c: c.faults.wait_for_held("b", 3, timeout_seconds=0.25),
        {"barrier": "b", "calls": "3", "timeout": "250ms"},
    ),
    (
        "ReleaseBarrier",
        lambda c: c.faults.release("b", 2),
        {"barrier": "b", "calls": "2"},
    ),
    (
        "ListCalls",
        lambda c: c.calls.list(
            limit=5,
            rpc="Node*",
            service="Node",
            node_id="i",
            code="!OK",
            request={"readonly": False},
            response={"ready": True},
            fault="f",
            after=7,
            message="m",
        ),
        {
            "limit": 5,
            "filter": {
                "rpc": "Node*",
                "service": "Node",
                "node_id": "i",
                "code": "!OK",
                "request": {"readonly": "false"},
                "response": {"ready": "true"},
                "fault": "f",
                "after": "7",
                "message": "m",
            },
        },
    ),
    (
        "CountCalls",
        lambda c: c.calls.count(code=grpc.StatusCode.NOT_FOUND),
        {"filter": {"code": "NOT_FOUND"}},
    ),
    (
        "ExpectCalls",
        lambda c: c.calls.expect(rpc="Probe", exactly=0),
        {"filter": {"rpc": "Probe"}, "exactly": "0"},
    ),
    (
        "ExpectCalls",
        lambda c: c.calls.expect(
            at_least=1,
            at_most=2,
            never=True,
            in_this_order=["Probe", {"rpc": "NodeGetInfo", "code": "OK"}],
        ),
        {
            "filter": {},
            "at_least": "1",
            "at_most": "2",
            "never": True,
            "in_this_order": [{"rpc": "Probe"}, {"rpc": "NodeGetInfo", "code": "OK"}],
        },
    ),
    (
        "WaitForCalls",
        lambda c: c.calls.wait(2, rpc="Probe", timeout_seconds=1.5, arrived=True),
        {"filter": {"rpc": "Probe"}, "count": "2", "timeout": "1500ms", "arrived": True},
    ),
    (
        "WatchCalls",
        lambda c: list(c.calls.watch(rpc="Probe", from_start=True)),
        {"filter": {"rpc": "Probe"}, "from_start": True},
    ),
    ("GetCall", lambda c: c.calls.get(3), {"sequence": "3"}),
    ("ClearCalls", lambda c: c.calls.clear(), {}),
    ("GetServer", lambda c: c.state.server(), {}),
    ("GetScenario", lambda c: c.state.scenario(), {}),
    ("LoadScenario", lambda c: c.state.load(name="three-zones"), {"name": "three-zones"}),
    ("LoadScenario", lambda c: c.state.load(yaml="scenario: x"), {"yaml": "scenario: x"}),
    ("ExportScenario", lambda c: c.state.export("x"), {"name": "x"}),
    ("Reset", lambda c: c.state.reset(), {}),
    (
        "Reset",
        lambda c: c.state.reset("faults", "journal"),
        {"parts": ["faults", "journal"]},
    ),
    ("SaveSnapshot", lambda c: c.state.snapshot("s"), {"name": "s"}),
    ("RestoreSnapshot", lambda c: c.state.restore("s"), {"name": "s"}),
    ("ListSnapshots", lambda c: c.state.snapshots(), {}),
    ("DeleteSnapshot", lambda c: c.state.delete_snapshot("s"), {"name": "s"}),
    ("RestartDriver", lambda c: c.state.restart_driver(), {}),
    ("GetClock", lambda c: c.clock.reading(), {}),
    ("AdvanceClock", lambda c: c.clock.advance("30s"), {"by": "30s"}),
    (
        "AdvanceClock",
        lambda c: c.clock.advance(timedelta(microseconds=1_500_250)),
        {"by": "1500.250ms"},
    ),
    ("StopClock", lambda c: c.clock.stop(), {}),
    ("StartClock", lambda c: c.clock.start(), {}),
]
"""What is called, and what the API is asked then, as JSON."""


@pytest.mark.parametrize(("rpc", "use", "request_as_json"), USES, ids=[use[0] for use in USES])
def test_a_method_asks_its_rpc_with_what_it_was_given(
    client: ControlClient,
    fake: FakeControl,
    rpc: str,
    use: Use,
    request_as_json: dict[str, Any],
) -> None:
    use(client)

    [(asked, request)] = fake.asked
    assert asked == rpc
    assert MessageToDict(request, preserving_proto_field_name=True) == request_as_json


def test_every_rpc_of_the_control_api_has_a_method() -> None:
    # One answers with the interface that it added, and is tested below with one.
    assert {rpc for rpc, _, _ in USES} == set(METHODS)


def test_one_network_interface_is_answered_as_one(client: ControlClient, fake: FakeControl) -> None:
    added = cloud_pb2.NetworkInterface(id="eni-1", instance="i")
    fake.answers["AddNetworkInterface"] = cloud_pb2.AddNetworkInterfaceResponse(
        network_interfaces=[added]
    )

    assert client.cloud.add_network_interface("i", "eni-1") == added
    assert fake.asked == [
        ("AddNetworkInterface", cloud_pb2.AddNetworkInterfaceRequest(instance="i", id="eni-1"))
    ]


def test_every_field_of_every_request_can_be_given() -> None:
    given = {rpc: set[str]() for rpc in METHODS}
    for rpc, _, request in USES:
        given[rpc] |= request.keys()
    missing = [
        f"{rpc}.{field.name}"
        for rpc, method in METHODS.items()
        for field in method.input_type.fields
        if field.name not in given[rpc]
    ]

    # Asked for by the test above, which needs an answer.
    assert missing == ["AddNetworkInterface.id"]


def test_a_fault_has_all_fields_of_its_message() -> None:
    fields = {field.name for field in faults_pb2.Fault.DESCRIPTOR.fields}

    assert set(FaultFields.__annotations__) == fields - {"matched", "acted"}


def test_a_filter_of_calls_has_all_fields_of_its_message() -> None:
    fields = {field.name for field in journal_pb2.CallFilter.DESCRIPTOR.fields}

    assert set(CallFilter.__annotations__) == fields
