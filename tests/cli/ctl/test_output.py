"""What commands print: tables for people, JSON and YAML for programs."""

from __future__ import annotations

import io
import json
import sys
from typing import Any

import pytest
from ruamel.yaml import YAML

from mockdriver.cli.ctl import printing
from mockdriver.control.v1 import cloud_pb2, faults_pb2, journal_pb2, state_pb2
from tests.cli.ctl.running import ctl
from tests.client.fake_control import FakeControl

Attachment = cloud_pb2.Attachment

WORKER = cloud_pb2.Instance(
    id="i-worker-1",
    type="shared-25",
    zone="region-1a",
    network_interfaces=["eni-1", "eni-2"],
    boot_disk="vol-boot",
    slots=25,
    slot_users=6,
    attachments=[
        Attachment(number=1, disk="vol-boot", state="attached", boot=True, uses_slot=True),
        Attachment(number=2, disk="vol-manual", state="attached", out_of_band=True, uses_slot=True),
        Attachment(number=3, disk="pvc-1", state="attached", uses_slot=True),
        Attachment(number=4, disk="pvc-2", state="detaching", uses_slot=True, waits_for="1.5s"),
    ],
)
UNLIMITED = cloud_pb2.Instance(id="i-9", zone="region-1a")


def test_instances_are_a_table_as_wide_as_it_must_be(fake: FakeControl) -> None:
    fake.answers["ListInstances"] = cloud_pb2.ListInstancesResponse(instances=[WORKER, UNLIMITED])

    assert ctl("instances", at=fake).lines == [
        "ID          TYPE       ZONE       SLOTS       INTERFACES  BOOT DISK  CSI  OUT OF BAND",
        "i-worker-1  shared-25  region-1a  6/25        2           vol-boot   2    1",
        "i-9         -          region-1a  0/no limit  0           -          0    0",
    ]


def test_an_instance_is_shown_with_a_bar_of_who_uses_its_slots(fake: FakeControl) -> None:
    fake.answers["GetInstance"] = WORKER

    assert ctl("instance", "i-worker-1", at=fake).lines == [
        "instance    i-worker-1",
        "type        shared-25",
        "zone        region-1a",
        "interfaces  eni-1, eni-2",
        "slots       6/25",
        "[BIICCO...................]",
        "B boot disk 1, I network interfaces 2, C CSI volumes 2, O out of band 1, . free 19",
        "",
        "DISK        STATE      NUMBER  BY           USES A SLOT  WAITS FOR",
        "vol-boot    attached   1       boot         yes          -",
        "vol-manual  attached   2       out of band  yes          -",
        "pvc-1       attached   3       CSI          yes          -",
        "pvc-2       detaching  4       CSI          yes          1.5s",
    ]


def bar_of(fake: FakeControl, instance: cloud_pb2.Instance) -> tuple[str, str]:
    """Return the bar and the legend that are shown for an instance."""
    fake.answers["GetInstance"] = instance
    lines = ctl("instance", instance.id, at=fake).lines
    return lines[5], lines[6]


def test_slot_users_without_a_slot_stand_behind_the_bar(fake: FakeControl) -> None:
    full = cloud_pb2.Instance(id="i", slots=2, slot_users=4)

    bar, legend = bar_of(fake, full)

    assert bar == "[II]II"
    assert ". free 0" in legend


def test_a_bar_of_many_slots_is_drawn_smaller(fake: FakeControl) -> None:
    large = cloud_pb2.Instance(id="i", slots=600, slot_users=1)

    bar, legend = bar_of(fake, large)

    assert bar == f"[I{'.' * 59}]"
    assert legend.endswith("each letter is up to 10 slots")


def test_an_instance_without_a_limit_has_no_bar(fake: FakeControl) -> None:
    fake.answers["GetInstance"] = UNLIMITED

    lines = ctl("instance", "i-9", at=fake).lines

    assert lines[4:] == [
        "slots       0/no limit",
        "B boot disk 0, I network interfaces 0, C CSI volumes 0, O out of band 0",
    ]


