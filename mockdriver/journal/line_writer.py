"""Writes lines on a thread of its own, so that no call waits for a terminal or a disk."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Generic, TypeVar

from mockdriver.runtime import Runtime, Thread

LINGER_SECONDS = 0.05
"""How long lines are collected before they are written together.

A writer that wakes for each line takes Python's lock from the calls each time: that, not the
formatting, is what a log costs (docs/decisions).
"""

_Item = TypeVar("_Item")


class LineWriter(Generic[_Item]):
    """Takes items at once; `line_of` and `write` see them later, on the writer's thread.

    `write` gets whole lines with their ends, and must not raise.
    """

    def __init__(
        self,
        runtime: Runtime,
        name: str,
        *,
        line_of: Callable[[_Item], str],
        write: Callable[[str], None],
    ) -> None:
        self._runtime = runtime
        self._name = name
        self._line_of = line_of
        self._write = write
        self._queue: SimpleQueue[_Item | None] = SimpleQueue()
        self._closing: SimpleQueue[None] = SimpleQueue()
        self._thread: Thread | None = None

    def start(self) -> None:
        """Begin to write."""
        self._thread = self._runtime.start(self._run, self._name)

    def put(self, item: _Item) -> None:
        """Have a line written for an item."""
        self._queue.put(item)

    def close(self) -> None:
        """Write what is left and end the thread."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._closing.put(None)
            self._queue.put(None)
            thread.join()

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
            self._write("".join(f"{self._line_of(item)}\n" for item in items if item is not None))
