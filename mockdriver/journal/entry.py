"""One call in the journal."""

from __future__ import annotations

from typing import Any, NamedTuple

from google.protobuf.message import DecodeError, Message

from mockdriver.journal.redaction import plain

RUNNING = "RUNNING"
"""Stands in the place of the code while a call is in flight."""


class CloudCall(NamedTuple):
    """A call of the cloud's API; `error` is the name of the error that ended it, or empty."""

    api: str
    ids: tuple[str, ...]
    duration_seconds: float
    error: str


class Entry:
    """A call: recorded when it arrives, completed when it ends.

    `faults` are the names of the faults that acted on it; whoever applies them sets it.

    It keeps the bytes of request and response; they are decoded, without secrets, when somebody
    reads them. `started_seconds` and `duration_seconds` are on the runtime's clock.
    `calls_in_flight` counts the others that ran when this one arrived. `code` is the name of the
    gRPC status code, `RUNNING` while there is none.
    """

    __slots__ = (
        "_cloud_calls",
        "calls_in_flight",
        "code",
        "code_number",
        "duration_seconds",
        "faults",
        "message",
        "node_id",
        "peer",
        "request_bytes",
        "request_type",
        "response_bytes",
        "response_type",
        "rpc",
        "sequence",
        "service",
        "started_seconds",
    )

    def __init__(
        self,
        *,
        sequence: int,
        started_seconds: float,
        service: str,
        rpc: str,
        request_type: type[Message],
        response_type: type[Message],
        request_bytes: bytes,
        peer: str,
        node_id: str | None,
        calls_in_flight: int,
    ) -> None:
        self.sequence = sequence
        self.started_seconds = started_seconds
        self.service = service
        self.rpc = rpc
        self.request_type = request_type
        self.response_type = response_type
        self.request_bytes = request_bytes
        self.response_bytes = b""
        self.peer = peer
        self.node_id = node_id
        self.calls_in_flight = calls_in_flight
        self.code = RUNNING
        self.code_number = -1
        self.message = ""
        self.duration_seconds = 0.0
        self.faults: tuple[str, ...] = ()
        self._cloud_calls: list[CloudCall] | None = None

    @property
    def cloud_calls(self) -> tuple[CloudCall, ...]:
        """The calls of the cloud's API that it has made so far, in the order of their ends."""
        return () if self._cloud_calls is None else tuple(self._cloud_calls)

    def add_cloud_call(self, call: CloudCall) -> None:
        """Record a call of the cloud's API that has ended."""
        if self._cloud_calls is None:
            self._cloud_calls = [call]
        else:
            self._cloud_calls.append(call)

    def request(self) -> dict[str, Any]:
        """Return the request as plain data; bytes that are no request at all give nothing."""
        return _plain(decoded(self.request_type, self.request_bytes))

    def response(self) -> dict[str, Any]:
        """Return the response as plain data; nothing unless the call was OK."""
        return _plain(decoded(self.response_type, self.response_bytes))

    @property
    def ended(self) -> bool:
        """Whether the call has been answered; all else is written before this turns true."""
        return self.code is not RUNNING


class _Unread:
    """Stands in the place of a message that nobody has read yet."""


_UNREAD = _Unread()


class Moment:
    """A call as it was at one moment: when it arrived, or at a look into the record.

    What a call in flight will be answered is not in a moment of before. Request and response are
    decoded at most once, and only if somebody asks.
    """

    __slots__ = ("_arriving", "_request", "_response", "ended", "entry")

    def __init__(self, entry: Entry, *, ended: bool, arriving: bool = False) -> None:
        self.entry = entry
        self.ended = ended
        self._arriving = arriving
        self._request: Message | _Unread | None = _UNREAD
        self._response: Message | _Unread | None = _UNREAD

    @property
    def faults(self) -> tuple[str, ...]:
        """The names of the faults that have acted; none when the call has just arrived."""
        return () if self._arriving else self.entry.faults

    @property
    def cloud_calls(self) -> tuple[CloudCall, ...]:
        """The calls of the cloud's API so far; none when the call has just arrived."""
        return () if self._arriving else self.entry.cloud_calls

    @property
    def code(self) -> str:
        """The name of the code that the call was answered with, or RUNNING."""
        return self.entry.code if self.ended else RUNNING

    @property
    def code_number(self) -> int:
        """The number of the code, or -1."""
        return self.entry.code_number if self.ended else -1

    @property
    def message(self) -> str:
        """The message beside the code."""
        return self.entry.message if self.ended else ""

    @property
    def duration_seconds(self) -> float:
        """How long the call took; 0 while it is in flight."""
        return self.entry.duration_seconds if self.ended else 0.0

    @property
    def request_message(self) -> Message | None:
        """The request with its secrets; None if its bytes are none."""
        if isinstance(self._request, _Unread):
            self._request = decoded(self.entry.request_type, self.entry.request_bytes)
        return self._request

    @property
    def response_message(self) -> Message | None:
        """The response with its secrets; None unless the call was OK."""
        if isinstance(self._response, _Unread):
            is_ok = self.ended and self.entry.code == "OK"
            body = self.entry.response_bytes
            self._response = decoded(self.entry.response_type, body) if is_ok else None
        return self._response

    @property
    def request(self) -> dict[str, Any]:
        """The request as plain data, without secrets."""
        return _plain(self.request_message)

    @property
    def response(self) -> dict[str, Any]:
        """The response as plain data, without secrets; nothing unless the call was OK."""
        return _plain(self.response_message)


def decoded(type_: type[Message], body: bytes) -> Message | None:
    """Return the message that has these bytes, or None if none has."""
    message = type_()
    try:
        message.ParseFromString(body)
    except DecodeError:
        return None
    return message


def _plain(message: Message | None) -> dict[str, Any]:
    return {} if message is None else plain(message)