def test_json_has_the_field_names_of_the_proto_and_whole_numbers(fake: FakeControl) -> None:
    fake.answers["GetInstance"] = WORKER

    data = ctl("instance", "i-worker-1", "-o", "json", at=fake).data

    assert {key: data[key] for key in ("id", "slots", "slot_users", "network_interfaces")} == {
        "id": "i-worker-1",
        "slots": 25,
        "slot_users": 6,
        "network_interfaces": ["eni-1", "eni-2"],
    }
    assert data["attachments"][3] == {
        "number": 4,
        "disk": "pvc-2",
        "instance": "",
        "state": "detaching",
        "tags": {},
        "out_of_band": False,
        "boot": False,
        "uses_slot": True,
        "waits_for": "1.5s",
    }


def test_optional_fields_without_a_value_are_left_out(fake: FakeControl) -> None:
    fake.answers["GetInstance"] = UNLIMITED

    assert "slots" not in ctl("instance", "i-9", "-o", "json", at=fake).data


def test_a_list_is_the_answer_of_the_rpc(fake: FakeControl) -> None:
    fake.answers["ListZones"] = cloud_pb2.ListZonesResponse(
        zones=[cloud_pb2.Zone(name="a", available_gib=5)]
    )

    [zone] = ctl("zones", "-o", "json", at=fake).data["zones"]

    assert (zone["name"], zone["available_gib"]) == ("a", 5)


def test_yaml_says_the_same_as_json(fake: FakeControl) -> None:
    fake.answers["GetInstance"] = WORKER

    as_yaml = ctl("instance", "i-worker-1", "-o", "yaml", at=fake).stdout
    as_json = ctl("instance", "i-worker-1", "-o", "json", at=fake).data

    assert as_yaml.startswith("id: i-worker-1\ntype: shared-25\n")
    assert YAML(typ="safe").load(io.StringIO(as_yaml)) == as_json


HOSTILE = "é \x1b[31m\u202e\x9b\U000e0001\n"


@pytest.mark.parametrize("form", ["json", "yaml"])
def test_what_a_terminal_would_obey_is_escaped_for_programs_too(
    fake: FakeControl, form: str
) -> None:
    fake.answers["ListZones"] = cloud_pb2.ListZonesResponse(zones=[cloud_pb2.Zone(name=HOSTILE)])

    text = ctl("zones", "-o", form, at=fake).stdout

    assert all(line.isprintable() for line in text.splitlines())
    read: Any = YAML(typ="safe", pure=True).load if form == "yaml" else json.load
    assert read(io.StringIO(text))["zones"][0]["name"] == HOSTILE


def test_a_table_stays_a_table_whatever_names_are(fake: FakeControl) -> None:
    zones = [cloud_pb2.Zone(name=name) for name in ("a\nb\x1b[0m", "日本", "z")]
    fake.answers["ListZones"] = cloud_pb2.ListZonesResponse(zones=zones)

    assert ctl("zones", at=fake).lines == [
        "NAME           ROOM IN GIB",
        "a\\x0ab\\x1b[0m  0",
        "日本           0",
        "z              0",
    ]


def test_nothing_to_list_is_said_where_it_disturbs_no_program(fake: FakeControl) -> None:
    done = ctl("faults", at=fake)

    assert (done.exit_code, done.stdout, done.stderr) == (0, "", "no faults\n")
    assert ctl("faults", "-o", "json", at=fake).data == {"faults": []}


FAULT = faults_pb2.Fault(
    name="flaky",
    rpc="ControllerGetNodeInfo",
    node_id="i-1",
    times=2,
    code="UNAVAILABLE",
    enabled=True,
    matched=3,
    acted=2,
)


