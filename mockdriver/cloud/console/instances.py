"""The operator's console: instances."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from mockdriver.cloud import attaching
from mockdriver.cloud.console.paging import page_of
from mockdriver.cloud.console.part import ConsolePart
from mockdriver.cloud.descriptions import InstanceDescription, InstancePage, InstanceView
from mockdriver.cloud.errors import ZoneMismatch
from mockdriver.cloud.resources import Disk, Instance, NetworkInterface
from mockdriver.cloud.store import Store

DiskToAttach = tuple[str, Mapping[str, str]]
"""The id of a disk, and the tags of its attachment."""


class InstancesPart(ConsolePart):
    """Instances come, change and go. A base of Operator."""

    def add_instance(
        self,
        instance: Instance,
        *,
        network_interfaces: int | Sequence[str] = 1,
        boot_disk: str | None = None,
        disks: Sequence[DiskToAttach] = (),
        force: bool = False,
    ) -> None:
        """Add an instance with its interfaces, boot disk and other disks, all or nothing.

        A number of interfaces names them `<instance>-eni-1` and so on. A disk that exists is taken,
        another one is made. Disks come first, and are attached at once: only a lack of slots for
        disks is refused, interfaces never are. Raises AlreadyExists, InstanceTypeNotFound,
        ZoneNotFound, and what attaching raises; with `force` no lack of slots, nor other zone.
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
            store.add_instance(instance)
            undo: list[Callable[[], None]] = [lambda: store.remove_instance(instance.id)]
            try:
                if boot_disk is not None:
                    undo.append(_take_boot_disk(store, now_seconds, instance, boot_disk))
                    attaching.attach(
                        store, now_seconds, disk_id=boot_disk, instance_id=instance.id, force=force
                    )
                for id, tags in disks:
                    if id not in store.disks:
                        store.add_disk(Disk(id=id, zone=instance.zone))
                        undo.append(_removal(store, id))
                    attaching.attach(
                        store,
                        now_seconds,
                        disk_id=id,
                        instance_id=instance.id,
                        tags=tags,
                        force=force,
                    )
                for interface in interfaces:
                    store.add_network_interface(interface)
            except BaseException:
                for step in undo:
                    step()
                raise
            store.add_zone(instance.zone)

        self._change(change)

    def change_instance(
        self, id: str, changed: Callable[[Instance], Instance], *, force: bool = False
    ) -> InstanceView:
        """Put `changed` of an instance in its place, in one step.

        Raises InstanceNotFound, InstanceTypeNotFound, ZoneNotFound; unless forced also ZoneMismatch
        for another zone than that of a disk that is attached. Never refused for slots in use.
        """

        def change(store: Store, now_seconds: float) -> InstanceView:
            former = store.instance(id)
            instance = changed(former)
            if instance.type is not None and instance.type != former.type:
                store.instance_type(instance.type)
            if instance.zone != former.zone:
                self._refuse_zone(store, now_seconds, instance, force)
            store.replace_instance(instance)
            store.add_zone(instance.zone)
            return _view(store, instance, now_seconds)

        return self._change(change)

    def change_instance_type(self, id: str, type_name: str | None) -> None:
        """Give an instance another type. Never refused for slots in use."""
        self.change_instance(id, lambda instance: replace(instance, type=type_name))

    def terminate_instance(self, id: str) -> None:
        """Remove an instance: interfaces and boot disk go with it, other disks are free at once.

        A boot disk that has been forced onto another instance too stays there. Raises
        InstanceNotFound.
        """

        def change(store: Store, now_seconds: float) -> None:
            occupancy = store.occupancy(store.instance(id).id)
            boot_disks = [store.disk(disk) for disk in sorted(occupancy.boot_disks)]
            for attachment in occupancy.attachments.values():
                self._core.wake_watchers(attachment)
            store.remove_instance(id)
            for disk in boot_disks:
                if next(store.attachments_of_disk(disk.id), None) is None:
                    store.remove_disk(disk)

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
            return _view(store, store.instance(id), now_seconds)

        return self._change(look)

    def find_instances(
        self, matches: Callable[[Instance], bool], *, after: int = 0, limit: int = 1000
    ) -> InstancePage:
        """Return up to `limit` instances that match, after the one in place `after`.

        All are counted, but only those of the page are looked at closely.
        """
        with self._core.lock:
            places = self._core.store.instance_places()
        page = page_of(places, matches, after=after, limit=limit)

        def look(store: Store, now_seconds: float) -> tuple[InstanceView, ...]:
            return tuple(
                [
                    _view(store, store.instances[instance.id], now_seconds)
                    for instance in page.items
                    if instance.id in store.instances  # it may have gone since
                ]
            )

        return InstancePage(self._change(look), page.next_place, page.total)

    def last_instance_place(self) -> int:
        """Return the place of the newest instance in the order of adding; 0 before the first."""
        with self._core.lock:
            return self._core.store.last_instance_place

    def slot_users(self, instance: str) -> int:
        """Return how many slots of the instance are in use now; not a read."""

        def look(store: Store, now_seconds: float) -> int:
            attaching.settle_instance(store, store.instance(instance).id, now_seconds)
            return store.slot_users(store.instance(instance))

        return self._change(look)

    def _refuse_zone(
        self, store: Store, now_seconds: float, instance: Instance, force: bool
    ) -> None:
        self._core.require_zone_if_fixed(instance.zone)
        if force:
            return
        attaching.settle_instance(store, instance.id, now_seconds)
        for id in store.occupancy(instance.id).attachments:
            disk = store.disk(id)
            if disk.zone != instance.zone:
                raise ZoneMismatch(disk.id, disk.zone, instance.id, instance.zone)


def _view(store: Store, instance: Instance, now_seconds: float) -> InstanceView:
    """Return an instance with what is on it now, attachments oldest first."""
    attaching.settle_instance(store, instance.id, now_seconds)
    occupancy = store.occupancy(instance.id)
    description = InstanceDescription(
        instance=instance,
        network_interfaces=tuple(occupancy.network_interfaces.values()),
        attachments=tuple(occupancy.oldest_first()),
        boot_disks=frozenset(occupancy.boot_disks),
    )
    return InstanceView(description, store.type_of(instance))


def _take_boot_disk(
    store: Store, now_seconds: float, instance: Instance, id: str
) -> Callable[[], None]:
    """Make a boot disk, or one out of a disk that is there; return what undoes it."""
    if id not in store.disks:
        store.add_disk(Disk(id=id, zone=instance.zone, boot=True))
        return _removal(store, id)
    # Settled first: what ends now ends as the attachment of a data disk.
    attaching.settle_disk(store, id, now_seconds)
    former = store.disk(id)
    store.replace_disk(replace(former, boot=True))
    return lambda: store.replace_disk(former)


def _removal(store: Store, id: str) -> Callable[[], None]:
    return lambda: store.remove_disk(store.disk(id))
