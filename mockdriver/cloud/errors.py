"""What the cloud refuses, as typed errors with fields. They know neither CSI nor gRPC."""

from __future__ import annotations

from collections.abc import Sequence

from mockdriver.cloud.resources import Attachment

SHOWN_BYTES = 100


def quoted(value: str) -> str:
    """Return `value` quoted for a message, cut so that no input can flood the reader."""
    shown = (
        value if len(value) <= SHOWN_BYTES else f"{value[:SHOWN_BYTES]}…({len(value)} characters)"
    )
    return repr(shown)


class CloudError(Exception):
    """Base of everything that the cloud refuses."""


class InstanceNotFound(CloudError):
    """One or more instance ids are unknown; a whole batch fails for one of them."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = tuple(ids)
        super().__init__(f"no instance has the id {', '.join(map(quoted, self.ids[:5]))}")


class DiskNotFound(CloudError):
    """One or more disk ids are unknown; a whole batch fails for one of them."""

    def __init__(self, ids: Sequence[str]) -> None:
        self.ids = tuple(ids)
        super().__init__(f"no disk has the id {', '.join(map(quoted, self.ids[:5]))}")


class InstanceTypeNotFound(CloudError):
    """No instance type has this name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"no instance type has the name {quoted(name)}")


class NetworkInterfaceNotFound(CloudError):
    """The instance has fewer network interfaces than should be removed, or not that one.

    `wanted` is their number, or the id of one.
    """

    def __init__(self, instance: str, wanted: int | str, present: int) -> None:
        self.instance, self.wanted, self.present = instance, wanted, present
        shown = wanted if isinstance(wanted, int) else quoted(wanted)
        super().__init__(
            f"instance {quoted(instance)} has {present} network interfaces, cannot remove {shown}"
        )


class ZoneNotFound(CloudError):
    """The region has no such zone."""

    def __init__(self, zone: str, zones: Sequence[str]) -> None:
        self.zone, self.zones = zone, tuple(zones)
        super().__init__(f"no zone {quoted(zone)}, there are: {', '.join(self.zones)}")


class AlreadyExists(CloudError):
    """The id is taken."""

    def __init__(self, kind: str, id: str) -> None:
        self.kind, self.id = kind, id
        super().__init__(f"{kind} {quoted(id)} exists already")


class NotAttached(CloudError):
    """The disk is not attached to the instance."""

    def __init__(self, disk: str, instance: str) -> None:
        self.disk, self.instance = disk, instance
        super().__init__(f"disk {quoted(disk)} is not attached to instance {quoted(instance)}")


class AlreadyAttached(CloudError):
    """The disk is attached to this very instance."""

    def __init__(self, attachment: Attachment) -> None:
        self.attachment = attachment
        super().__init__(
            f"disk {quoted(attachment.disk)} is attached to instance "
            f"{quoted(attachment.instance)} already"
        )


class TransitionUnderWay(CloudError):
    """The attachment is in a state that the wanted change has to wait for."""

    def __init__(self, attachment: Attachment) -> None:
        self.attachment = attachment
        super().__init__(
            f"disk {quoted(attachment.disk)} is {attachment.state} on instance "
            f"{quoted(attachment.instance)}"
        )


class AttachedElsewhere(CloudError):
    """The disk is attached to another instance, and this one wants it alone."""

    def __init__(self, disk: str, instances: Sequence[str]) -> None:
        self.disk, self.instances = disk, tuple(instances)
        super().__init__(
            f"disk {quoted(disk)} is attached to instance "
            f"{', '.join(map(quoted, self.instances[:5]))}"
        )


class TooManyAttachments(CloudError):
    """The disk is attached to as many instances as it can be."""

    def __init__(self, disk: str, max_attachments: int, instances: Sequence[str]) -> None:
        self.disk, self.max_attachments, self.instances = disk, max_attachments, tuple(instances)
        super().__init__(
            f"disk {quoted(disk)} can have {max_attachments} attachments at once and has them, to "
            f"{', '.join(map(quoted, self.instances[:5]))}"
        )


class ZoneMismatch(CloudError):
    """Disk and instance are in different zones."""

    def __init__(self, disk: str, disk_zone: str, instance: str, instance_zone: str) -> None:
        self.disk, self.disk_zone = disk, disk_zone
        self.instance, self.instance_zone = instance, instance_zone
        super().__init__(
            f"disk {quoted(disk)} is in zone {quoted(disk_zone)}, instance {quoted(instance)} in "
            f"zone {quoted(instance_zone)}"
        )


class SlotsExhausted(CloudError):
    """All slots of the instance are in use."""

    def __init__(self, instance: str, slots: int, users: int) -> None:
        self.instance, self.slots, self.users = instance, slots, users
        super().__init__(f"instance {quoted(instance)} has {slots} slots and {users} slot users")


class BootDiskInUse(CloudError):
    """A boot disk stays with its instance."""

    def __init__(self, disk: str) -> None:
        self.disk = disk
        super().__init__(f"disk {quoted(disk)} is the boot disk of its instance")


class DiskInUse(CloudError):
    """An attached disk cannot be deleted."""

    def __init__(self, disk: str, instances: Sequence[str]) -> None:
        self.disk, self.instances = disk, tuple(instances)
        super().__init__(
            f"disk {quoted(disk)} is attached to {', '.join(map(quoted, self.instances[:5]))}"
        )


class ZoneInUse(CloudError):
    """A zone with something in it cannot be removed."""

    def __init__(self, zone: str, users: int) -> None:
        self.zone, self.users = zone, users
        super().__init__(f"zone {quoted(zone)} has {users} instances and disks in it")


class InstanceTypeInUse(CloudError):
    """A type that instances have cannot be removed."""

    def __init__(self, name: str, users: int) -> None:
        self.name, self.users = name, users
        super().__init__(f"instance type {quoted(name)} is that of {users} instances")


class DiskSizeNotAllowed(CloudError):
    """The disk would be smaller or larger than the cloud makes them."""

    def __init__(self, size_gib: int, min_gib: int, max_gib: int) -> None:
        self.size_gib, self.min_gib, self.max_gib = size_gib, min_gib, max_gib
        super().__init__(f"a disk of {size_gib} GiB, allowed are {min_gib} to {max_gib} GiB")


class ZoneFull(CloudError):
    """The zone has no room for a disk of this size."""

    def __init__(self, zone: str, size_gib: int, available_gib: int) -> None:
        self.zone, self.size_gib, self.available_gib = zone, size_gib, available_gib
        super().__init__(
            f"zone {quoted(zone)} has {available_gib} GiB left, too little for {size_gib} GiB"
        )


class Throttled(CloudError):
    """The API's token bucket is empty."""

    def __init__(self, api: str) -> None:
        self.api = api
        super().__init__(f"request limit of {api} exceeded")


class TooManyIds(CloudError):
    """One call named more ids than the API takes."""

    def __init__(self, api: str, given: int, max_ids: int) -> None:
        self.api, self.given, self.max_ids = api, given, max_ids
        super().__init__(f"{api} takes {max_ids} ids a call, got {given}")


class CallerGone(CloudError):
    """Whoever asked has left while the cloud, or a client of it, waited."""
