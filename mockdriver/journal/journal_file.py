"""The journal as a file: a JSON object a line, one for each call that has ended."""

from __future__ import annotations

import logging
import os
import stat
from pathlib import Path
from typing import Self

from mockdriver.journal.entry import Entry, Moment
from mockdriver.journal.line_writer import LineWriter
from mockdriver.journal.records import json_line, record
from mockdriver.runtime import Runtime

_KINDS = {
    stat.S_IFDIR: "a folder",
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

_log = logging.getLogger("mockdriver.journal")


class JournalFileMistake(Exception):
    """The path is none that a journal can be written to; the text says why."""


class JournalFile:
    """Appends a line for each call to a file, from a thread of its own.

    A file that is there already is continued. Where lines cannot be written, calls go on, and the
    log says so once; the next lines are tried again. It writes while its block runs. Raises
    JournalFileMistake.
    """

    def __init__(self, runtime: Runtime, path: Path) -> None:
        self._runtime = runtime
        self._path = path
        self._file = _open(path)
        self._lost_lines = 0
        # What others left without a line's end must not spoil the first line.
        self._begins_line = _ends_with_line(self._file)
        self._lines: LineWriter[Entry] = LineWriter(
            runtime, "journal-file", line_of=self._line, write=self._write
        )

    def __enter__(self) -> Self:
        """Begin to write."""
        self._lines.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Write what is left, and say how many lines are missing if some are."""
        self.close()

    def close(self) -> None:
        """Do what the end of the block does."""
        self._lines.close()
        if self._lost_lines:
            _log.error("the journal %s lacks %d calls", self._path, self._lost_lines)
        os.close(self._file)

    def call(self, entry: Entry) -> None:
        """Write a line for a call that has ended."""
        self._lines.put(entry)

    def _line(self, entry: Entry) -> str:
        return json_line(record(Moment(entry, ended=True), self._runtime.epoch_seconds))

    def _write(self, text: str) -> None:
        # A name from the command line may hold what is no text; as \udc80 it is still JSON.
        data = text.encode("utf-8", "backslashreplace")
        if data and not self._begins_line:
            data = b"\n" + data
        written = 0
        try:
            while written < len(data):
                written += os.write(self._file, data[written:])
        except OSError as error:
            if not self._lost_lines:
                _log.error("cannot write the journal %s: %s", self._path, error.strerror)
            # A line is lost that has not got its end; the one at the front is of before.
            self._lost_lines += min(text.count("\n"), data.count(b"\n", written))
        if written:
            self._begins_line = data[written - 1 : written] == b"\n"


def _open(path: Path) -> int:
    try:
        _refuse_all_but_files(path)
        # Not blocking, for a pipe that somebody puts there in between.
        flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
        return os.open(path, flags, 0o666)
    except FileNotFoundError:
        raise JournalFileMistake(f"the folder {str(path.parent)!r} does not exist") from None
    except NotADirectoryError:
        raise JournalFileMistake(f"{str(path.parent)!r} is no folder") from None
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise JournalFileMistake(f"cannot write to {str(path)!r}: {reason}") from None


def _refuse_all_but_files(path: Path) -> None:
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return
    kind = _KINDS.get(stat.S_IFMT(mode))
    if kind is not None:
        raise JournalFileMistake(f"{str(path)!r} is {kind}, allowed: a file, there already or not")


def _ends_with_line(file: int) -> bool:
    size = os.fstat(file).st_size
    return size == 0 or os.pread(file, 1, size - 1) == b"\n"
