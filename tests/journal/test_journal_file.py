"""The journal as a file of JSON lines, which no call ever waits for or fails because of."""

from __future__ import annotations

import errno
import json
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.journal import journal_file
from mockdriver.journal.journal_file import JournalFile, JournalFileMistake
from tests.journal.recorded import SmallJournal


def delete_of(volume_id: str, small: SmallJournal | None = None) -> Any:
    return (small or SmallJournal()).call(csi_pb2.DeleteVolumeRequest(volume_id=volume_id))


def write(path: Path, *volume_ids: str) -> None:
    """Write a journal of calls to a file."""
    small = SmallJournal()
    with JournalFile(small.runtime, path) as file:
        for volume_id in volume_ids:
            file.call(delete_of(volume_id, small))


def volumes_in(path: Path) -> list[str]:
    """Return the volume of each line of a file."""
    text = path.read_text(encoding="utf-8")
    assert text == "" or text.endswith("\n")
    return [json.loads(line)["request"]["volume_id"] for line in text.split("\n")[:-1]]


def test_each_call_is_a_line_in_the_order_of_their_ends(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    names = [f"vol-{number}" for number in range(1000)]
    write(path, *names)
    assert volumes_in(path) == names


def test_a_line_has_all_fields(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    write(path, "vol-1")
    fields = json.loads(path.read_text(encoding="utf-8"))
    assert (fields["sequence"], fields["rpc"], fields["code"]) == (1, "DeleteVolume", "OK")
    assert fields["start"] == "2026-01-01T00:00:00.000000Z"
    assert len(fields) == 15


def test_a_file_that_is_there_is_continued(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    write(path, "vol-1")
    write(path, "vol-2")
    assert volumes_in(path) == ["vol-1", "vol-2"]


def test_a_line_that_somebody_left_unfinished_does_not_spoil_the_next_one(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    path.write_text('{"sequence":1,"sta', encoding="utf-8")
    write(path, "vol-1")
    broken, line, rest = path.read_text(encoding="utf-8").split("\n")
    assert (broken, rest) == ('{"sequence":1,"sta', "")
    assert json.loads(line)["request"] == {"volume_id": "vol-1"}


def test_without_calls_there_is_an_empty_file(tmp_path: Path) -> None:
    write(tmp_path / "calls.jsonl")
    assert (tmp_path / "calls.jsonl").read_bytes() == b""


def test_no_secret_is_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    small = SmallJournal()
    request = csi_pb2.DeleteVolumeRequest(secrets={"password": "swordfish"})
    with JournalFile(small.runtime, path) as file:
        file.call(small.call(request))
        file.call(small.call(request.SerializeToString()[:-1]))
    assert b"swordfish" not in path.read_bytes()
    assert b'"password":"***stripped***"' in path.read_bytes()


def test_a_name_that_is_no_text_is_written_as_json_can(tmp_path: Path) -> None:
    path = tmp_path / "calls.jsonl"
    small = SmallJournal()
    with JournalFile(small.runtime, path) as file:
        file.call(small.call(b"", "Probe", node_id=os.fsdecode(b"i-\xff")))
    assert json.loads(path.read_bytes())["node_id"] == "i-\udcff"


# ----------------------------------------------------------------------------------- failed writes


class Disk:
    """Stands in for os.write: room for so many bytes, then an error until there is more."""

    def __init__(self, room: int) -> None:
        self.room = room

    def write(self, file: int, data: bytes) -> int:
        if not self.room:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        written = os.write(file, data[: self.room])
        self.room -= written
        return written


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Disk]:
    """Give the journal a disk with so much room."""

    def with_room(room: int) -> Disk:
        found = Disk(room)

        class Os:
            """The module os, but for its write."""

            write = staticmethod(found.write)

            def __getattr__(self, name: str) -> Any:
                return getattr(os, name)

        monkeypatch.setattr(journal_file, "os", Os())
        return found

    return with_room


def test_a_full_disk_is_logged_once_and_what_is_lost_is_counted_at_the_end(
    tmp_path: Path, disk: Callable[[int], Disk], caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "calls.jsonl"
    disk(0)
    write(path, "vol-1", "vol-2", "vol-3")
    assert path.read_bytes() == b""
    assert [record.getMessage() for record in caplog.records] == [
        f"cannot write the journal {path}: {os.strerror(errno.ENOSPC)}",
        f"the journal {path} lacks 3 calls",
    ]
    assert {record.levelno for record in caplog.records} == {logging.ERROR}


def lines_written(path: Path, disk: Disk, rooms: list[int]) -> list[str]:
    """Write a line at a time, each with some room more; return the lines that are in the file."""
    small = SmallJournal()
    with JournalFile(small.runtime, path) as file:
        for number, room in enumerate(rooms, 1):
            disk.room = room
            file._write(file._line(delete_of(f"vol-{number}", small)) + "\n")
    return path.read_text(encoding="utf-8").split("\n")


@pytest.mark.parametrize("room", [0, 1, 100])
def test_lines_after_a_failed_one_are_whole(
    room: int, tmp_path: Path, disk: Callable[[int], Disk], caplog: pytest.LogCaptureFixture
) -> None:
    plenty = 100_000
    found = lines_written(
        tmp_path / "calls.jsonl", disk(0), [plenty, room, plenty, room, room, plenty]
    )
    whole = [json.loads(line) for line in found if line.endswith("}")]
    assert [fields["request"]["volume_id"] for fields in whole] == ["vol-1", "vol-3", "vol-6"]
    assert found[-1] == ""
    if not room:
        assert len(found) == 4
    messages = [record.getMessage() for record in caplog.records]
    assert len(messages) == 2
    assert messages[1].endswith("lacks 3 calls")


def test_of_lines_that_are_written_together_only_those_without_an_end_are_lost(
    tmp_path: Path, disk: Callable[[int], Disk], caplog: pytest.LogCaptureFixture
) -> None:
    full = disk(0)
    small = SmallJournal()
    with JournalFile(small.runtime, tmp_path / "calls.jsonl") as file:
        line = file._line(delete_of("vol-1", small)) + "\n"
        full.room = len(line) + len(line) // 2
        file._write(line * 3)
    assert caplog.records[-1].getMessage().endswith("lacks 2 calls")


def test_a_write_that_takes_only_a_part_is_continued(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.write
    monkeypatch.setattr(os, "write", lambda file, data: real(file, data[:7]))
    write(tmp_path / "calls.jsonl", "vol-1", "vol-2")
    monkeypatch.undo()
    assert volumes_in(tmp_path / "calls.jsonl") == ["vol-1", "vol-2"]


# ------------------------------------------------------------------------------------------- paths


def pipe(path: Path) -> None:
    os.mkfifo(path)


def unix_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))


def device(path: Path) -> None:
    path.symlink_to("/dev/null")


@pytest.mark.parametrize(
    ("make", "kind"),
    [
        (Path.mkdir, "a folder"),
        (pipe, "a pipe"),
        (unix_socket, "a socket"),
        (device, "a device"),
    ],
)
def test_what_is_no_file_is_refused(
    make: Callable[[Path], None], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's path has to be short
    make(Path("it"))
    with pytest.raises(JournalFileMistake, match=f"'it' is {kind}, allowed: a file"):
        JournalFile(SmallJournal().runtime, Path("it"))


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("none/calls.jsonl", "the folder '.*none' does not exist"),
        ("file/calls.jsonl", "'.*file' is no folder"),
        ("x" * 300, "cannot write to '.*': File name too long"),
        ("a\0b", "cannot write to .*: embedded null"),
    ],
)
def test_a_path_that_cannot_be_opened_is_refused_with_the_reason(
    path: str, text: str, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(JournalFileMistake, match=text):
        JournalFile(SmallJournal().runtime, tmp_path / path)


def test_a_link_to_a_file_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "calls.jsonl")
    write(tmp_path / "link", "vol-1")
    assert volumes_in(tmp_path / "calls.jsonl") == ["vol-1"]
