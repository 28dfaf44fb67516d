"""How a call, or a remark of the program, looks as one line of log."""

from __future__ import annotations

import json
import logging
import re
from collections.abc import Callable
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any

from mockdriver.journal.entry import Entry

MAX_BODY_BYTES = 64 * 1024
"""A longer request or response is not written out: nobody reads a line of megabytes."""

_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029]")
"""What JSON leaves as it is, but readers take for a line's end, or terminals for a command."""


class LogFormat(StrEnum):
    """The forms of a log line."""

    TEXT = "text"
    JSON = "json"


def call_line(entry: Entry, log_format: LogFormat, epoch_seconds: float) -> str:
    """Return the line for a call that has ended, secrets stripped, without a line end."""
    fields: dict[str, Any] = {
        "time": _timestamp(epoch_seconds + entry.started_seconds),
        "call": entry.sequence,
        "rpc": entry.rpc,
        "node_id": entry.node_id,
        "code": entry.code,
        "duration_ms": round(entry.duration_seconds * 1000, 3),
        "request": _body(entry.request_bytes, entry.request),
        "response": _body(entry.response_bytes, entry.response),
        "message": entry.message,
    }
    if log_format is LogFormat.JSON:
        return _json({key: value for key, value in fields.items() if value not in (None, "")})
    parts = [fields["time"], entry.rpc, entry.code, f"{entry.duration_seconds * 1000:.2f}ms"]
    if entry.node_id is not None:
        parts.append(f"node={_json(entry.node_id)}")
    parts.append(_json(fields["request"]))
    if entry.code == "OK":
        parts.append(f"-> {_json(fields['response'])}")
    if entry.message:
        parts.append(f"message={_json(entry.message)}")
    return " ".join(parts)


def record_line(record: logging.LogRecord, log_format: LogFormat) -> str:
    """Return the line for a log record; a traceback keeps its lines in text form."""
    message = record.getMessage()
    trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
    if log_format is LogFormat.JSON:
        fields = {
            "time": _timestamp(record.created),
            "level": record.levelname,
            "message": message,
            "traceback": trace,
        }
        return _json({key: value for key, value in fields.items() if value})
    line = f"{_timestamp(record.created)} {record.levelname} {message}"
    return f"{line}\n{trace}" if trace else line


def _body(body: bytes, decoded: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    if len(body) > MAX_BODY_BYTES:
        return {"omitted_bytes": len(body)}
    return decoded()


def _timestamp(utc_seconds: float) -> str:
    moment = datetime.fromtimestamp(utc_seconds, UTC)
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"


def _json(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
