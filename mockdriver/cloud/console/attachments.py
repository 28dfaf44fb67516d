"""The operator's console: attachments."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from mockdriver.cloud import attaching
from mockdriver.cloud.caller import Caller
from mockdriver.cloud.console.part import ConsolePart
from mockdriver.cloud.errors import CloudError, NotAttached
from mockdriver.cloud.resources import NO_TAGS, Attachment, AttachmentState, Disk, InstanceType
from mockdriver.cloud.slots import UNTYPED
from mockdriver.cloud.store import Store
from mockdriver.cloud.transitions import IMMEDIATELY, Pending


class AttachmentsPart(ConsolePart):
    """Attachments come, change and go. A base of Operator."""

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
            attachment = attaching.attach(
                store,
                now_seconds,
                disk_id=disk,
                instance_id=instance,
                tags=tags,
                transition=IMMEDIATELY if immediately else self._core.transitions.attach,
                force=force,
            )
            if present is not None:  # it made way for this one
                self._core.wake_watchers(present)
            return attachment

        return self._change(change)

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

    def change_attachment(
        self,
        disk: str,
        instance: str,
        *,
        state: AttachmentState | None = None,
        set_tags: Mapping[str, str] = NO_TAGS,
        remove_tags: Collection[str] = (),
        pending: Pending | None = None,
    ) -> Attachment:
        """Put an attachment into a state by hand, and change its tags; raises NotAttached.

        What is attached waits for nothing. In another state it waits for `pending`: until it is
        released, if that is not given.
        """

        def change(store: Store, now_seconds: float) -> Attachment:
            present = _present(store, disk, instance, now_seconds)
            tags = {**present.tags, **set_tags}
            changed = replace(
                present, tags={key: value for key, value in tags.items() if key not in remove_tags}
            )
            if state is AttachmentState.ATTACHED:
                changed = replace(changed, state=state, pending=None)
            elif state is not None:
                changed = replace(changed, state=state, pending=pending or Pending(held=True))
            store.put_attachment(changed)
            self._core.wake_watchers(changed)
            return changed

        return self._change(change)

    def release(self, *, instance: str | None = None, disk: str | None = None) -> int:
        """End held transitions, of one instance or disk or of all; return how many ended.

        Raises InstanceNotFound, DiskNotFound.
        """

        def change(store: Store, now_seconds: float) -> int:
            if disk is not None:
                store.disk(disk)
            ids = store.instances_under_way() if instance is None else [store.instance(instance).id]
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

    def attachment(self, disk: str, instance: str) -> Attachment | None:
        """Return the attachment of a disk to an instance now, or None; not a read."""

        def look(store: Store, now_seconds: float) -> Attachment | None:
            present = store.attachment(disk, instance)
            return None if present is None else attaching.settle(store, present, now_seconds)

        return self._change(look)

    def require_attachment(self, disk: str, instance: str) -> Attachment:
        """Return the same; raises DiskNotFound, InstanceNotFound, NotAttached."""

        def look(store: Store, now_seconds: float) -> Attachment:
            return _present(store, disk, instance, now_seconds)

        return self._change(look)

    def attachments(self, instance: str) -> list[Attachment]:
        """Return what is attached to an instance now, oldest first; not a read."""

        def look(store: Store, now_seconds: float) -> list[Attachment]:
            id = store.instance(instance).id
            attaching.settle_instance(store, id, now_seconds)
            return store.occupancy(id).oldest_first()

        return self._change(look)

    def attachments_of(self, disk: str) -> list[Attachment]:
        """Return where a disk is attached now, oldest first; not a read."""

        def look(store: Store, now_seconds: float) -> list[Attachment]:
            attaching.settle_disk(store, store.disk(disk).id, now_seconds)
            return sorted(store.attachments_of_disk(disk), key=lambda item: item.number)

        return self._change(look)

    def all_attachments(self) -> list[Attachment]:
        """Return all attachments now, instance by instance, oldest first; not a read."""

        def look(store: Store, now_seconds: float) -> list[Attachment]:
            for id in store.instances_under_way():
                attaching.settle_instance(store, id, now_seconds)
            return [item for id in store.instances for item in store.occupancy(id).oldest_first()]

        return self._change(look)

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


def _present(store: Store, disk: str, instance: str, now_seconds: float) -> Attachment:
    present = store.attachment(store.disk(disk).id, store.instance(instance).id)
    if present is not None:
        present = attaching.settle(store, present, now_seconds)
    if present is None:
        raise NotAttached(disk, instance)
    return present