def test_faults_tell_which_calls_and_what_they_do(fake: FakeControl) -> None:
    slow = faults_pb2.Fault(name="slow", cloud_api="attach", delay="2s", hold="b", when="after")
    fake.answers["ListFaults"] = faults_pb2.ListFaultsResponse(faults=[FAULT, slow])

    assert ctl("faults", at=fake).lines == [
        "NAME   ON   MATCHED  ACTED  WHICH CALLS                               WHAT IT DOES",
        "flaky  yes  3        2      ControllerGetNodeInfo, node=i-1, 2 times  UNAVAILABLE",
        (
            "slow   no   0        0      attach                                    "
            "wait 2s, hold at b, after the work is done"
        ),
    ]


def test_a_fault_that_was_added_is_told_in_a_sentence(fake: FakeControl) -> None:
    fake.answers["CreateFault"] = FAULT

    assert ctl("faults", "add", "--rpc", "Probe", "--code", "ABORTED", at=fake).lines == [
        "fault flaky: ControllerGetNodeInfo, node=i-1, 2 times: UNAVAILABLE"
    ]


def a_call(number: int = 7, code: str = "OK", message: str = "") -> journal_pb2.Call:
    """Return a call of ControllerPublishVolume."""
    call = journal_pb2.Call(
        sequence=number,
        service="Controller",
        rpc="ControllerPublishVolume",
        code=code,
        message=message,
        duration_seconds=0.0125,
        faults=["slow"],
        cloud_calls=[journal_pb2.CloudCall(api="attach", ids=["vol-1"], duration_seconds=0.5)],
    )
    call.start.FromJsonString("2026-01-01T10:20:30.405678Z")
    call.request.update(
        {"volume_id": "vol-1", "node_id": "i-1", "readonly": False, "volume_capability": {"a": [1]}}
    )
    return call


def test_calls_are_one_line_each(fake: FakeControl) -> None:
    refused = a_call(8, "NOT_FOUND", "no volume\nof that name")
    fake.answers["ListCalls"] = journal_pb2.ListCallsResponse(
        calls=[a_call(), refused], total=5, forgotten=2
    )

    done = ctl("calls", at=fake)

    assert done.lines == [
        (
            "NUMBER  START         TOOK     RPC                      NODE  CODE       FAULTS  "
            "REQUEST, ERROR"
        ),
        (
            "7       10:20:30.405  12.5 ms  ControllerPublishVolume  i-1   OK         slow    "
            "readonly=false volume_id=vol-1 volume_capability={a=[1]}"
        ),
        (
            "8       10:20:30.405  12.5 ms  ControllerPublishVolume  i-1   NOT_FOUND  slow    "
            "readonly=false volume_id=vol-1 volume_capability={a=[1]} -> no volume\\x0aof that name"
        ),
    ]
    assert done.stderr.splitlines() == [
        "5 calls match, these are the newest 2; see --limit",
        "2 older calls are forgotten",
    ]


def test_one_call_is_shown_whole(fake: FakeControl) -> None:
    fake.answers["GetCall"] = a_call()

    lines = ctl("call", "7", at=fake).lines

    assert "rpc                  Controller.ControllerPublishVolume" in lines
    assert '    "volume_id": "vol-1"' in [line.rstrip(",") for line in lines]
    assert lines[-1] == "attach  vol-1  500.0 ms  -"


def test_calls_are_followed_as_lines_and_as_json_lines(fake: FakeControl) -> None:
    running = a_call(code="RUNNING")
    fake.answers["WatchCalls"] = [running, a_call()]

    lines = ctl("calls", "--follow", at=fake).lines
    assert [line.split()[0] for line in lines] == ["NUMBER", "7", "7"]
    assert lines[1].index("RUNNING") == lines[2].index("OK")

    printed = ctl("calls", "--follow", "-o", "json", at=fake).lines
    assert [json.loads(line)["code"] for line in printed] == ["RUNNING", "OK"]
    assert json.loads(printed[1])["start"] == "2026-01-01T10:20:30.405678Z"
    assert json.loads(printed[1])["request"]["volume_id"] == "vol-1"

    documents = ctl("calls", "--follow", "-o", "yaml", at=fake).stdout
    assert [item["code"] for item in YAML(typ="safe").load_all(documents)] == ["RUNNING", "OK"]


