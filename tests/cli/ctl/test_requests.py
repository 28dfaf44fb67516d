"""Each command asks the control API what its words say; and no RPC is without a command."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from mockdriver.control.v1 import cloud_pb2, faults_pb2
from tests.cli.ctl.running import ctl
from tests.client.fake_control import METHODS, FakeControl

USES: list[tuple[str, str, dict[str, Any]]] = [
    ("cloud", "GetCloud", {}),
    ("zones", "ListZones", {}),
    ("zones list", "ListZones", {}),
    ("zones add z", "AddZone", {"name": "z"}),
    ("zones remove z", "RemoveZone", {"name": "z"}),
    ("zones remove z --force", "RemoveZone", {"name": "z", "force": True}),
    ("types", "ListInstanceTypes", {}),
    ("types show t", "GetInstanceType", {"name": "t"}),
    ("type t", "GetInstanceType", {"name": "t"}),
    ("types add t", "AddInstanceType", {"instance_type": {"name": "t"}}),
    (
        "types add t --slots 0 --interfaces-share-slots --no-boot-disk-uses-slot",
        "AddInstanceType",
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
        "types change t --slots 8 --no-interfaces-share-slots --boot-disk-uses-slot",
        "ChangeInstanceType",
        {
            "name": "t",
            "slots": "8",
            "network_interfaces_share_slots": False,
            "boot_disk_uses_slot": True,
        },
    ),
    ("types change t --no-slots", "ChangeInstanceType", {"name": "t", "no_slots": True}),
    ("types remove t --force", "RemoveInstanceType", {"name": "t", "force": True}),
    ("instances", "ListInstances", {}),
    ("instances --type t --zone z", "ListInstances", {"type": "t", "zone": "z"}),
    ("instances 'i-*'", "ListInstances", {"id": "i-*"}),
    ("instances list add", "ListInstances", {"id": "add"}),
    ("instances show i", "GetInstance", {"id": "i"}),
    ("instances get i", "GetInstance", {"id": "i"}),
    ("instance i", "GetInstance", {"id": "i"}),
    ("instances add i", "AddInstance", {"id": "i"}),
    ("instance add i", "AddInstance", {"id": "i"}),
    (
        (
            "instances create i --type t --zone z --interfaces 0 --boot-disk b --attached a1 "
            "--attached a2 --published p --force"
        ),
        "AddInstance",
        {
            "id": "i",
            "type": "t",
            "zone": "z",
            "network_interface_count": "0",
            "boot_disk": "b",
            "attached": ["a1", "a2"],
            "published": ["p"],
            "force": True,
        },
    ),
    (
        "instances add i --interface e1 --interface e2",
        "AddInstance",
        {"id": "i", "network_interfaces": ["e1", "e2"]},
    ),
    (
        "instances change i --type '' --zone z --force",
        "ChangeInstance",
        {"id": "i", "type": "", "zone": "z", "force": True},
    ),
    ("instances remove i", "RemoveInstance", {"id": "i"}),
    ("instances delete i", "RemoveInstance", {"id": "i"}),
    ("node-info i", "GetNodeInfo", {"node_id": "i"}),
    ("interfaces", "ListNetworkInterfaces", {}),
    ("interfaces i", "ListNetworkInterfaces", {"instance": "i"}),
    ("interfaces add i e", "AddNetworkInterface", {"instance": "i", "id": "e"}),
    ("interfaces add i", "AddNetworkInterface", {"instance": "i", "count": "1"}),
    ("interfaces add i --count 3", "AddNetworkInterface", {"instance": "i", "count": "3"}),
    ("interfaces remove i e", "RemoveNetworkInterface", {"instance": "i", "id": "e"}),
    ("interfaces remove i", "RemoveNetworkInterface", {"instance": "i", "count": "1"}),
    ("interfaces remove i --count 2", "RemoveNetworkInterface", {"instance": "i", "count": "2"}),
    ("disks", "ListDisks", {}),
    ("disks d --zone z --instance i", "ListDisks", {"id": "d", "zone": "z", "instance": "i"}),
    ("disk d", "GetDisk", {"id": "d"}),
    ("disks add d", "AddDisk", {"id": "d"}),
    (
        "disks add d --zone z --size-gib 5 --max-attachments 2 --tag a=b --tag c=d=e --force",
        "AddDisk",
        {
            "id": "d",
            "zone": "z",
            "size_gib": "5",
            "max_attachments": "2",
            "tags": {"a": "b", "c": "d=e"},
            "force": True,
        },
    ),
    (
        "disks change d --zone z --size-gib 5 --max-attachments 2 --tag a=b --remove-tag c --force",
        "ChangeDisk",
        {
            "id": "d",
            "zone": "z",
            "size_gib": "5",
            "max_attachments": "2",
            "set_tags": {"a": "b"},
            "remove_tags": ["c"],
            "force": True,
        },
    ),
    ("disks rm d --force", "RemoveDisk", {"id": "d", "force": True}),
    ("attachments", "ListAttachments", {}),
    (
        "attachments --instance i --disk d",
        "ListAttachments",
        {"instance": "i", "disk": "d"},
    ),
    ("attachment i d", "GetAttachment", {"instance": "i", "disk": "d"}),
    (
        "attachments change i d --state busy --tag a=b --remove-tag c",
        "ChangeAttachment",
        {
            "instance": "i",
            "disk": "d",
            "state": "busy",
            "set_tags": {"a": "b"},
            "remove_tags": ["c"],
        },
    ),
    ("attach i d", "Attach", {"instance": "i", "disk": "d"}),
    (
        "attach i d --wait --immediately --force --published",
        "Attach",
        {
            "instance": "i",
            "disk": "d",
            "wait": True,
            "immediately": True,
            "force": True,
            "published": True,
        },
    ),
    ("detach i d", "Detach", {"instance": "i", "disk": "d"}),
    (
        "detach i d --wait --immediately --force",
        "Detach",
        {"instance": "i", "disk": "d", "wait": True, "immediately": True, "force": True},
    ),
    ("release", "Release", {}),
    ("release --instance i --disk d", "Release", {"instance": "i", "disk": "d"}),
    ("release --barrier b", "ReleaseBarrier", {"barrier": "b"}),
    ("release --barrier b --calls 2", "ReleaseBarrier", {"barrier": "b", "calls": "2"}),
    ("transitions", "GetTransitions", {}),
    (
        "transitions set --attach 'after 2s' --detach held",
        "SetTransitions",
        {"attach": "after 2s", "detach": "held"},
    ),
    ("quotas", "ListApis", {}),
    ("quotas set attach", "SetQuota", {"api": "attach", "quota": {}}),
    (
        "quotas set attach --burst 0 --per-second 0.5 --max-ids 3 --delay 50ms",
        "SetQuota",
        {
            "api": "attach",
            "quota": {"burst": "0", "per_second": 0.5, "max_ids": "3", "delay": "50ms"},
        },
    ),
    ("faults", "ListFaults", {}),
    ("faults show f", "GetFault", {"name": "f"}),
    ("fault f", "GetFault", {"name": "f"}),
    (
        "faults add --rpc ControllerGetNodeInfo --code UNAVAILABLE --times 2",
        "CreateFault",
        {"fault": {"rpc": "ControllerGetNodeInfo", "code": "UNAVAILABLE", "times": "2"}},
    ),
    (
        (
            "faults add --name f --rpc CreateVolume --node i --request name=a --request b.c=d=e "
            "--calls 'first 2' --times 3 --probability 0.5 --seed 7 --when after --lifetime 1m "
            '--code ABORTED --message m --detail \'{"@type": "x"}\' --delay 2s --hold b --before g'
        ),
        "CreateFault",
        {
            "before": "g",
            "fault": {
                "name": "f",
                "rpc": "CreateVolume",
                "node_id": "i",
                "request": {"name": "a", "b.c": "d=e"},
                "calls": "first 2",
                "times": "3",
                "probability": 0.5,
                "seed": "7",
                "when": "after",
                "lifetime": "1m",
                "code": "ABORTED",
                "message": "m",
                "details": ['{"@type": "x"}'],
                "delay": "2s",
                "hold": "b",
            },
        },
    ),
    (
        "faults add --cloud-api attach --error Throttled --disabled",
        "CreateFault",
        {"fault": {"cloud_api": "attach", "error": "Throttled", "enabled": False}},
    ),
    (
        (
            "faults add --rpc NodeGetInfo --reply max_volumes_per_node=3 --reply node_id=i-9 "
            "--reply accessible_topology='{\"segments\": {}}'"
        ),
        "CreateFault",
        {
            "fault": {
                "rpc": "NodeGetInfo",
                "reply": {
                    "max_volumes_per_node": "3",
                    "node_id": '"i-9"',
                    "accessible_topology": '{"segments": {}}',
                },
            }
        },
    ),
    (
        "faults add --rpc Probe --no-answer",
        "CreateFault",
        {"fault": {"rpc": "Probe", "no_answer": True}},
    ),
    ("faults add --rpc Probe --exit 0", "CreateFault", {"fault": {"rpc": "Probe", "exit": 0}}),
    ("faults enable f", "EnableFault", {"name": "f", "enabled": True}),
    ("faults disable f", "EnableFault", {"name": "f"}),
    ("faults remove f", "DeleteFault", {"name": "f"}),
    ("faults delete f", "DeleteFault", {"name": "f"}),
    ("faults clear", "ClearFaults", {}),
    (
        "faults explain --rpc Probe --request '{}' --node i",
        "ExplainFaults",
        {"rpc": "Probe", "request": "{}", "node_id": "i"},
    ),
    ("faults explain --cloud-api attach", "ExplainFaults", {"cloud_api": "attach"}),
    (
        "hold b --rpc ControllerGetNodeInfo --node i --when after --name n --before g",
        "CreateFault",
        {
            "before": "g",
            "fault": {
                "name": "n",
                "rpc": "ControllerGetNodeInfo",
                "node_id": "i",
                "when": "after",
                "hold": "b",
            },
        },
    ),
    ("barriers", "ListBarriers", {}),
    (
        "barriers wait b --count 2 --timeout 3s",
        "WaitForHeld",
        {"barrier": "b", "calls": "2", "timeout": "3000ms"},
    ),
    ("barriers release", "ReleaseBarrier", {}),
    ("barriers release b --count 2", "ReleaseBarrier", {"barrier": "b", "calls": "2"}),
    ("calls", "ListCalls", {"filter": {}}),
    (
        (
            "calls --rpc 'Node*' --service Node --node i --code '!OK' --request a.b=c "
            "--response d=e --fault f --after 3 --message m --limit 5"
        ),
        "ListCalls",
        {
            "limit": 5,
            "filter": {
                "rpc": "Node*",
                "service": "Node",
                "node_id": "i",
                "code": "!OK",
                "request": {"a.b": "c"},
                "response": {"d": "e"},
                "fault": "f",
                "after": "3",
                "message": "m",
            },
        },
    ),
    ("calls --count --rpc Probe", "CountCalls", {"filter": {"rpc": "Probe"}}),
    ("calls --follow --rpc Probe", "WatchCalls", {"filter": {"rpc": "Probe"}, "from_start": True}),
    ("calls -f --new", "WatchCalls", {"filter": {}}),
    ("calls show 3", "GetCall", {"sequence": "3"}),
    ("call 3", "GetCall", {"sequence": "3"}),
    ("calls clear", "ClearCalls", {}),
    (
        "wait --rpc Probe --count 2 --arrived --timeout 1m",
        "WaitForCalls",
        {"filter": {"rpc": "Probe"}, "count": "2", "arrived": True, "timeout": "60000ms"},
    ),
    ("wait", "WaitForCalls", {"filter": {}, "count": "1", "timeout": "10000ms"}),
    ("expect --rpc Probe --exactly 0", "ExpectCalls", {"filter": {"rpc": "Probe"}, "exactly": "0"}),
    ("expect --at-least 1", "ExpectCalls", {"filter": {}, "at_least": "1"}),
    ("expect --at-most 1", "ExpectCalls", {"filter": {}, "at_most": "1"}),
    ("expect --never", "ExpectCalls", {"filter": {}, "never": True}),
    (
        (
            "expect --in-order NodeGetInfo --in-order 'ControllerPublishVolume node=i code=OK "
            'request.volume_id="vol 1" response.a=b service=Controller fault=f message=m\''
        ),
        "ExpectCalls",
        {
            "filter": {},
            "in_this_order": [
                {"rpc": "NodeGetInfo"},
                {
                    "rpc": "ControllerPublishVolume",
                    "node_id": "i",
                    "code": "OK",
                    "request": {"volume_id": "vol 1"},
                    "response": {"a": "b"},
                    "service": "Controller",
                    "fault": "f",
                    "message": "m",
                },
            ],
        },
    ),
    (
        "expect --in-order code=OK --in-order 'rpc=Probe'",
        "ExpectCalls",
        {"filter": {}, "in_this_order": [{"code": "OK"}, {"rpc": "Probe"}]},
    ),
    ("server", "GetServer", {}),
    ("restart-driver", "RestartDriver", {}),
    ("scenario", "GetScenario", {}),
    ("scenario load three-zones", "LoadScenario", {"name": "three-zones"}),
    ("scenario export", "ExportScenario", {}),
    ("scenario export --name n", "ExportScenario", {"name": "n"}),
    ("scenario reset", "Reset", {}),
    ("scenario reset faults clock", "Reset", {"parts": ["faults", "clock"]}),
    ("snapshots", "ListSnapshots", {}),
    ("snapshots save s", "SaveSnapshot", {"name": "s"}),
    ("snapshots restore s", "RestoreSnapshot", {"name": "s"}),
    ("snapshots remove s", "DeleteSnapshot", {"name": "s"}),
    ("clock", "GetClock", {}),
    ("clock advance 30s", "AdvanceClock", {"by": "30s"}),
    ("clock stop", "StopClock", {}),
    ("clock start", "StartClock", {}),
]


@pytest.fixture
def fake(fake: FakeControl) -> FakeControl:
    """Answer what a command cannot do without."""
    fake.answers["ListInstances"] = cloud_pb2.ListInstancesResponse(
        instances=[cloud_pb2.Instance(id="i")]
    )
    fake.answers["ListDisks"] = cloud_pb2.ListDisksResponse(disks=[cloud_pb2.Disk(id="d")])
    fake.answers["AddNetworkInterface"] = cloud_pb2.AddNetworkInterfaceResponse(
        network_interfaces=[cloud_pb2.NetworkInterface(id="e")]
    )
    fake.answers["WatchCalls"] = []
    return fake


@pytest.mark.parametrize("form", ["table", "json", "yaml"])
@pytest.mark.parametrize(("words", "rpc", "request_"), USES, ids=[words for words, *_ in USES])
def test_a_command_asks_one_rpc(
    fake: FakeControl, words: str, rpc: str, request_: dict[str, Any], form: str
) -> None:
    done = ctl(*shlex.split(words), "--output", form, at=fake)

    assert len(fake.asked) == 1, done
    [(asked, message)] = fake.asked
    assert (asked, _plain(message)) == (rpc, request_)
    assert done.exit_code == (1 if rpc == "ExpectCalls" else 0), done.stderr


def _plain(message: Any) -> dict[str, Any]:
    return MessageToDict(message, preserving_proto_field_name=True)


def test_no_rpc_is_without_a_command() -> None:
    assert set(METHODS) - {rpc for _, rpc, _ in USES} == {"UpdateFault"}


def test_a_fault_is_changed_in_what_is_given_and_the_rest_stays(fake: FakeControl) -> None:
    fake.answers["GetFault"] = faults_pb2.Fault(
        name="f",
        rpc="CreateVolume",
        code="ABORTED",
        times=2,
        request={"name": "a"},
        reply={"x": '"y"'},
        details=['{"@type": "x"}'],
        enabled=False,
        matched=5,
        acted=4,
        delay="1s",
    )

    done = ctl(*shlex.split("faults change f --times 3 --message m --without delay"), at=fake)

    assert done.exit_code == 0
    assert [rpc for rpc, _ in fake.asked] == ["GetFault", "UpdateFault"]
    assert _plain(fake.asked[1][1]) == {
        "fault": {
            "name": "f",
            "rpc": "CreateVolume",
            "code": "ABORTED",
            "message": "m",
            "times": "3",
            "request": {"name": "a"},
            "reply": {"x": '"y"'},
            "details": ['{"@type": "x"}'],
            "enabled": False,
        }
    }


def test_several_are_removed_one_after_the_other(fake: FakeControl) -> None:
    assert ctl("instances", "remove", "a", "b", at=fake).lines == [
        "instance a is removed",
        "instance b is removed",
    ]
    assert ctl("disks", "remove", "a", "b", "-o", "json", at=fake).data == {"removed": ["a", "b"]}


def test_several_ids_are_listed_together_each_once(fake: FakeControl) -> None:
    done = ctl("instances", "i", "i*", "-o", "json", at=fake)

    assert [item["id"] for item in done.data["instances"]] == ["i"]


def test_a_scenario_is_loaded_from_a_file(fake: FakeControl, tmp_path: Path) -> None:
    file = tmp_path / "small.yaml"
    file.write_text("scenario: small\n", encoding="utf-8")

    ctl("scenario", "load", str(file), at=fake)

    assert _plain(fake.asked[0][1]) == {"yaml": "scenario: small\n"}


@pytest.mark.parametrize(
    "words",
    [
        "instances add i --interfaces 1 --interface e",
        "interfaces add i e --count 2",
        "interfaces remove i e --count 2",
        "release --barrier b --instance i",
        "release --calls 2",
        "transitions set",
        "calls --follow --count",
        "calls --new",
        "expect",
        "expect --never --exactly 1",
        "expect --in-order 'Probe what=1'",
        "expect --in-order 'Probe node'",
        "expect --in-order ''",
        "expect --in-order 'Probe \"'",
        "faults change f",
        "faults add --detail x",
        "faults add --detail 1",
        "faults add --request x",
        "faults explain --request [",
        "disks add d --tag =x",
        "wait --timeout soon",
        "wait --count 0",
        "scenario reset everything",
        "scenario load nowhere/none.yaml",
        "instances frob",
        "zones frob",
        "frob",
    ],
)
def test_what_makes_no_sense_is_a_mistake_of_usage_and_asks_nobody(
    fake: FakeControl, words: str
) -> None:
    del fake.answers["ListInstances"]

    done = ctl(*shlex.split(words), at=fake)

    if words == "instances frob":
        assert done.exit_code == 1  # it could be an id
    else:
        assert (done.exit_code, fake.asked) == (2, [])
    assert "Error: " in done.stderr
