"""How a call, or a remark of the program, looks as one line of log."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from csi_spec import csi_pb2
from mockdriver.journal import Entry
from mockdriver.journal.log_lines import LogFormat, call_line, record_line
from tests.journal.recorded import SmallJournal

EPOCH_SECONDS = 1_767_225_600.0
"""2026-01-01T00:00:00Z."""

BREAKING = "a\nb\r\nc\x0bd\x0ce\x1cf\x85g\u2028h\u2029i"
"""Every kind of line break that str.splitlines knows."""


def failed_delete(volume_id: str, message: str) -> Entry:
    """Return a call that arrived at 1.25 s and took 40.5 ms."""
    small = SmallJournal()
    small.runtime.advance(1.25)
    entry = small.begin(csi_pb2.DeleteVolumeRequest(volume_id=volume_id))
    small.runtime.advance(0.0405)
    return small.end(entry, "FAILED_PRECONDITION", number=9, message=message)


def node_info() -> Entry:
    """Return a call of a Node service that was OK at once."""
    small = SmallJournal()
    entry = small.begin(
        csi_pb2.NodeGetInfoRequest(controller_get_node_info=True),
        "NodeGetInfo",
        service="Node",
        node_id="i-1",
    )
    return small.end(entry, response=csi_pb2.NodeGetInfoResponse(node_id="i-1"))


def line_of(entry: Entry, log_format: LogFormat) -> str:
    return call_line(entry, log_format, EPOCH_SECONDS)


def as_json(entry: Entry) -> dict[str, Any]:
    """Return the fields of a call's line in the JSON format."""
    found: dict[str, Any] = json.loads(line_of(entry, LogFormat.JSON))
    return found


# ------------------------------------------------------------------------------------------ text


def test_a_text_line_tells_an_ok_call_and_its_answer() -> None:
    assert line_of(node_info(), LogFormat.TEXT) == (
        '2026-01-01T00:00:00.000Z NodeGetInfo OK 0.00ms node="i-1" '
        '{"controller_get_node_info":true} -> {"node_id":"i-1"}'
    )


def test_a_text_line_tells_why_a_call_failed() -> None:
    entry = failed_delete("vol-1", "disk 'vol-1' is attached")
    assert line_of(entry, LogFormat.TEXT) == (
        "2026-01-01T00:00:01.250Z DeleteVolume FAILED_PRECONDITION 40.50ms "
        '{"volume_id":"vol-1"} message="disk \'vol-1\' is attached"'
    )


# ------------------------------------------------------------------------------------------ json


def test_a_json_line_tells_an_ok_call_and_its_answer() -> None:
    assert as_json(node_info()) == {
        "time": "2026-01-01T00:00:00.000Z",
        "call": 1,
        "rpc": "NodeGetInfo",
        "node_id": "i-1",
        "code": "OK",
        "duration_ms": 0.0,
        "request": {"controller_get_node_info": True},
        "response": {"node_id": "i-1"},
    }


def test_a_json_line_tells_why_a_call_failed() -> None:
    assert as_json(failed_delete("vol-1", "attached")) == {
        "time": "2026-01-01T00:00:01.250Z",
        "call": 1,
        "rpc": "DeleteVolume",
        "code": "FAILED_PRECONDITION",
        "duration_ms": 40.5,
        "request": {"volume_id": "vol-1"},
        "response": {},
        "message": "attached",
    }


# ----------------------------------------------------------------------------------- one line each


@pytest.mark.parametrize("log_format", LogFormat)
def test_a_call_is_one_line_whatever_line_breaks_it_holds(log_format: LogFormat) -> None:
    line = line_of(failed_delete(BREAKING, BREAKING), log_format)
    assert line.splitlines() == [line]


def test_line_breaks_come_back_when_the_json_is_read() -> None:
    fields = as_json(failed_delete(BREAKING, BREAKING))
    assert fields["request"]["volume_id"] == BREAKING
    assert fields["message"] == BREAKING


@pytest.mark.parametrize("log_format", LogFormat)
def test_a_terminal_gets_no_commands_from_a_field(log_format: LogFormat) -> None:
    # ESC, DEL, and CSI, which is ESC and [ in one character.
    commands = "\x1b[2J\x7f\x9b31m"
    line = line_of(failed_delete(commands, commands), log_format)
    assert line.isprintable()


@pytest.mark.parametrize("log_format", LogFormat)
def test_other_languages_stay_readable(log_format: LogFormat) -> None:
    assert "größer-磁盘" in line_of(failed_delete("größer-磁盘", ""), log_format)


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=30), st.sampled_from(LogFormat))
def test_no_text_breaks_a_line_or_its_json(text: str, log_format: LogFormat) -> None:
    entry = failed_delete(text, text)
    line = line_of(entry, log_format)
    assert len(line.splitlines()) == 1
    assert as_json(entry)["request"].get("volume_id", "") == text


# --------------------------------------------------------------------------------------- secrets


@pytest.mark.parametrize("log_format", LogFormat)
def test_a_line_has_the_keys_of_secrets_and_not_their_values(log_format: LogFormat) -> None:
    request = csi_pb2.DeleteVolumeRequest(secrets={"password": "hunter2"})
    line = line_of(SmallJournal().call(request), log_format)
    assert "hunter2" not in line
    assert '"password":"***stripped***"' in line


@pytest.mark.parametrize("log_format", LogFormat)
def test_bytes_that_are_no_request_are_not_shown(log_format: LogFormat) -> None:
    line = line_of(SmallJournal().call(b"\x12\x07hunter2"), log_format)
    assert "hunter2" not in line


# --------------------------------------------------------------------------------- log records


def record(message: str, *args: object, error: BaseException | None = None) -> logging.LogRecord:
    """Return a record of 2026-01-01T00:00:00.5Z."""
    exc_info = None if error is None else (type(error), error, error.__traceback__)
    made = logging.LogRecord("mockdriver", logging.WARNING, __file__, 1, message, args, exc_info)
    made.created = EPOCH_SECONDS + 0.5
    return made


def test_a_record_in_text_form() -> None:
    line = record_line(record("socket %s", "/tmp/a.sock"), LogFormat.TEXT)
    assert line == "2026-01-01T00:00:00.500Z WARNING socket /tmp/a.sock"


def test_a_record_in_json_form() -> None:
    line = record_line(record("socket %s", "/tmp/a.sock"), LogFormat.JSON)
    assert json.loads(line) == {
        "time": "2026-01-01T00:00:00.500Z",
        "level": "WARNING",
        "message": "socket /tmp/a.sock",
    }


def test_a_traceback_keeps_its_lines_in_text_form() -> None:
    lines = record_line(record("failed", error=KeyError("why")), LogFormat.TEXT).splitlines()
    assert lines[0].endswith("WARNING failed")
    assert lines[-1] == "KeyError: 'why'"


def test_a_traceback_is_one_line_in_json_form() -> None:
    line = record_line(record("failed", error=KeyError("why")), LogFormat.JSON)
    assert line.splitlines() == [line]
    assert json.loads(line)["traceback"].endswith("KeyError: 'why'")


# ----------------------------------------------------------------------------------------- length


@pytest.mark.parametrize("log_format", LogFormat)
def test_a_huge_body_is_told_by_its_size(log_format: LogFormat) -> None:
    entry = failed_delete("v" * 5_000_000, "")
    assert '{"omitted_bytes":5000005}' in line_of(entry, log_format)
    assert len(line_of(entry, log_format)) < 1_000
