"""The operator's console: disks."""

from __future__ import annotations

from collections.abc import Callable

from mockdriver.cloud import attaching
from mockdriver.cloud.console.paging import page_of
from mockdriver.cloud.console.part import ConsolePart
from mockdriver.cloud.descriptions import DiskDescription, FoundDisks
from mockdriver.cloud.errors import DiskInUse, TooManyAttachments
from mockdriver.cloud.resources import Disk
from mockdriver.cloud.store import Store


class DisksPart(ConsolePart):
    """Disks come, change and go. A base of Operator."""

    def add_disk(self, disk: Disk, *, check_room: bool = False) -> None:
        """Add a disk as given; raises AlreadyExists, ZoneNotFound.

        With `check_room` it raises ZoneFull if its zone has too little room for it.
        """

        def change(store: Store, now_seconds: float) -> None:
            self._core.require_zone_if_fixed(disk.zone)
            if check_room:
                self._core.refuse_past_room(disk.zone, disk.size_gib)
            store.add_disk(disk)
            store.add_zone(disk.zone)

        self._change(change)

    def change_disk(
        self, id: str, changed: Callable[[Disk], Disk], *, force: bool = False
    ) -> DiskDescription:
        """Put `changed` of a disk in its place, in one step.

        Raises DiskNotFound, ZoneNotFound; unless forced also DiskInUse for another zone while it is
        attached, ZoneFull for a size that its zone has no room for, and TooManyAttachments if it is
        attached to more instances than it then could be.
        """

        def change(store: Store, now_seconds: float) -> DiskDescription:
            attaching.settle_disk(store, store.disk(id).id, now_seconds)
            former = store.disk(id)
            disk = changed(former)
            self._core.require_zone_if_fixed(disk.zone)
            if not force:
                self._refuse_change(store, former, disk)
            store.replace_disk(disk)
            store.add_zone(disk.zone)
            return _describe(store, disk)

        return self._change(change)

    def remove_disk(self, id: str, *, force: bool = False) -> None:
        """Remove a disk; raises DiskNotFound, and unless forced DiskInUse while it is attached.

        With `force` its attachments go with it.
        """

        def change(store: Store, now_seconds: float) -> None:
            disk = store.disk(id)
            attaching.settle_disk(store, id, now_seconds)
            attachments = tuple(store.attachments_of_disk(id))
            if attachments and not force:
                raise DiskInUse(id, [item.instance for item in attachments])
            for attachment in attachments:
                self._core.wake_watchers(attachment)
                store.remove_attachment(attachment)
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

    def describe_disk(self, id: str) -> DiskDescription:
        """Return a disk and its attachments now; not a read. Raises DiskNotFound."""

        def look(store: Store, now_seconds: float) -> DiskDescription:
            attaching.settle_disk(store, store.disk(id).id, now_seconds)
            return _describe(store, store.disk(id))

        return self._change(look)

    def find_disks(
        self,
        matches: Callable[[Disk], bool],
        *,
        instance: str | None = None,
        after: int = 0,
        limit: int = 1000,
    ) -> FoundDisks:
        """Return up to `limit` disks that match, after the one in place `after`.

        With `instance` only those that are attached to it; raises InstanceNotFound. All are
        counted, but only those of the page are looked at closely.
        """

        def choose(store: Store, now_seconds: float) -> list[tuple[int, Disk]]:
            if instance is None:
                return store.disk_places()
            attaching.settle_instance(store, store.instance(instance).id, now_seconds)
            ids = store.occupancy(instance).attachments
            return sorted((store.place_of_disk(id), store.disk(id)) for id in ids)

        page = page_of(self._change(choose), matches, after=after, limit=limit)

        def look(store: Store, now_seconds: float) -> tuple[DiskDescription, ...]:
            described = []
            for disk in page.items:
                if disk.id in store.disks:  # it may have gone since
                    attaching.settle_disk(store, disk.id, now_seconds)
                    described.append(_describe(store, store.disk(disk.id)))
            return tuple(described)

        return FoundDisks(self._change(look), page.next_place, page.total)

    def last_disk_place(self) -> int:
        """Return the place of the newest disk in the order of creation; 0 before the first."""
        with self._core.lock:
            return self._core.store.last_place

    def _refuse_change(self, store: Store, former: Disk, disk: Disk) -> None:
        instances = [item.instance for item in store.attachments_of_disk(disk.id)]
        if disk.zone != former.zone:
            if instances:
                raise DiskInUse(disk.id, instances)
            self._core.refuse_past_room(disk.zone, disk.size_gib)
        elif disk.size_gib > former.size_gib:
            self._core.refuse_past_room(disk.zone, disk.size_gib - former.size_gib)
        if disk.max_attachments < former.max_attachments and disk.max_attachments < len(instances):
            raise TooManyAttachments(disk.id, disk.max_attachments, instances)


def _describe(store: Store, disk: Disk) -> DiskDescription:
    return DiskDescription(disk, tuple(store.attachments_of_disk(disk.id)))
