"""The state of the cloud and its indexes. No rules, no clock, no lock: the layers above bring them.

Every change is O(1) in the size of the state.

What always holds, whatever is forced: an attachment's disk and instance are there, and a disk is
attached to an instance once; an interface's instance is there; ids are given once; places and
attachment numbers are never given twice. A zone or a type may be missing although something is in
it or has it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from mockdriver.cloud import slots
from mockdriver.cloud.errors import (
    AlreadyExists,
    DiskNotFound,
    InstanceNotFound,
    InstanceTypeNotFound,
)
from mockdriver.cloud.resources import Attachment, Disk, Instance, InstanceType, NetworkInterface
from mockdriver.cloud.shared_values import SharedValues
from mockdriver.cloud.users import Users


@dataclass(slots=True)
class Occupancy:
    """What is on one instance: attachments by disk id, interfaces by id, and who is under way."""

    attachments: dict[str, Attachment] = field(default_factory=dict)
    network_interfaces: dict[str, NetworkInterface] = field(default_factory=dict)
    boot_disks: set[str] = field(default_factory=set)
    pending: set[str] = field(default_factory=set)

    def oldest_first(self) -> list[Attachment]:
        """Return the attachments in the order in which they were made."""
        return sorted(self.attachments.values(), key=lambda item: item.number)

    def copy(self) -> Occupancy:
        """Return one that can be changed without this one."""
        return Occupancy(
            self.attachments.copy(),
            self.network_interfaces.copy(),
            self.boot_disks.copy(),
            self.pending.copy(),
        )


@dataclass(frozen=True, slots=True)
class LastGiven:
    """The attachment number, and the places of an instance and of a disk, that were given last."""

    number: int = 0
    instance_place: int = 0
    disk_place: int = 0

    def or_later(self, other: LastGiven) -> LastGiven:
        """Return the later one of each of two."""
        return LastGiven(
            max(self.number, other.number),
            max(self.instance_place, other.instance_place),
            max(self.disk_place, other.disk_place),
        )


@dataclass(frozen=True, slots=True)
class StoreState:
    """What a store held at one moment. Nobody changes what is in it."""

    zones: dict[str, None]
    instance_types: dict[str, InstanceType]
    instances: dict[str, Instance]
    disks: dict[str, Disk]
    occupancies: dict[str, Occupancy]
    under_way: dict[str, None]
    instances_of: dict[str, dict[str, None]]
    disks_tagged: dict[tuple[str, str], dict[str, None]]
    interfaces: dict[str, str]
    places: dict[str, int]
    instance_places: dict[str, int]
    attachment_count: int
    zone_gib: dict[str, int]
    zone_users: dict[str, int]
    type_users: dict[str, int]
    last: LastGiven


class Store:
    """All resources by id, and where each attachment is."""

    def __init__(self) -> None:
        self.zones: dict[str, None] = {}
        self.instance_types: dict[str, InstanceType] = {}
        self.instances: dict[str, Instance] = {}
        self.disks: dict[str, Disk] = {}
        self._occupancies: SharedValues[str, Occupancy] = SharedValues(Occupancy.copy)
        self._under_way: dict[str, None] = {}
        self._instances_of: SharedValues[str, dict[str, None]] = SharedValues(dict.copy)
        self._disks_tagged: SharedValues[tuple[str, str], dict[str, None]] = SharedValues(dict.copy)
        self._interfaces: dict[str, str] = {}
        self._places: dict[str, int] = {}
        self._instance_places: dict[str, int] = {}
        self._attachment_count = 0
        self._zone_gib: dict[str, int] = {}
        self._zone_users = Users()
        self._type_users = Users()
        self._last = LastGiven()

    # --------------------------------------------------------------------------------- all at once

    def state(self) -> StoreState:
        """Return what is there now. It costs a copy of each dict, not of what is in them."""
        return StoreState(
            zones=self.zones.copy(),
            instance_types=self.instance_types.copy(),
            instances=self.instances.copy(),
            disks=self.disks.copy(),
            occupancies=self._occupancies.snapshot(),
            under_way=self._under_way.copy(),
            instances_of=self._instances_of.snapshot(),
            disks_tagged=self._disks_tagged.snapshot(),
            interfaces=self._interfaces.copy(),
            places=self._places.copy(),
            instance_places=self._instance_places.copy(),
            attachment_count=self._attachment_count,
            zone_gib=self._zone_gib.copy(),
            zone_users=self._zone_users.snapshot(),
            type_users=self._type_users.snapshot(),
            last=self._last,
        )

    def put_back(self, state: StoreState) -> None:
        """Hold again what `state` says; numbers and places that were given since stay given."""
        self.zones = state.zones.copy()
        self.instance_types = state.instance_types.copy()
        self.instances = state.instances.copy()
        self.disks = state.disks.copy()
        self._occupancies.restore(state.occupancies)
        self._under_way = state.under_way.copy()
        self._instances_of.restore(state.instances_of)
        self._disks_tagged.restore(state.disks_tagged)
        self._interfaces = state.interfaces.copy()
        self._places = state.places.copy()
        self._instance_places = state.instance_places.copy()
        self._attachment_count = state.attachment_count
        self._zone_gib = state.zone_gib.copy()
        self._zone_users.restore(state.zone_users)
        self._type_users.restore(state.type_users)
        # A state may come from another store, whose numbers are higher.
        self._last = self._last.or_later(state.last)

    @property
    def last(self) -> LastGiven:
        """The numbers and places that were given last."""
        return self._last

    def go_on_after(self, last: LastGiven) -> None:
        """Give no number and no place again that another store has given."""
        self._last = self._last.or_later(last)

    # ------------------------------------------------------------------------------ zones and types

    def add_zone(self, zone: str) -> None:
        """Add a zone; adding it again changes nothing."""
        self.zones[zone] = None

    def remove_zone(self, zone: str) -> None:
        """Remove a zone. What is in it stays."""
        del self.zones[zone]

    def zone_users(self, zone: str) -> int:
        """Return how many instances and disks are in a zone."""
        return self._zone_users[zone]

    def gib_in_zone(self, zone: str) -> int:
        """Return the size of all disks of a zone, in GiB."""
        return self._zone_gib.get(zone, 0)

    def instance_type(self, name: str) -> InstanceType:
        """Return the type, or raise InstanceTypeNotFound."""
        try:
            return self.instance_types[name]
        except KeyError:
            raise InstanceTypeNotFound(name) from None

    def put_instance_type(self, type_: InstanceType) -> None:
        """Add a type or replace the one of this name."""
        self.instance_types[type_.name] = type_

    def remove_instance_type(self, name: str) -> None:
        """Remove a type. Instances keep its name."""
        del self.instance_types[name]

    def type_users(self, name: str) -> int:
        """Return how many instances have a type."""
        return self._type_users[name]

    def type_of(self, instance: Instance) -> InstanceType:
        """Return the instance's type; one without limit where it has none, or one that has gone."""
        if instance.type is None:
            return slots.UNTYPED
        return self.instance_types.get(instance.type, slots.UNTYPED)

    # ------------------------------------------------------------------------------------ instances

    def instance(self, id: str) -> Instance:
        """Return the instance, or raise InstanceNotFound."""
        try:
            return self.instances[id]
        except KeyError:
            raise InstanceNotFound([id]) from None

    def add_instance(self, instance: Instance) -> None:
        """Add an instance; raises AlreadyExists."""
        if instance.id in self.instances:
            raise AlreadyExists("instance", instance.id)
        self.instances[instance.id] = instance
        self._last = replace(self._last, instance_place=self._last.instance_place + 1)
        self._instance_places[instance.id] = self._last.instance_place
        self._occupancies.add(instance.id, Occupancy())
        self._count_instance(instance, 1)

    def replace_instance(self, instance: Instance) -> None:
        """Put a changed record in the place of the instance with its id."""
        self._count_instance(self.instances[instance.id], -1)
        self.instances[instance.id] = instance
        self._count_instance(instance, 1)

    def remove_instance(self, id: str) -> None:
        """Remove an instance, its interfaces and its attachments."""
        occupancy = self._occupancies[id]
        for attachment in tuple(occupancy.attachments.values()):
            self.remove_attachment(attachment)
        for interface in tuple(occupancy.network_interfaces.values()):
            self.remove_network_interface(interface)
        self._count_instance(self.instances[id], -1)
        self._occupancies.remove(id)
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
        return self._last.instance_place

    def occupancy(self, instance: str) -> Occupancy:
        """Return what is on the instance, to look at."""
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

    def _count_instance(self, instance: Instance, by: int) -> None:
        self._zone_users.count(instance.zone, by)
        if instance.type is not None:
            self._type_users.count(instance.type, by)

    # ----------------------------------------------------------------------------------- interfaces

    def add_network_interface(self, interface: NetworkInterface) -> None:
        """Add an interface to its instance; raises AlreadyExists."""
        if interface.id in self._interfaces:
            raise AlreadyExists("network interface", interface.id)
        self._interfaces[interface.id] = interface.instance
        self._occupancies.own(interface.instance).network_interfaces[interface.id] = interface

    def has_network_interface(self, id: str) -> bool:
        """Tell whether any instance has an interface with this id."""
        return id in self._interfaces

    def remove_network_interface(self, interface: NetworkInterface) -> None:
        """Remove an interface from its instance."""
        del self._interfaces[interface.id]
        del self._occupancies.own(interface.instance).network_interfaces[interface.id]

    @property
    def network_interface_count(self) -> int:
        """How many network interfaces there are on all instances."""
        return len(self._interfaces)

    # ---------------------------------------------------------------------------------------- disks

    def disk(self, id: str) -> Disk:
        """Return the disk, or raise DiskNotFound."""
        try:
            return self.disks[id]
        except KeyError:
            raise DiskNotFound([id]) from None

    def add_disk(self, disk: Disk) -> None:
        """Add a disk; raises AlreadyExists."""
        if disk.id in self.disks:
            raise AlreadyExists("disk", disk.id)
        self.disks[disk.id] = disk
        self._last = replace(self._last, disk_place=self._last.disk_place + 1)
        self._places[disk.id] = self._last.disk_place
        self._instances_of.add(disk.id, {})
        self._index_disk(disk)

    def replace_disk(self, disk: Disk) -> None:
        """Put a changed record in the place of the disk with its id."""
        self._unindex_disk(self.disks[disk.id])
        self.disks[disk.id] = disk
        self._index_disk(disk)
        for instance in self._instances_of[disk.id]:
            boot_disks = self._occupancies.own(instance).boot_disks
            if disk.boot:
                boot_disks.add(disk.id)
            else:
                boot_disks.discard(disk.id)

    def remove_disk(self, disk: Disk) -> None:
        """Remove a disk that nothing is attached to."""
        self._unindex_disk(self.disks.pop(disk.id))
        del self._places[disk.id]
        self._instances_of.remove(disk.id)

    def disks_tagged(self, key: str, value: str) -> list[Disk]:
        """Return the disks that carry this tag, oldest first."""
        return [self.disks[id] for id in self._disks_tagged.get((key, value)) or ()]

    def disks_after(self, place: int) -> Iterator[tuple[int, Disk]]:
        """Yield disks, with their places in the order of creation, after `place`.

        A place is never given twice, so it stays good when the disk that had it has gone.
        """
        for id, own_place in self._places.items():
            if own_place > place:
                yield own_place, self.disks[id]

    def disk_places(self) -> list[tuple[int, Disk]]:
        """Return all disks with their places in the order of creation."""
        return list(zip(self._places.values(), self.disks.values(), strict=True))

    def place_of_disk(self, id: str) -> int:
        """Return the place of a disk that is there."""
        return self._places[id]

    @property
    def last_place(self) -> int:
        """The place of the newest disk that there ever was; 0 before the first."""
        return self._last.disk_place

    def _index_disk(self, disk: Disk) -> None:
        self._zone_gib[disk.zone] = self._zone_gib.get(disk.zone, 0) + disk.size_gib
        self._zone_users.count(disk.zone, 1)
        for tag in disk.tags.items():
            if tag in self._disks_tagged:
                self._disks_tagged.own(tag)[disk.id] = None
            else:
                self._disks_tagged.add(tag, {disk.id: None})

    def _unindex_disk(self, disk: Disk) -> None:
        self._zone_gib[disk.zone] -= disk.size_gib
        self._zone_users.count(disk.zone, -1)
        for tag in disk.tags.items():
            del self._disks_tagged.own(tag)[disk.id]
            if not self._disks_tagged[tag]:
                self._disks_tagged.remove(tag)

    # ---------------------------------------------------------------------------------- attachments

    def next_number(self) -> int:
        """Return an attachment number that was never given before."""
        self._last = replace(self._last, number=self._last.number + 1)
        return self._last.number

    def put_attachment(self, attachment: Attachment) -> None:
        """Add an attachment, or put its changed record in place of the old one."""
        occupancy = self._occupancies.own(attachment.instance)
        if attachment.disk not in occupancy.attachments:
            self._attachment_count += 1
            self._instances_of.own(attachment.disk)[attachment.instance] = None
            if self.disks[attachment.disk].boot:
                occupancy.boot_disks.add(attachment.disk)
        occupancy.attachments[attachment.disk] = attachment
        if attachment.pending is None:
            self._settle(occupancy, attachment)
        else:
            occupancy.pending.add(attachment.disk)
            self._under_way[attachment.instance] = None

    def remove_attachment(self, attachment: Attachment) -> None:
        """Remove an attachment; its number is never given again."""
        occupancy = self._occupancies.own(attachment.instance)
        del occupancy.attachments[attachment.disk]
        self._attachment_count -= 1
        self._settle(occupancy, attachment)
        occupancy.boot_disks.discard(attachment.disk)
        del self._instances_of.own(attachment.disk)[attachment.instance]

    def attachment(self, disk: str, instance: str) -> Attachment | None:
        """Return the attachment of this disk to this instance, or None."""
        occupancy = self._occupancies.get(instance)
        return None if occupancy is None else occupancy.attachments.get(disk)

    def attachments_of_disk(self, disk: str) -> Iterator[Attachment]:
        """Yield the attachments of a disk, oldest first."""
        for instance in self._instances_of[disk]:
            yield self._occupancies[instance].attachments[disk]

    def attachments(self) -> Iterator[Attachment]:
        """Yield all attachments, instance by instance."""
        for instance in self._occupancies:
            yield from self._occupancies[instance].attachments.values()

    def instances_under_way(self) -> Iterable[str]:
        """Return the ids of the instances that have a transition under way."""
        return tuple(self._under_way)

    @property
    def attachment_count(self) -> int:
        """How many attachments there are on all instances."""
        return self._attachment_count

    def _settle(self, occupancy: Occupancy, attachment: Attachment) -> None:
        occupancy.pending.discard(attachment.disk)
        if not occupancy.pending:
            self._under_way.pop(attachment.instance, None)
