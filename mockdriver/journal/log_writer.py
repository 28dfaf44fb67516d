"""The log: a line for each call that has ended, and for each remark of the program."""

from __future__ import annotations

import logging
from typing import TextIO

from mockdriver.journal.entry import Entry
from mockdriver.journal.line_writer import LineWriter
from mockdriver.journal.log_lines import LogFormat, call_line, record_line
from mockdriver.runtime import Runtime


class LogWriter(logging.Handler):
    """A sink for calls and for the records of `logging`, which keep their order."""

    def __init__(self, runtime: Runtime, stream: TextIO, log_format: LogFormat) -> None:
        super().__init__()
        self._runtime = runtime
        self._stream = stream
        self._format = log_format
        self._lines: LineWriter[Entry | str] = LineWriter(
            runtime, "log-writer", line_of=self._line, write=self._write
        )

    def start(self) -> None:
        """Begin to write."""
        self._lines.start()

    def call(self, entry: Entry) -> None:
        """Write a line for a call that has ended."""
        self._lines.put(entry)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line for a log record, made at once: what it is about may change."""
        try:
            self._lines.put(record_line(record, self._format))
        except Exception:  # a record that fits its arguments badly must not end the thread
            self.handleError(record)

    def close(self) -> None:
        """Write what is left and end the thread."""
        self._lines.close()
        super().close()

    def _line(self, item: Entry | str) -> str:
        if isinstance(item, Entry):
            return call_line(item, self._format, self._runtime.epoch_seconds)
        return item

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            # Whoever read the log has gone. A mock that dies of that would fail the wrong test.
            return
