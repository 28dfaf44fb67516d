"""A call as plain data with all that is known of it, under the names of journal.proto."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from typing import Any

from mockdriver.journal.entry import Moment

_UNSAFE = re.compile("[\x7f-\x9f\u2028\u2029]")
"""What JSON leaves as it is, but readers take for a line's end, or terminals for a command."""


def record(moment: Moment, epoch_seconds: float) -> dict[str, Any]:
    """Return all fields of `Call` in journal.proto. `start` is UTC, as RFC 3339 writes it.

    `epoch_seconds` is the runtime's.
    """
    entry = moment.entry
    return {
        "sequence": entry.sequence,
        "start": timestamp(epoch_seconds + entry.started_seconds, "microseconds"),
        "duration_seconds": round(moment.duration_seconds, 6),
        "peer": entry.peer,
        "service": entry.service,
        "rpc": entry.rpc,
        "node_id": entry.node_id or "",
        "request": moment.request,
        "response": moment.response,
        "code": moment.code,
        "code_number": moment.code_number,
        "message": moment.message,
        "faults": list(moment.faults),
        "calls_in_flight": entry.calls_in_flight,
        "cloud_calls": [
            {
                "api": call.api,
                "ids": list(call.ids),
                "duration_seconds": round(call.duration_seconds, 6),
                "error": call.error,
            }
            for call in moment.cloud_calls
        ],
    }


def timestamp(utc_seconds: float, precision: str = "milliseconds") -> str:
    """Return a moment as RFC 3339 writes it, with so many digits."""
    moment = datetime.fromtimestamp(utc_seconds, UTC).replace(tzinfo=None)
    return f"{moment.isoformat(timespec=precision)}Z"


def json_line(value: Any, unsafe: re.Pattern[str] | None = None) -> str:
    """Return a value as JSON on one line.

    What `unsafe` matches is escaped besides; without it what could end a line or command terminals.
    """
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return (unsafe or _UNSAFE).sub(lambda found: f"\\u{ord(found[0]):04x}", text)
