"""What a report of a failed test shows of a mock: the calls that it was asked, and its log."""

from __future__ import annotations

from mockdriver.client import Call, ControlClient, ControlError
from mockdriver.testing.driver import Driver

MAX_CALLS = 50
MAX_LINE = 500
MAX_LOG_CHARACTERS = 10_000
_DEADLINE_SECONDS = 5.0
"""A report must not hang on a mock that does."""


def sections(driver: Driver, log_start: int = 0) -> list[tuple[str, str]]:
    """Return titles and texts: the newest calls, and the log from a place on."""
    return [
        (f"calls of {driver!r}", _calls(driver)),
        (f"log of {driver!r}", _last(driver.log_from(log_start))),
    ]


def _calls(driver: Driver) -> str:
    if not driver.is_running:
        return f"not there any more: it ended with exit code {driver.exit_code}"
    # A client of its own: the test may have closed the driver's.
    try:
        with ControlClient(driver.control_endpoint, deadline_seconds=_DEADLINE_SECONDS) as control:
            record = control.calls.record(limit=MAX_CALLS)
    except ControlError as error:
        return f"cannot be read: {error}"
    calls = [Call.of(call) for call in record.calls]
    older = record.total - len(calls)
    lines = [f"({older} older ones)"] if older > 0 else []
    lines += [_cut(str(call)) for call in calls]
    return "\n".join(lines) or "none"


def _cut(line: str) -> str:
    return line if len(line) <= MAX_LINE else f"{line[:MAX_LINE]}…({len(line)} characters)"


def _last(log: str) -> str:
    if len(log) <= MAX_LOG_CHARACTERS:
        return log
    return f"…({len(log)} characters)\n{log[-MAX_LOG_CHARACTERS:]}"
