"""The record of calls: a ring of the newest ones, and a sink that sees each call as it ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from google.protobuf.message import Message

from mockdriver.journal.entry import Entry
from mockdriver.runtime import Runtime

DEFAULT_CAPACITY = 10_000


class Journal:
    """Remembers the newest `capacity` calls. `on_end` is called with each call that has ended."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        capacity: int = DEFAULT_CAPACITY,
        on_end: Callable[[Entry], None] | None = None,
    ) -> None:
        self._runtime = runtime
        self._lock = runtime.lock()
        self._ring: deque[Entry] = deque(maxlen=capacity)
        self._on_end = on_end
        self._sequence = 0
        self._in_flight = 0

    def begin(
        self,
        *,
        service: str,
        rpc: str,
        request_type: type[Message],
        response_type: type[Message],
        request_bytes: bytes,
        peer: str,
        node_id: str | None,
    ) -> Entry:
        """Record a call that has just arrived."""
        started_seconds = self._runtime.now()
        with self._lock:
            self._sequence += 1
            entry = Entry(
                sequence=self._sequence,
                started_seconds=started_seconds,
                service=service,
                rpc=rpc,
                request_type=request_type,
                response_type=response_type,
                request_bytes=request_bytes,
                peer=peer,
                node_id=node_id,
                calls_in_flight=self._in_flight,
            )
            self._in_flight += 1
            self._ring.append(entry)
        return entry

    def end(
        self, entry: Entry, *, code: str, code_number: int, message: str, response_bytes: bytes
    ) -> None:
        """Complete a call's record with what it was answered."""
        entry.duration_seconds = self._runtime.now() - entry.started_seconds
        entry.response_bytes = response_bytes
        entry.message = message
        entry.code_number = code_number
        entry.code = code
        with self._lock:
            self._in_flight -= 1
        if self._on_end is not None:
            self._on_end(entry)

    def entries(self) -> list[Entry]:
        """Return the remembered calls, oldest first."""
        with self._lock:
            return list(self._ring)