def test_calls_are_counted(fake: FakeControl) -> None:
    fake.answers["CountCalls"] = journal_pb2.CountCallsResponse(count=3)

    assert ctl("calls", "--count", at=fake).stdout == "3\n"
    assert ctl("calls", "--count", "-o", "json", at=fake).data == {"count": 3}


def test_a_scenario_is_printed_as_its_file_says_it(fake: FakeControl) -> None:
    text = "# a comment\nscenario: é\n"
    fake.answers["GetScenario"] = state_pb2.Scenario(name="é", yaml=text)

    assert ctl("scenario", at=fake).stdout == text


def test_warnings_of_a_loaded_scenario_are_told(fake: FakeControl) -> None:
    fake.answers["LoadScenario"] = state_pb2.LoadScenarioResponse(name="x", warnings=["odd"])

    done = ctl("scenario", "load", "x", at=fake)

    assert (done.stdout, done.stderr) == ("scenario x is loaded\n", "warning: odd\n")


def test_node_info_is_what_the_driver_would_answer(fake: FakeControl) -> None:
    fake.answers["GetNodeInfo"] = cloud_pb2.NodeInfo(
        node_id="i-1",
        max_volumes_per_node=23,
        published_volume_ids=["vol-a", "vol-b"],
        accessible_topology={"z": "1", "r": "2"},
    )

    assert ctl("node-info", "i-1", at=fake).lines == [
        "node_id               i-1",
        "max_volumes_per_node  23",
        "published_volume_ids  2: vol-a, vol-b",
        "accessible_topology   r=2, z=1",
    ]


def test_there_are_colours_on_a_terminal_only_and_not_against_the_users_wish(
    fake: FakeControl,
) -> None:
    fake.answers["ListCalls"] = journal_pb2.ListCallsResponse(calls=[a_call()], total=1)

    assert "\x1b[32mOK" in ctl("calls", at=fake, color=True).stdout
    assert "\x1b" not in ctl("calls", at=fake, color=True, variables={"NO_COLOR": "1"}).stdout


def test_on_a_terminal_the_last_column_ends_where_the_line_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "30")

    printing.table(["A", "B"], [["short", "x" * 100]], nothing="")

    assert capsys.readouterr().out.splitlines()[1] == f"short  {'x' * 22}…"


@pytest.mark.parametrize("first", [True, False])
def test_settings_may_stand_before_the_command_or_behind_it(fake: FakeControl, first: bool) -> None:
    settings = ["--endpoint", str(fake.path), "--output", "json"]

    done = ctl(*settings, "clock") if first else ctl("clock", *settings)

    assert done.data == {"seconds": 0.0, "stopped": False}


@pytest.mark.parametrize(
    "variable", ["MOCKDRIVER_CONTROL_ENDPOINT", "MOCKDRIVER_ENDPOINT", "CSI_ENDPOINT"]
)
def test_the_endpoint_can_come_from_the_environment(fake: FakeControl, variable: str) -> None:
    assert ctl("clock", variables={variable: f"unix://{fake.path}"}).exit_code == 0


def test_the_endpoint_of_the_control_api_goes_before_that_of_csi(fake: FakeControl) -> None:
    variables = {
        "MOCKDRIVER_CONTROL_ENDPOINT": str(fake.path),
        "MOCKDRIVER_ENDPOINT": "/nowhere.sock",
    }

    assert ctl("clock", variables=variables).exit_code == 0


def test_the_output_can_come_from_the_environment(fake: FakeControl) -> None:
    assert (
        ctl("clock", at=fake, variables={"MOCKDRIVER_CTL_OUTPUT": "json"}).data["stopped"] is False
    )
