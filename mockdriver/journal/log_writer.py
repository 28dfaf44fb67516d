"""Writes log lines on a thread of its own, so that no call waits for a terminal or a disk."""

from __future__ import annotations

import logging
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import TextIO

from mockdriver.journal.entry import Entry
from mockdriver.journal.log_lines import LogFormat, call_line, record_line
from mockdriver.runtime import Runtime, Thread

LINGER_SECONDS = 0.05
"""How long lines are collected before they are written together.

A writer that wakes for each line takes Python's lock from the calls each time: that, not the
formatting, is what a log costs (docs/decisions).
"""

_Item = Entry | str


class LogWriter(logging.Handler):
    """A sink for calls and for the records of `logging`, which keep their order."""

    def __init__(self, runtime: Runtime, stream: TextIO, log_format: LogFormat) -> None:
        super().__init__()
        self._runtime = runtime
        self._stream = stream
        self._format = log_format
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._closing: SimpleQueue[None] = SimpleQueue()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin to write."""
        self._thread = self._runtime.start(self._run, "log-writer")

    def call(self, entry: Entry) -> None:
        """Write a line for a call that has ended."""
        self._queue.put(entry)

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line for a log record, made at once: what it is about may change."""
        try:
            self._queue.put(record_line(record, self._format))
        except Exception:  # a record that fits its arguments badly must not end the thread
            self.handleError(record)

    def close(self) -> None:
        """Write what is left and end the thread."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._closing.put(None)
            self._queue.put(None)
            thread.join()
        super().close()

    def _run(self) -> None:
        more = True
        while more:
            items = [self._queue.get()]
            with suppress(Empty):
                self._closing.get(timeout=LINGER_SECONDS)
            with suppress(Empty):
                while True:
                    items.append(self._queue.get_nowait())
            more = None not in items
            self._write("".join(self._line(item) for item in items if item is not None))

    def _line(self, item: _Item) -> str:
        if isinstance(item, Entry):
            item = call_line(item, self._format, self._runtime.epoch_seconds)
        return item + "\n"

    def _write(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):
            # Whoever read the log has gone. A mock that dies of that would fail the wrong test.
            return
