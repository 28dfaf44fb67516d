"""The state of the cloud and its indexes. No rules, no clock, no lock: the layers above bring them.

Every change is O(1) in the size of the state.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from mockdriver.cloud import slots
from mockdriver.cloud.errors import (
    AlreadyExists,
    DiskNotFound,
    InstanceNotFound,
    InstanceTypeNotFound,
)
from mockdriver.cloud.resources import Attachment, Disk, Instance, InstanceType, NetworkInterface


@dataclass(slots=True)
class Occupancy:
    """What is on one instance: attachments by disk id, interfaces by id, and who is under way."""

    attachments: dict[str, Attachment] = field(default_factory=dict)
    network_interfaces: dict[str, NetworkInterface] = field(default_factory=dict)
    boot_disks: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)


class Store:
    """All resources by id, and where each attachment is."""

    def __init__(self) -> None:
        self.zones: dict[str, None] = {}
        self.instance_types: dict[str, InstanceType] = {}
        self.instances: dict[str, Instance] = {}
        self.disks: dict[str, Disk] = {}
        self._occupancies: dict[str, Occupancy] = {}
        self._instances_of: dict[str, dict[str, None]] = {}
        self._disks_tagged: dict[tuple[str, str], dict[str, None]] = {}
        self._interfaces: dict[str, str] = {}
        self._last_number = 0
        self._attachment_count = 0
        self._places: dict[str, int] = {}
        self._last_place = 0
        self._instance_places: dict[str, int] = {}
        self._last_instance_place = 0
        self._zone_gib: dict[str, int] = {}

    def instance(self, id: str) -> Instance:
        """Return the instance, or raise InstanceNotFound."""
        try:
            return self.instances[id]
        except KeyError:
            raise InstanceNotFound([id]) from None

    def disk(self, id: str) -> Disk:
        """Return the disk, or raise DiskNotFound."""
        try:
            return self.disks[id]
        except KeyError:
            raise DiskNotFound([id]) from None

    def instance_type(self, name: str) -> InstanceType:
        """Return the type, or raise InstanceTypeNotFound."""
        try:
            return self.instance_types[name]
        except KeyError:
            raise InstanceTypeNotFound(name) from None

    def type_of(self, instance: Instance) -> InstanceType:
        """Return the instance's type; one without limit where it has none."""
        return slots.UNTYPED if instance.type is None else self.instance_type(instance.type)

    def add_zone(self, zone: str) -> None:
        """Add a zone; adding it again changes nothing."""
        self.zones[zone] = None

    def put_instance_type(self, type_: InstanceType) -> None:
        """Add a type or replace the one of this name."""
        self.instance_types[type_.name] = type_

    def add_instance(self, instance: Instance) -> None:
        """Add an instance; raises AlreadyExists."""
        if instance.id in self.instances:
            raise AlreadyExists("instance", instance.id)
        self.instances[instance.id] = instance
        self._last_instance_place += 1
        self._instance_places[instance.id] = self._last_instance_place
        self._occupancies[instance.id] = Occupancy()

    def replace_instance(self, instance: Instance) -> None:
        """Put a changed record in the place of the instance with its id."""
        self.instances[instance.id] = instance

    def remove_instance(self, id: str) -> None:
        """Remove an instance, its interfaces and its attachments."""
        occupancy = self._occupancies[id]
        for attachment in tuple(occupancy.attachments.values()):
            self.remove_attachment(attachment)
        for interface in tuple(occupancy.network_interfaces.values()):
            self.remove_network_interface(interface)
        del self._occupancies[id]
        del self._instance_places[id]
        del self.instances[id]

    def instance_places(self) -> list[tuple[int, Instance]]:
        """Return all instances with their places in the order in which they were added.

        A place is never given twice.
        """
        return list(zip(self._instance_places.values(), self.instances.values(), strict=True))

    @property
    def last_instance_place(self) -> int:
        """The place of the newest instance that there ever was; 0 before the first."""
        return self._last_instance_place

    @property
    def network_interface_count(self) -> int:
        """How many network interfaces there are on all instances."""
        return len(self._interfaces)

    @property
    def attachment_count(self) -> int:
        """How many attachments there are on all instances."""
        return self._attachment_count

    def add_network_interface(self, interface: NetworkInterface) -> None:
        """Add an interface to its instance; raises AlreadyExists."""
        if interface.id in self._interfaces:
            raise AlreadyExists("network interface", interface.id)
        self._interfaces[interface.id] = interface.instance
        self._occupancies[interface.instance].network_interfaces[interface.id] = interface

    def has_network_interface(self, id: str) -> bool:
        """Tell whether any instance has an interface with this id."""
        return id in self._interfaces

    def remove_network_interface(self, interface: NetworkInterface) -> None:
        """Remove an interface from its instance."""
        del self._interfaces[interface.id]
        del self._occupancies[interface.instance].network_interfaces[interface.id]

    def add_disk(self, disk: Disk) -> None:
        """Add a disk; raises AlreadyExists."""
        if disk.id in self.disks:
            raise AlreadyExists("disk", disk.id)
        self.disks[disk.id] = disk
        self._last_place += 1
        self._places[disk.id] = self._last_place
        self._zone_gib[disk.zone] = self._zone_gib.get(disk.zone, 0) + disk.size_gib
        self._instances_of[disk.id] = {}
        for tag in disk.tags.items():
            self._disks_tagged.setdefault(tag, {})[disk.id] = None

    def replace_disk(self, disk: Disk) -> None:
        """Put a changed record in the place of the disk with its id; tags stay as they are."""
        self.disks[disk.id] = disk

    def remove_disk(self, disk: Disk) -> None:
        """Remove a disk that nothing is attached to."""
        del self.disks[disk.id]
        del self._places[disk.id]
        self._zone_gib[disk.zone] -= disk.size_gib
        del self._instances_of[disk.id]
        for tag in disk.tags.items():
            self._disks_tagged[tag].pop(disk.id)
            if not self._disks_tagged[tag]:
                del self._disks_tagged[tag]

    def disks_tagged(self, key: str, value: str) -> list[Disk]:
        """Return the disks that carry this tag, oldest first."""
        return [self.disks[id] for id in self._disks_tagged.get((key, value), ())]

    def disks_after(self, place: int) -> Iterator[tuple[int, Disk]]:
        """Yield disks, with their places in the order of creation, after `place`.

        A place is never given twice, so it stays good when the disk that had it has gone.
        """
        for id, own_place in self._places.items():
            if own_place > place:
                yield own_place, self.disks[id]

    @property
    def last_place(self) -> int:
        """The place of the newest disk that there ever was; 0 before the first."""
        return self._last_place

    def gib_in_zone(self, zone: str) -> int:
        """Return the size of all disks of a zone, in GiB."""
        return self._zone_gib.get(zone, 0)

    def next_number(self) -> int:
        """Return an attachment number that was never given before."""
        self._last_number += 1
        return self._last_number

    def put_attachment(self, attachment: Attachment) -> None:
        """Add an attachment, or put its changed record in place of the old one."""
        occupancy = self._occupancies[attachment.instance]
        self._attachment_count += attachment.disk not in occupancy.attachments
        occupancy.attachments[attachment.disk] = attachment
        if attachment.pending is None:
            occupancy.pending.discard(attachment.disk)
        else:
            occupancy.pending.add(attachment.disk)
        if self.disks[attachment.disk].boot:
            occupancy.boot_disks.add(attachment.disk)
        self._instances_of[attachment.disk][attachment.instance] = None

    def remove_attachment(self, attachment: Attachment) -> None:
        """Remove an attachment; its number is never given again."""
        occupancy = self._occupancies[attachment.instance]
        del occupancy.attachments[attachment.disk]
        self._attachment_count -= 1
        occupancy.pending.discard(attachment.disk)
        occupancy.boot_disks.discard(attachment.disk)
        del self._instances_of[attachment.disk][attachment.instance]

    def attachment(self, disk: str, instance: str) -> Attachment | None:
        """Return the attachment of this disk to this instance, or None."""
        occupancy = self._occupancies.get(instance)
        return None if occupancy is None else occupancy.attachments.get(disk)

    def attachments_of_disk(self, disk: str) -> Iterator[Attachment]:
        """Yield the attachments of a disk, oldest first."""
        for instance in self._instances_of[disk]:
            yield self._occupancies[instance].attachments[disk]

    def occupancy(self, instance: str) -> Occupancy:
        """Return what is on the instance."""
        return self._occupancies[instance]

    def slot_users(self, instance: Instance) -> int:
        """Return how many slots of the instance are in use."""
        occupancy = self._occupancies[instance.id]
        return slots.slot_users(
            self.type_of(instance),
            disks=len(occupancy.attachments),
            boot_disks=len(occupancy.boot_disks),
            network_interfaces=len(occupancy.network_interfaces),
        )
