"""Attachments as a scenario file says them: in the lists of instances, or in a list of their own.

An instance's lists tell of what is attached to it and nowhere else, waits for nothing, has the
driver's usual tags or none, and came in the order boot disk, out of band, published. Whatever comes
after the first attachment that is not so stands in `attachments`, so that their order is kept.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mockdriver.cloud import Attachment, AttachmentState, Instance, InstanceType
from mockdriver.cloud.store import StoreState
from mockdriver.scenario.transition_kinds import wait_text

Data = dict[str, Any]

_BOOT_DISK, _ATTACHED, _PUBLISHED = range(3)


@dataclass
class Lists:
    """What the lists of one instance tell of."""

    boot_disk: str | None = None
    attached: list[str] = field(default_factory=list)
    published: list[str] = field(default_factory=list)


class AttachmentData:
    """The attachments of a store.

    `named` are the disks that a file names, in its order, each with the zone that it is taken to be
    in; `boot_disks` are those that are a boot disk since an instance says so.
    """

    def __init__(
        self, store: StoreState, published_tags: Mapping[str, str], now_seconds: float
    ) -> None:
        self._store = store
        self._published_tags = dict(published_tags)
        self._now_seconds = now_seconds
        self._rest: list[tuple[Attachment, bool]] = []
        self.named: dict[str, str] = {}
        self.boot_disks: set[str] = set()

    def lists_of(self, instance: Instance, type_: InstanceType) -> Lists:
        """Return what the lists of an instance tell of; all else is kept for `rest`."""
        lists, phase, slots_used, is_rest = Lists(), _BOOT_DISK, 0, False
        occupancy = self._store.occupancies[instance.id]
        for item in occupancy.oldest_first():
            disk = self._store.disks[item.disk]
            is_refused = disk.zone != instance.zone
            if type_.boot_disk_uses_slot or not disk.boot:
                if type_.slots is not None and slots_used >= type_.slots:
                    is_refused = True
                else:
                    slots_used += 1
            kind = None if is_refused else self._kind(item, disk.boot)
            if is_rest or kind is None or kind < phase:
                is_rest = True
                self._rest.append((item, is_refused))
                continue
            self.named.setdefault(item.disk, instance.zone)
            if kind == _BOOT_DISK:
                lists.boot_disk, phase = item.disk, _ATTACHED
                self.boot_disks.add(item.disk)
            else:
                phase = kind
                (lists.attached if kind == _ATTACHED else lists.published).append(item.disk)
        return lists

    def rest(self) -> list[Data]:
        """Return the attachments that no list tells of, oldest first, once all lists are made."""
        counts: Counter[str] = Counter()
        found = []
        for item, is_refused in sorted(self._rest, key=lambda pair: pair[0].number):
            disk = self._store.disks[item.disk]
            counts[item.disk] += 1
            force = is_refused or counts[item.disk] > (1 if disk.boot else disk.max_attachments)
            self.named.setdefault(item.disk, self._store.instances[item.instance].zone)
            found.append(self._data(item, force))
        return found

    def _kind(self, item: Attachment, boot: bool) -> int | None:
        """Return which list can tell of an attachment, None if none can."""
        if item.state is not AttachmentState.ATTACHED or item.pending is not None:
            return None
        if len(self._store.instances_of[item.disk]) > 1:
            return None
        if not item.tags:
            return _BOOT_DISK if boot else _ATTACHED
        return _PUBLISHED if dict(item.tags) == self._published_tags and not boot else None

    def _data(self, item: Attachment, force: bool) -> Data:
        data: Data = {"disk": item.disk, "instance": item.instance}
        if item.state is not AttachmentState.ATTACHED:
            data["state"] = item.state.value
            if item.pending is not None and not item.pending.held:
                data["waits_for"] = wait_text(item.pending.left(self._now_seconds))
        tags = dict(item.tags)
        if self._published_tags.keys() <= tags.keys():
            data["published"] = True
            usual = self._published_tags
            tags = {key: value for key, value in tags.items() if usual.get(key) != value}
        if tags:
            data["tags"] = tags
        if force:
            data["force"] = True
        return data
