"""The one table from typed errors to gRPC codes.

The codes are those of the error tables in the CSI spec, section "RPC Interface" of each RPC, and
of its section "Error Scheme".
"""

from __future__ import annotations

import logging

import grpc

from mockdriver.cloud import errors as cloud
from mockdriver.driver import errors as driver
from mockdriver.faults.errors import InjectedFailure

Code = grpc.StatusCode

CODES: dict[type[Exception], grpc.StatusCode] = {
    driver.InvalidField: Code.INVALID_ARGUMENT,
    driver.NotImplementedRpc: Code.UNIMPLEMENTED,
    driver.OperationPending: Code.ABORTED,
    driver.PathInTheWay: Code.FAILED_PRECONDITION,
    driver.NotPublishedHere: Code.FAILED_PRECONDITION,
    driver.MissingStagingPath: Code.FAILED_PRECONDITION,
    driver.NotAtPath: Code.NOT_FOUND,
    driver.UsedOtherwise: Code.FAILED_PRECONDITION,
    driver.ExceedsVolume: Code.FAILED_PRECONDITION,
    driver.InvalidToken: Code.ABORTED,
    driver.IncompatibleRepeat: Code.ALREADY_EXISTS,
    driver.CapacityOutOfRange: Code.OUT_OF_RANGE,
    driver.NoAccessibleZone: Code.RESOURCE_EXHAUSTED,
    driver.NoInstance: Code.FAILED_PRECONDITION,
    driver.DriverStopped: Code.UNAVAILABLE,
    driver.PatienceExhausted: Code.UNAVAILABLE,
    driver.AttachmentVanished: Code.ABORTED,
    driver.AttachmentReturned: Code.ABORTED,
    cloud.InstanceNotFound: Code.NOT_FOUND,
    cloud.DiskNotFound: Code.NOT_FOUND,
    cloud.InstanceTypeNotFound: Code.NOT_FOUND,
    cloud.NetworkInterfaceNotFound: Code.NOT_FOUND,
    cloud.NotAttached: Code.NOT_FOUND,
    cloud.ZoneNotFound: Code.RESOURCE_EXHAUSTED,
    cloud.AlreadyExists: Code.ALREADY_EXISTS,
    cloud.AlreadyAttached: Code.ALREADY_EXISTS,
    cloud.TransitionUnderWay: Code.ABORTED,
    cloud.AttachedElsewhere: Code.FAILED_PRECONDITION,
    cloud.TooManyAttachments: Code.FAILED_PRECONDITION,
    cloud.ZoneMismatch: Code.FAILED_PRECONDITION,
    cloud.BootDiskInUse: Code.FAILED_PRECONDITION,
    cloud.DiskInUse: Code.FAILED_PRECONDITION,
    cloud.ZoneInUse: Code.FAILED_PRECONDITION,
    cloud.InstanceTypeInUse: Code.FAILED_PRECONDITION,
    cloud.SlotsExhausted: Code.RESOURCE_EXHAUSTED,
    cloud.ZoneFull: Code.RESOURCE_EXHAUSTED,
    cloud.DiskSizeNotAllowed: Code.OUT_OF_RANGE,
    # Never RESOURCE_EXHAUSTED: a CO would take that for a full node.
    cloud.Throttled: Code.UNAVAILABLE,
    cloud.TooManyIds: Code.INTERNAL,
    cloud.CallerGone: Code.CANCELLED,
}

MAX_MESSAGE_CHARACTERS = 1_000
"""A message travels in a header: where these exceed 16 KiB, gRPC answers RESOURCE_EXHAUSTED by
itself, and a CO would take that for a full node. Escaped, a character can be 12 bytes."""

_log = logging.getLogger("mockdriver.driver")


def status_of(error: Exception, rpc: str) -> tuple[grpc.StatusCode, str]:
    """Return the code and the message that answer `error`.

    What a fault injects has its own code. Another error outside the table is a bug of ours: its
    text goes to the log, not to the peer.
    """
    if isinstance(error, InjectedFailure):
        return grpc.StatusCode[error.code], str(error)
    code = CODES.get(type(error))
    if code is not None:
        return code, cut(str(error))
    _log.error("%s failed for a reason that has no code", rpc, exc_info=error)
    return Code.INTERNAL, f"{rpc}: internal error of mockdriver, its log tells more"


def cut(text: str) -> str:
    """Return a message that is short enough to travel in a header."""
    if len(text) <= MAX_MESSAGE_CHARACTERS:
        return text
    return f"{text[:MAX_MESSAGE_CHARACTERS]}… ({len(text)} characters)"
