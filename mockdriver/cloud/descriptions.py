"""What describe calls answer: a resource together with what hangs on it, at one moment."""

from __future__ import annotations

from dataclasses import dataclass

from mockdriver.cloud.resources import (
    Attachment,
    Disk,
    Instance,
    InstanceType,
    NetworkInterface,
)


@dataclass(frozen=True, slots=True)
class InstanceDescription:
    """An instance, its interfaces and its attachments. `boot_disks` are the ids among them."""

    instance: Instance
    network_interfaces: tuple[NetworkInterface, ...]
    attachments: tuple[Attachment, ...]
    boot_disks: frozenset[str]

    def is_boot(self, attachment: Attachment) -> bool:
        """Tell whether an attachment is that of a boot disk."""
        return attachment.disk in self.boot_disks

    def attachments_using_slots(self, type_: InstanceType) -> tuple[Attachment, ...]:
        """Return the attachments whose disks use a slot of an instance of this type."""
        if type_.boot_disk_uses_slot or not self.boot_disks:
            return self.attachments
        return tuple(item for item in self.attachments if item.disk not in self.boot_disks)


@dataclass(frozen=True, slots=True)
class InstanceView:
    """An instance, its type (one without limit if it has none), and what is on it."""

    description: InstanceDescription
    type: InstanceType


@dataclass(frozen=True, slots=True)
class InstancePage:
    """Some of all instances that were asked for. `next_place` is the last one's, None at the end.

    `total` is how many there are in all.
    """

    instances: tuple[InstanceView, ...]
    next_place: int | None
    total: int


@dataclass(frozen=True, slots=True)
class ZoneView:
    """A zone, and the room for disks that is left in it, in GiB."""

    name: str
    available_gib: int


@dataclass(frozen=True, slots=True)
class Summary:
    """How much of everything a cloud has; `capacity_gib` is the room for disks in each zone."""

    region: str
    zones: tuple[str, ...]
    capacity_gib: int
    instance_types: int
    instances: int
    network_interfaces: int
    disks: int
    attachments: int


@dataclass(frozen=True, slots=True)
class DiskPage:
    """Some of all disks, with their places in the order of creation, and whether more follow."""

    disks: tuple[tuple[int, DiskDescription], ...]
    more: bool


@dataclass(frozen=True, slots=True)
class DiskDescription:
    """A disk and its attachments."""

    disk: Disk
    attachments: tuple[Attachment, ...]

    def attachment_to(self, instance: str) -> Attachment | None:
        """Return the attachment to this instance, or None."""
        return next((item for item in self.attachments if item.instance == instance), None)


@dataclass(frozen=True, slots=True)
class FoundDisks:
    """Some of all disks that were asked for. `next_place` is the last one's, None at the end.

    `total` is how many there are in all.
    """

    disks: tuple[DiskDescription, ...]
    next_place: int | None
    total: int
