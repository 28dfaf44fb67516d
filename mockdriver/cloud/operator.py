"""The operator's console: changes out of band, without quotas, and looks that are not reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TypeVar

from mockdriver.cloud import attaching
from mockdriver.cloud.caller import Caller
from mockdriver.cloud.core import CloudCore
from mockdriver.cloud.descriptions import (
    InstanceDescription,
    InstancePage,
    InstanceView,
    Summary,
)
from mockdriver.cloud.errors import CloudError, DiskInUse, NetworkInterfaceNotFound
from mockdriver.cloud.resources import (
    NO_TAGS,
    Attachment,
    Disk,
    Instance,
    InstanceType,
    NetworkInterface,
)
from mockdriver.cloud.slots import UNTYPED
from mockdriver.cloud.store import Store
from mockdriver.cloud.transitions import IMMEDIATELY

_Answer = TypeVar("_Answer")


class Operator:
    """What the owner of the cloud can do; each method is one change at one moment."""

    def __init__(self, core: CloudCore) -> None:
        self._core = core

    def add_zone(self, zone: str) -> None:
        """Add a zone; adding it again changes nothing."""
        with self._core.lock:
            self._core.store.add_zone(zone)

    def zones(self) -> list[str]:
        """Return the zones, in the order in which they were added."""
        with self._core.lock:
            return list(self._core.store.zones)

    def put_instance_type(self, type_: InstanceType) -> None:
        """Add an instance type or change it. Never refused for slots in use."""
        with self._core.lock:
            self._core.store.put_instance_type(type_)

    def change_type(
        self, name: str, changed: Callable[[InstanceType], InstanceType]
    ) -> InstanceType:
        """Put `changed` of a type in its place, in one step; raises InstanceTypeNotFound.

        Never refused for slots in use.
        """

        def change(store: Store, now_seconds: float) -> InstanceType:
            type_ = changed(store.instance_type(name))
            store.put_instance_type(type_)
            return type_

        return self._change(change)

    def capacity_gib(self) -> int:
        """Return the room for disks that each zone has, in GiB."""
        with self._core.lock:
            return self._core.capacity_gib

    def instance_type(self, name: str) -> InstanceType:
        """Return a type; raises InstanceTypeNotFound."""
        with self._core.lock:
            return self._core.store.instance_type(name)

    def add_instance(
        self,
        instance: Instance,
        *,
        network_interfaces: int | list[str] = 1,
        boot_disk: str | None = None,
    ) -> None:
        """Add an instance with its interfaces and boot disk, all or nothing.

        A number of interfaces names them `<instance>-eni-1` and so on. A boot disk that exists is
        taken, another one is made. The boot disk comes first, so that only a lack of slots for
        disks is refused: interfaces never are. Raises AlreadyExists, InstanceTypeNotFound,
        ZoneNotFound, and what attaching raises.
        """
        if isinstance(network_interfaces, int):
            network_interfaces = [
                f"{instance.id}-eni-{n}" for n in range(1, network_interfaces + 1)
            ]
        interfaces = [NetworkInterface(id=id, instance=instance.id) for id in network_interfaces]

        def change(store: Store, now_seconds: float) -> None:
            if instance.type is not None:
                store.instance_type(instance.type)
            self._core.require_zone_if_fixed(instance.zone)
            former = None if boot_disk is None else store.disks.get(boot_disk)
            store.add_instance(instance)
            try:
                if boot_disk is not None:
                    _attach_boot_disk(store, now_seconds, instance, boot_disk)
                for interface in interfaces:
                    store.add_network_interface(interface)
            except BaseException:
                store.remove_instance(instance.id)
                if boot_disk is not None:
                    _put_back(store, boot_disk, former)
                raise
            store.add_zone(instance.zone)

        self._change(change)

    def instance(self, id: str) -> Instance:
        """Return an instance; raises InstanceNotFound."""
        with self._core.lock:
            return self._core.store.instance(id)

    def has_instance(self, id: str) -> bool:
        """Tell whether there is an instance with this id."""
        with self._core.lock:
            return id in self._core.store.instances

    def instances(self) -> list[Instance]:
        """Return all instances, in the order in which they were added."""
        with self._core.lock:
            return list(self._core.store.instances.values())

    def first_instance(self) -> Instance | None:
        """Return the oldest instance, or None; a look at one, however many there are."""
        with self._core.lock:
            return next(iter(self._core.store.instances.values()), None)

    def view_instance(self, id: str) -> InstanceView:
        """Return an instance with what is on it now; not a read. Raises InstanceNotFound."""

        def look(store: Store, now_seconds: float) -> InstanceView:
            return _view_instance(store, store.instance(id), now_seconds)

        return self._change(look)

    def find_instances(
        self, matches: Callable[[Instance], bool], *, after: int = 0, limit: int = 1000
    ) -> InstancePage:
        """Return up to `limit` instances that match, after the one in place `after`.

        All are counted, but only those of the page are looked at closely.
        """
        with self._core.lock:
            places = self._core.store.instance_places()
        found = [item for item in places if matches(item[1])]
        later = [item for item in found if item[0] > after]
        page = later[:limit]

        def look(store: Store, now_seconds: float) -> tuple[InstanceView, ...]:
            return tuple(
                _view_instance(store, store.instances[instance.id], now_seconds)
                for _, instance in page
                if instance.id in store.instances  # it may have gone since
            )

        return InstancePage(
            instances=self._change(look),
            next_place=page[-1][0] if len(later) > limit else None,
            total=len(found),
        )

    def last_instance_place(self) -> int:
        """Return the place of the newest instance in the order of adding; 0 before the first."""
        with self._core.lock:
            return self._core.store.last_instance_place

    def summary(self) -> Summary:
        """Return how much of everything there is."""
        with self._core.lock:
            store = self._core.store
            return Summary(
                instance_types=len(store.instance_types),
                instances=len(store.instances),
                network_interfaces=store.network_interface_count,
                disks=len(store.disks),
                attachments=store.attachment_count,
            )

    def role_of(self, attachment: Attachment) -> tuple[bool, InstanceType]:
        """Return whether an attachment is that of a boot disk, and the type of its instance.

        Of what has gone meanwhile it knows nothing: no boot disk, a type without limit.
        """
        with self._core.lock:
            store = self._core.store
            disk = store.disks.get(attachment.disk)
            instance = store.instances.get(attachment.instance)
            type_ = UNTYPED if instance is None else store.type_of(instance)
            return disk is not None and disk.boot, type_

    def change_instance_type(self, id: str, type_name: str | None) -> None:
        """Give an instance another type. Never refused for slots in use."""

        def change(store: Store, now_seconds: float) -> None:
            if type_name is not None:
                store.instance_type(type_name)
            store.replace_instance(replace(store.instance(id), type=type_name))

        self._change(change)

    def terminate_instance(self, id: str) -> None:
        """Remove an instance: interfaces and boot disk go with it, other disks are free at once.

        Raises InstanceNotFound.
        """

        def change(store: Store, now_seconds: float) -> None:
            occupancy = store.occupancy(store.instance(id).id)
            boot_disks = [store.disk(disk) for disk in occupancy.boot_disks]
            for attachment in occupancy.attachments.values():
                self._core.wake_watchers(attachment)
            store.remove_instance(id)
            for disk in boot_disks:
                store.remove_disk(disk)

        self._change(change)

    def add_network_interface(self, instance: str, id: str | None = None) -> NetworkInterface:
        """Add an interface, whether or not a slot is left for it.

        Raises InstanceNotFound, AlreadyExists. Without an id it gets `<instance>-eni-<n>`, n being
        the first that is free.
        """
        if id is None:
            return self.add_network_interfaces(instance, 1)[0]
        interface = NetworkInterface(id=id, instance=instance)

        def change(store: Store, now_seconds: float) -> NetworkInterface:
            store.instance(instance)
            store.add_network_interface(interface)
            return interface

        return self._change(change)

    def add_network_interfaces(self, instance: str, count: int) -> list[NetworkInterface]:
        """Add `count` interfaces with names of their own; raises InstanceNotFound."""

        def change(store: Store, now_seconds: float) -> list[NetworkInterface]:
            n = len(store.occupancy(store.instance(instance).id).network_interfaces)
            added: list[NetworkInterface] = []
            while len(added) < count:
                n += 1
                id = f"{instance}-eni-{n}"
                if not store.has_network_interface(id):
                    added.append(NetworkInterface(id=id, instance=instance))
                    store.add_network_interface(added[-1])
            return added

        return self._change(change)

    def remove_network_interface(self, instance: str, id: str) -> None:
        """Remove one interface; raises InstanceNotFound, NetworkInterfaceNotFound."""

        def change(store: Store, now_seconds: float) -> None:
            interfaces = store.occupancy(store.instance(instance).id).network_interfaces
            if id not in interfaces:
                raise NetworkInterfaceNotFound(instance, id, len(interfaces))
            store.remove_network_interface(interfaces[id])

        self._change(change)

    def remove_network_interfaces(self, instance: str, count: int = 1) -> None:
        """Remove the newest `count` interfaces.

        Raises NetworkInterfaceNotFound if there are fewer.
        """

        def change(store: Store, now_seconds: float) -> None:
            interfaces = store.occupancy(store.instance(instance).id).network_interfaces
            if count > len(interfaces):
                raise NetworkInterfaceNotFound(instance, count, len(interfaces))
            for interface in list(interfaces.values())[len(interfaces) - count :]:
                store.remove_network_interface(interface)

        self._change(change)

    def add_disk(self, disk: Disk) -> None:
        """Add a disk as given; raises AlreadyExists, ZoneNotFound."""

        def change(store: Store, now_seconds: float) -> None:
            self._core.require_zone_if_fixed(disk.zone)
            store.add_disk(disk)
            store.add_zone(disk.zone)

        self._change(change)

    def remove_disk(self, id: str) -> None:
        """Remove a disk that is attached to nothing; raises DiskNotFound, DiskInUse."""

        def change(store: Store, now_seconds: float) -> None:
            disk = store.disk(id)
            instances = [item.instance for item in store.attachments_of_disk(id)]
            if instances:
                raise DiskInUse(id, instances)
            store.remove_disk(disk)

        self._change(change)

    def disk(self, id: str) -> Disk:
        """Return a disk; raises DiskNotFound."""
        with self._core.lock:
            return self._core.store.disk(id)

    def has_disk(self, id: str) -> bool:
        """Tell whether there is a disk with this id."""
        with self._core.lock:
            return id in self._core.store.disks

    def attach(
        self,
        disk: str,
        instance: str,
        *,
        tags: Mapping[str, str] = NO_TAGS,
        immediately: bool = False,
        force: bool = False,
        make: bool = False,
    ) -> Attachment:
        """Attach a disk out of band; refuses as the API does, and raises AlreadyAttached.

        `immediately` passes over the cloud's transition. With `force` it is attached past the
        slots, in another zone and past max_attachments too. With `make` a disk that is not there is
        made, in the instance's zone.
        """

        def change(store: Store, now_seconds: float) -> Attachment:
            zone = store.instance(instance).zone
            makes = make and disk not in store.disks
            if makes:
                store.add_disk(Disk(disk, zone))
            try:
                return begin(store, now_seconds)
            except CloudError:
                if makes:
                    store.remove_disk(store.disk(disk))
                raise

        def begin(store: Store, now_seconds: float) -> Attachment:
            present = store.attachment(disk, instance)
            if present is not None:
                self._core.wake_watchers(present)
            return attaching.attach(
                store,
                now_seconds,
                disk_id=disk,
                instance_id=instance,
                tags=tags,
                transition=IMMEDIATELY if immediately else self._core.transitions.attach,
                force=force,
            )

        return self._change(change)

    def attachment(self, disk: str, instance: str) -> Attachment | None:
        """Return the attachment of a disk to an instance now, or None; not a read."""

        def look(store: Store, now_seconds: float) -> Attachment | None:
            present = store.attachment(disk, instance)
            return None if present is None else attaching.settle(store, present, now_seconds)

        return self._change(look)

    def available_gib(self, zone: str) -> int:
        """Return the room for disks that is left in a zone, in GiB."""
        with self._core.lock:
            return self._core.available_gib(zone)

    def last_disk_place(self) -> int:
        """Return the place of the newest disk in the order of creation; 0 before the first."""
        with self._core.lock:
            return self._core.store.last_place

    def detach(
        self, disk: str, instance: str, *, immediately: bool = False, force: bool = False
    ) -> Attachment | None:
        """Begin to detach out of band; the attachment while it is leaving, None once it is gone.

        `immediately` passes over the cloud's transition. With `force` a boot disk, or one that is
        busy, goes too.
        """

        def change(store: Store, now_seconds: float) -> Attachment | None:
            return self._core.detach(
                disk, instance, now_seconds, immediately=immediately, force=force
            )

        return self._change(change)

    def attachments(self, instance: str) -> list[Attachment]:
        """Return what is attached to an instance now, oldest first; not a read."""

        def look(store: Store, now_seconds: float) -> list[Attachment]:
            id = store.instance(instance).id
            attaching.settle_instance(store, id, now_seconds)
            return sorted(store.occupancy(id).attachments.values(), key=lambda item: item.number)

        return self._change(look)

    def release(self, *, instance: str | None = None, disk: str | None = None) -> int:
        """End held transitions, of one instance or disk or of all; return how many ended."""

        def change(store: Store, now_seconds: float) -> int:
            ids = list(store.instances) if instance is None else [store.instance(instance).id]
            released = 0
            for id in ids:
                occupancy = store.occupancy(id)
                for name in sorted(occupancy.pending):
                    attachment = occupancy.attachments[name]
                    pending = attachment.pending
                    if pending is not None and pending.held and disk in (None, name):
                        self._core.wake_watchers(attachment)
                        attaching.finish(store, attachment)
                        released += 1
            return released

        return self._change(change)

    def wait_until_settled(self, attachment: Attachment, caller: Caller) -> Attachment | None:
        """Wait until the attachment's transition has ended; return it, or None if it is gone.

        Waits for the clock, a release, or the last read that somebody else makes. If nobody reads
        or releases, it waits for ever: leave the caller, and CallerGone is raised.
        """
        self._core.watch(attachment, caller)
        try:
            while True:
                caller.prepare()
                present = self._core.look(attachment)
                if present is None or present.pending is None:
                    return present
                caller.wait(present.pending.due_seconds)
        finally:
            self._core.unwatch(attachment, caller)

    def slot_users(self, instance: str) -> int:
        """Return how many slots of the instance are in use now; not a read."""

        def look(store: Store, now_seconds: float) -> int:
            attaching.settle_instance(store, store.instance(instance).id, now_seconds)
            return store.slot_users(store.instance(instance))

        return self._change(look)

    def _change(self, work: Callable[[Store, float], _Answer]) -> _Answer:
        return self._core.change(work)


def _attach_boot_disk(store: Store, now_seconds: float, instance: Instance, id: str) -> None:
    if id in store.disks:
        # Settled first: what ends now ends as the attachment of a data disk.
        attaching.settle_disk(store, id, now_seconds)
        store.replace_disk(replace(store.disk(id), boot=True))
    else:
        store.add_disk(Disk(id=id, zone=instance.zone, boot=True))
    attaching.attach(store, now_seconds, disk_id=id, instance_id=instance.id)


def _put_back(store: Store, id: str, former: Disk | None) -> None:
    """Undo what was done to a disk that should have become a boot disk."""
    if former is not None:
        store.replace_disk(former)
    elif id in store.disks:
        store.remove_disk(store.disk(id))


def _view_instance(store: Store, instance: Instance, now_seconds: float) -> InstanceView:
    """Return an instance with what is on it now, attachments oldest first."""
    attaching.settle_instance(store, instance.id, now_seconds)
    occupancy = store.occupancy(instance.id)
    description = InstanceDescription(
        instance=instance,
        network_interfaces=tuple(occupancy.network_interfaces.values()),
        attachments=tuple(sorted(occupancy.attachments.values(), key=lambda item: item.number)),
        boot_disks=frozenset(occupancy.boot_disks),
    )
    return InstanceView(description, store.type_of(instance))
