"""What the driver itself refuses, as typed errors; the cloud has its own."""

from __future__ import annotations

from mockdriver.cloud.errors import CallerGone


class DriverError(Exception):
    """Base of what the driver refuses."""


class InvalidField(DriverError):
    """A field of the request breaks a rule of the CSI spec."""

    def __init__(self, field: str, problem: str) -> None:
        self.field = field
        super().__init__(f"{field}: {problem}")


class NotImplementedRpc(DriverError):
    """The driver has no such RPC, or the capability that it needs is off."""


class OperationPending(DriverError):
    """Another call on the same object is in flight."""


class PathInTheWay(DriverError):
    """What is at a path, or is not there, stands in the way of the call.

    `missing` says that a folder on the way is not there, so that nothing can be at its end.
    """

    def __init__(self, field: str, problem: str, *, missing: bool = False) -> None:
        self.field = field
        self.missing = missing
        super().__init__(f"{field}: {problem}")


class NotPublishedHere(DriverError):
    """The volume is not attached to, or not staged on, the node that is asked to use it."""


class MissingStagingPath(DriverError):
    """A driver that stages volumes was asked to publish one without its staging path."""


class NotAtPath(DriverError):
    """The volume is not at the path that was named."""


class UsedOtherwise(DriverError):
    """The volume is in use on this node in a way that does not allow for this one."""


class ExceedsVolume(DriverError):
    """The capability that is asked for is more than the volume has."""


class InvalidToken(DriverError):
    """A page token that no earlier page has given."""


class IncompatibleRepeat(DriverError):
    """The object exists already, but is not what this call asks for."""


class CapacityOutOfRange(DriverError):
    """No disk size of the cloud lies in the capacity range."""


class NoAccessibleZone(DriverError):
    """No zone satisfies the accessibility requirements."""


class NoInstance(DriverError):
    """The Node service runs on no instance, so it has no identity."""


class PatienceExhausted(DriverError):
    """The cloud throttled a call longer than the driver's client waits."""

    def __init__(self, api: str, patience_seconds: float) -> None:
        self.api = api
        super().__init__(
            f"the cloud throttled {api} for {patience_seconds:g} s, longer than this driver waits"
        )


class AttachmentVanished(DriverError):
    """Somebody else detached the disk while this call waited for it."""


class AttachmentReturned(DriverError):
    """Somebody else put a disk back that was being detached while this call waited for its end."""


class DriverStopped(CallerGone):
    """The driver stopped, to be started again or set back, before the call could be answered.

    It is a CallerGone to whatever waits: nobody is left to go on for.
    """

    def __init__(self) -> None:
        super().__init__("the driver stopped before this call ended; try again")
