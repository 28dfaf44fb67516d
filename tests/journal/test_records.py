"""A call as plain data: all that is known of it, under the names of journal.proto."""

from __future__ import annotations

import json

from csi_spec import csi_pb2
from mockdriver.control.v1 import journal_pb2
from mockdriver.journal.entry import CloudCall, Moment
from mockdriver.journal.records import json_line, record
from tests.journal.recorded import SmallJournal

EPOCH_SECONDS = 1_767_225_600.0
"""2026-01-01T00:00:00Z."""


def a_call() -> Moment:
    """Return a call that has everything."""
    small = SmallJournal()
    small.begin()
    small.runtime.advance(1.25)
    entry = small.begin(
        csi_pb2.NodeStageVolumeRequest(volume_id="v", secrets={"password": "swordfish"}),
        "NodeStageVolume",
        service="Node",
        node_id="i-1",
    )
    entry.faults = ("slow", "flaky")
    small.runtime.advance(0.5)
    entry.add_cloud_call(CloudCall("describe_disks", ("v",), 0.5, "DiskNotFound"))
    small.end(entry, "NOT_FOUND", number=5, message="no disk has the id 'v'")
    return Moment(entry, ended=True)


def test_a_record_has_all_that_is_known_of_a_call() -> None:
    assert record(a_call(), EPOCH_SECONDS) == {
        "sequence": 2,
        "start": "2026-01-01T00:00:01.250000Z",
        "duration_seconds": 0.5,
        "peer": "unix:test",
        "service": "Node",
        "rpc": "NodeStageVolume",
        "node_id": "i-1",
        "request": {"volume_id": "v", "secrets": {"password": "***stripped***"}},
        "response": {},
        "code": "NOT_FOUND",
        "code_number": 5,
        "message": "no disk has the id 'v'",
        "faults": ["slow", "flaky"],
        "calls_in_flight": 1,
        "cloud_calls": [
            {
                "api": "describe_disks",
                "ids": ["v"],
                "duration_seconds": 0.5,
                "error": "DiskNotFound",
            }
        ],
    }


def test_its_names_are_those_of_the_control_api() -> None:
    found = record(a_call(), EPOCH_SECONDS)
    assert list(found) == [field.name for field in journal_pb2.Call.DESCRIPTOR.fields]
    assert list(found["cloud_calls"][0]) == [
        field.name for field in journal_pb2.CloudCall.DESCRIPTOR.fields
    ]


def test_a_call_in_flight_has_no_end() -> None:
    small = SmallJournal()
    small.begin()
    (moment,) = small.journal.moments()
    found = record(moment, EPOCH_SECONDS)
    assert (found["code"], found["code_number"], found["duration_seconds"]) == ("RUNNING", -1, 0.0)
    assert found["node_id"] == ""


def test_it_is_one_line_of_json_whatever_it_holds() -> None:
    breaking = "a\nb\r\nc\x0bd\x0ce\x1cf\x85g\u2028h\u2029i"
    line = json_line({"text": breaking})
    assert line.splitlines() == [line]
    assert json.loads(line) == {"text": breaking}
