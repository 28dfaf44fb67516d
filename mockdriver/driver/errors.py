"""What the driver itself refuses, as typed errors; the cloud has its own."""

from __future__ import annotations


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
