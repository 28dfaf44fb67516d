"""Calls as the journal records them, without a driver."""

from __future__ import annotations

from typing import Any

from google.protobuf.message import Message

from csi_spec import csi_pb2
from mockdriver.faults.status_codes import STATUS_CODES
from mockdriver.journal import Entry, Journal
from mockdriver.journal.filters import CallFilter
from mockdriver.journal.journal import MAX_BYTES
from mockdriver.runtime import Runtime, VirtualRuntime


class SmallJournal:
    """A journal, on a virtual clock by default; `ended` are the entries that its sink saw."""

    def __init__(
        self, capacity: int = 100, *, runtime: Runtime | None = None, max_bytes: int = MAX_BYTES
    ) -> None:
        self.runtime = VirtualRuntime() if runtime is None else runtime
        self.ended: list[Entry] = []
        self.journal = Journal(
            self.runtime, capacity=capacity, max_bytes=max_bytes, on_end=self.ended.append
        )

    def begin(
        self,
        request: Message | bytes = b"",
        rpc: str = "DeleteVolume",
        *,
        service: str = "Controller",
        node_id: str | None = None,
    ) -> Entry:
        """Record a call that arrives."""
        return self.journal.begin(
            service=service,
            rpc=rpc,
            request_type=getattr(csi_pb2, f"{rpc}Request"),
            response_type=getattr(csi_pb2, f"{rpc}Response"),
            request_bytes=request if isinstance(request, bytes) else request.SerializeToString(),
            peer="unix:test",
            node_id=node_id,
        )

    def end(
        self,
        entry: Entry,
        code: str = "OK",
        *,
        number: int = 0,
        message: str = "",
        response: Message | None = None,
    ) -> Entry:
        """Record that a call ends."""
        self.journal.end(
            entry,
            code=code,
            code_number=number,
            message=message,
            response_bytes=b"" if response is None else response.SerializeToString(),
        )
        return entry

    def call(self, request: Message | bytes = b"", *args: Any, **kwargs: Any) -> Entry:
        """Record a call that arrives and is OK at once."""
        return self.end(self.begin(request, *args, **kwargs))

    def fail(self, code: str, request: Message | bytes = b"", *args: Any, **kwargs: Any) -> Entry:
        """Record a call that arrives and fails at once."""
        entry = self.begin(request, *args, **kwargs)
        number = STATUS_CODES.index(code)
        return self.end(entry, code, number=number, message=f"because of {code}")

    def sequences(self, wanted: CallFilter) -> list[int]:
        """Return the sequence numbers of the calls that match."""
        return [moment.entry.sequence for moment in wanted.matching(self.journal.moments())]
