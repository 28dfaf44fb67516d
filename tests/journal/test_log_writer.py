"""Log lines are written by another thread, all of them, in order."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from csi_spec import csi_pb2
from mockdriver.journal import Entry
from mockdriver.journal.log_lines import LogFormat
from mockdriver.journal.log_writer import LogWriter
from mockdriver.runtime import VirtualRuntime
from tests.journal.recorded import SmallJournal


@contextmanager
def writer_to(stream: io.StringIO, log_format: LogFormat = LogFormat.JSON) -> Iterator[LogWriter]:
    """Start a writer, and let it finish at the end of the block."""
    writer = LogWriter(VirtualRuntime(), stream, log_format)
    writer.start()
    try:
        yield writer
    finally:
        writer.close()


def delete_of(volume_id: str) -> Entry:
    return SmallJournal().call(csi_pb2.DeleteVolumeRequest(volume_id=volume_id))


def record(message: str, *args: object) -> logging.LogRecord:
    return logging.LogRecord("mockdriver", logging.INFO, __file__, 1, message, args, None)


def test_calls_and_records_keep_their_order() -> None:
    stream = io.StringIO()
    with writer_to(stream) as writer:
        for number in range(1000):
            writer.call(delete_of(f"vol-{number}"))
            if number % 100 == 0:
                writer.handle(record("remark %d", number))
    fields = [json.loads(line) for line in stream.getvalue().splitlines()]
    calls = [item["request"]["volume_id"] for item in fields if "rpc" in item]
    assert calls == [f"vol-{number}" for number in range(1000)]
    places = [place for place, item in enumerate(fields) if "level" in item]
    assert [fields[place - 1]["request"]["volume_id"] for place in places] == [
        f"vol-{number}" for number in range(0, 1000, 100)
    ]


@pytest.mark.parametrize("log_format", LogFormat)
def test_each_call_is_a_line_with_an_end(log_format: LogFormat) -> None:
    stream = io.StringIO()
    with writer_to(stream, log_format) as writer:
        for volume_id in ("vol-1\nvol-2", "vol-3\u2028"):
            writer.call(delete_of(volume_id))
    assert stream.getvalue().endswith("\n")
    assert len(stream.getvalue().splitlines()) == 2


def test_closing_writes_what_is_left() -> None:
    stream = io.StringIO()
    with writer_to(stream) as writer:
        writer.call(delete_of("vol-1"))
    assert "vol-1" in stream.getvalue()


def test_closing_twice_or_before_the_start_is_fine() -> None:
    with writer_to(io.StringIO()) as writer:
        writer.close()
    LogWriter(VirtualRuntime(), io.StringIO(), LogFormat.TEXT).close()


class _Gone(io.StringIO):
    """A stream that whoever read it has left."""

    def write(self, text: str) -> int:
        raise BrokenPipeError("nobody reads this")


def test_a_reader_that_has_gone_does_not_end_the_program() -> None:
    with writer_to(_Gone()) as writer:
        writer.call(delete_of("vol-1"))
        writer.handle(record("remark"))


def test_a_record_that_does_not_fit_its_arguments_does_not_end_the_log(
    capsys: pytest.CaptureFixture[str],
) -> None:
    stream = io.StringIO()
    with writer_to(stream) as writer:
        writer.handle(record("one %s and two %s", "argument"))
        writer.call(delete_of("vol-1"))
    assert "vol-1" in stream.getvalue()
    assert "Logging error" in capsys.readouterr().err


def test_a_record_is_written_as_it_was_when_it_was_made() -> None:
    stream, changing = io.StringIO(), ["before"]
    with writer_to(stream) as writer:
        writer.handle(record("it is %s", changing))
        changing[0] = "after"
    assert "before" in stream.getvalue()
