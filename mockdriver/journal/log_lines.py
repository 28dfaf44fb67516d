"""How a call, or a remark of the program, looks as one line of log."""

from __future__ import annotations

import logging
from collections.abc import Callable
from enum import StrEnum
from typing import Any

from mockdriver.journal.e2e_lines import e2e_line
from mockdriver.journal.entry import Entry
from mockdriver.journal.records import json_line, timestamp

MAX_BODY_BYTES = 64 * 1024
"""A longer request or response is not written out: nobody reads a line of megabytes."""


class LogFormat(StrEnum):
    """The forms of a log line."""

    TEXT = "text"
    JSON = "json"
    KUBERNETES_E2E = "kubernetes-e2e"


def call_line(entry: Entry, log_format: LogFormat, epoch_seconds: float) -> str:
    """Return the line for a call that has ended, secrets stripped, without a line end."""
    if log_format is LogFormat.KUBERNETES_E2E:
        return e2e_line(entry)
    fields: dict[str, Any] = {
        "time": timestamp(epoch_seconds + entry.started_seconds),
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
        return json_line({key: value for key, value in fields.items() if value not in (None, "")})
    parts = [fields["time"], entry.rpc, entry.code, f"{entry.duration_seconds * 1000:.2f}ms"]
    if entry.node_id is not None:
        parts.append(f"node={json_line(entry.node_id)}")
    parts.append(json_line(fields["request"]))
    if entry.code == "OK":
        parts.append(f"-> {json_line(fields['response'])}")
    if entry.message:
        parts.append(f"message={json_line(entry.message)}")
    return " ".join(parts)


def record_line(record: logging.LogRecord, log_format: LogFormat) -> str:
    """Return the line for a log record; a traceback keeps its lines in text form."""
    message = record.getMessage()
    trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else ""
    if log_format is LogFormat.JSON:
        fields = {
            "time": timestamp(record.created),
            "level": record.levelname,
            "message": message,
            "traceback": trace,
        }
        return json_line({key: value for key, value in fields.items() if value})
    line = f"{timestamp(record.created)} {record.levelname} {message}"
    return f"{line}\n{trace}" if trace else line


def _body(body: bytes, decoded: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    if len(body) > MAX_BODY_BYTES:
        return {"omitted_bytes": len(body)}
    return decoded()
