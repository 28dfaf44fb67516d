"""How the control API answers typed errors: which code, and with what words.

What the cloud refuses has the code that the driver answers it with, so there is one table of these.
"""

from __future__ import annotations

import logging

import grpc

from mockdriver.control import errors, faults_service, journal_service
from mockdriver.driver import status

Code = grpc.StatusCode

CODES: dict[type[Exception], grpc.StatusCode] = {
    **status.CODES,
    **faults_service.CODES,
    **journal_service.CODES,
    errors.InvalidRequest: Code.INVALID_ARGUMENT,
    errors.NoSuchRpc: Code.UNIMPLEMENTED,
    errors.AttachmentGone: Code.ABORTED,
    errors.ScenarioRefused: Code.INVALID_ARGUMENT,
    errors.StateNotSayable: Code.FAILED_PRECONDITION,
    errors.SnapshotNotFound: Code.NOT_FOUND,
    errors.TooManySnapshots: Code.RESOURCE_EXHAUSTED,
}

ERROR_KEY = "mockdriver-error"
"""The trailing metadata that holds the name of the error."""

_log = logging.getLogger("mockdriver.control")


def status_of(error: Exception, rpc: str) -> tuple[grpc.StatusCode, str, str]:
    """Return the code, the name and the message that answer `error`.

    The message begins with the name. An error outside the table is a bug of ours: its text goes to
    the log, not to the peer.
    """
    code = CODES.get(type(error))
    name = type(error).__name__
    if code is not None:
        return code, name, status.cut(f"{name}: {error}")
    _log.error("%s failed for a reason that has no code", rpc, exc_info=error)
    message = f"InternalError: {rpc} failed for a reason that only the log tells"
    return Code.INTERNAL, "InternalError", message
