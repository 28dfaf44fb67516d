"""The rules of attaching and detaching, and the lazy end of transitions.

Functions on a `Store` at a moment; whoever calls them holds the cloud's lock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from mockdriver.cloud.errors import (
    AlreadyAttached,
    AttachedElsewhere,
    BootDiskInUse,
    NotAttached,
    SlotsExhausted,
    TooManyAttachments,
    TransitionUnderWay,
    ZoneMismatch,
)
from mockdriver.cloud.resources import (
    NO_TAGS,
    Attachment,
    AttachmentState,
    Disk,
    Instance,
)
from mockdriver.cloud.store import Store
from mockdriver.cloud.transitions import IMMEDIATELY, Transition


def attach(
    store: Store,
    now_seconds: float,
    *,
    disk_id: str,
    instance_id: str,
    exclusive: bool = False,
    tags: Mapping[str, str] = NO_TAGS,
    transition: Transition = IMMEDIATELY,
    force: bool = False,
) -> Attachment:
    """Attach a disk and return the attachment, or refuse.

    An `exclusive` attach is refused while the disk is attached to any other instance.

    What is refused, in this order (it is the order in which ControllerPublishVolume must answer):
    DiskNotFound, InstanceNotFound; AlreadyAttached, or TransitionUnderWay if it is leaving this
    instance; AttachedElsewhere, TooManyAttachments, ZoneMismatch; SlotsExhausted. With `force` the
    last four are not; one that is leaving or busy makes way for the new one.
    """
    disk, instance = store.disk(disk_id), store.instance(instance_id)
    settle_disk(store, disk.id, now_seconds)
    settle_instance(store, instance.id, now_seconds)
    present = store.attachment(disk.id, instance.id)
    if present is not None:
        if present.state in (AttachmentState.ATTACHING, AttachmentState.ATTACHED):
            raise AlreadyAttached(present)
        if not force:
            raise TransitionUnderWay(present)
        store.remove_attachment(present)
    if not force:
        _refuse_elsewhere(store, disk, instance, exclusive)
        _refuse_past_slots(store, instance, disk)
    pending = transition.begin(now_seconds)
    attachment = Attachment(
        number=store.next_number(),
        disk=disk.id,
        instance=instance.id,
        state=AttachmentState.ATTACHED if pending is None else AttachmentState.ATTACHING,
        tags=dict(tags),
        pending=pending,
    )
    store.put_attachment(attachment)
    return attachment


def adopt(store: Store, attachment: Attachment, tags: Mapping[str, str]) -> Attachment:
    """Make an attachment that somebody else made the caller's own, by its tags."""
    adopted = replace(attachment, tags={**attachment.tags, **tags})
    store.put_attachment(adopted)
    return adopted


def detach(
    store: Store,
    now_seconds: float,
    *,
    disk_id: str,
    instance_id: str,
    transition: Transition = IMMEDIATELY,
    immediately: bool = False,
    force: bool = False,
) -> Attachment | None:
    """Begin to detach; return the attachment while it is leaving, None when it is gone.

    A disk that is leaving already goes on leaving, unless it is to go `immediately`. Raises
    DiskNotFound, InstanceNotFound, NotAttached; unless forced also BootDiskInUse, and
    TransitionUnderWay for one that is busy.
    """
    disk, instance = store.disk(disk_id), store.instance(instance_id)
    settle_instance(store, instance.id, now_seconds)
    present = store.attachment(disk.id, instance.id)
    if present is None:
        raise NotAttached(disk.id, instance.id)
    if disk.boot and not force:
        raise BootDiskInUse(disk.id)
    if present.state is AttachmentState.BUSY and not force:
        raise TransitionUnderWay(present)
    if present.state is AttachmentState.DETACHING and not immediately:
        return present
    pending = None if immediately else transition.begin(now_seconds)
    if pending is None:
        store.remove_attachment(present)
        return None
    leaving = replace(present, state=AttachmentState.DETACHING, pending=pending)
    store.put_attachment(leaving)
    return leaving


def settle_instance(store: Store, instance_id: str, now_seconds: float) -> None:
    """End the transitions on an instance that are over by now."""
    occupancy = store.occupancy(instance_id)
    # Sorted, since a set has no order that two runs share.
    for disk_id in sorted(occupancy.pending):
        settle(store, occupancy.attachments[disk_id], now_seconds)


def settle_disk(store: Store, disk_id: str, now_seconds: float) -> None:
    """End the transitions of a disk that are over by now."""
    for attachment in tuple(store.attachments_of_disk(disk_id)):
        settle(store, attachment, now_seconds)


def settle(store: Store, attachment: Attachment, now_seconds: float) -> Attachment | None:
    """End the attachment's transition if it is over; return what is there now."""
    if attachment.pending is None or not attachment.pending.is_over(now_seconds):
        return attachment
    return finish(store, attachment)


def finish(store: Store, attachment: Attachment) -> Attachment | None:
    """End the attachment's transition: attached, or gone (None)."""
    if attachment.state is AttachmentState.DETACHING:
        store.remove_attachment(attachment)
        return None
    attached = replace(attachment, state=AttachmentState.ATTACHED, pending=None)
    store.put_attachment(attached)
    return attached


def read(store: Store, attachment: Attachment) -> Attachment:
    """Count one read of the attachment and return what that read shows."""
    if attachment.pending is not None and attachment.pending.reads_left is not None:
        store.put_attachment(replace(attachment, pending=attachment.pending.after_read()))
    return attachment


def _refuse_elsewhere(store: Store, disk: Disk, instance: Instance, exclusive: bool) -> None:
    others = list(store.attachments_of_disk(disk.id))
    if others:
        instances = [other.instance for other in others]
        if exclusive:
            raise AttachedElsewhere(disk.id, instances)
        # A boot disk belongs to one instance and goes with it. (EC2: a volume with Multi-Attach
        # cannot be a boot volume.)
        allowed = 1 if disk.boot else disk.max_attachments
        if len(others) >= allowed:
            raise TooManyAttachments(disk.id, allowed, instances)
    if disk.zone != instance.zone:
        raise ZoneMismatch(disk.id, disk.zone, instance.id, instance.zone)


def _refuse_past_slots(store: Store, instance: Instance, disk: Disk) -> None:
    type_ = store.type_of(instance)
    if type_.slots is None or (disk.boot and not type_.boot_disk_uses_slot):
        return
    users = store.slot_users(instance)
    if users >= type_.slots:
        raise SlotsExhausted(instance.id, type_.slots, users)
