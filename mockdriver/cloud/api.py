"""The cloud's API as a storage provider sees it: quota, delay, one lock, store.

Each method is one API call. It may be Throttled, it takes its delay, and then it happens at one
moment. Describe calls count as reads of the attachments in their answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from typing import TypeVar

from mockdriver.cloud import attaching
from mockdriver.cloud.attaching import settle_disk, settle_instance
from mockdriver.cloud.caller import Caller
from mockdriver.cloud.core import CloudCore
from mockdriver.cloud.descriptions import DiskDescription, DiskPage, InstanceDescription
from mockdriver.cloud.errors import (
    AlreadyAttached,
    DiskInUse,
    DiskNotFound,
    DiskSizeNotAllowed,
    InstanceNotFound,
    Throttled,
    TooManyIds,
)
from mockdriver.cloud.resources import NO_TAGS, Attachment, Disk, InstanceType
from mockdriver.cloud.store import Store
from mockdriver.cloud.token_bucket import UNLIMITED, Quota, TokenBucket

API_NAMES = (
    "describe_instances",
    "describe_types",
    "describe_disks",
    "attach",
    "detach",
    "create_disk",
    "delete_disk",
)
"""The APIs that a quota can be set for."""

MIN_DISK_GIB = 1
MAX_DISK_GIB = 65_536

_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class ApiStatus:
    """One API: its quota, how many calls it got, and how many of these it throttled."""

    name: str
    quota: Quota
    calls: int
    throttled: int


@dataclass(frozen=True, slots=True)
class ApiState:
    """All of the APIs at one moment. Nobody changes what is in it."""

    quotas: dict[str, Quota]
    buckets: dict[str, TokenBucket]
    calls: Counter[str]
    throttled: Counter[str]
    last_disk: int


class CloudApi:
    """The calls that a storage provider makes."""

    def __init__(self, core: CloudCore, quotas: Mapping[str, Quota]) -> None:
        self._core = core
        self._quotas: dict[str, Quota] = {}
        self._buckets: dict[str, TokenBucket] = {}
        self._calls: Counter[str] = Counter()
        self._throttled: Counter[str] = Counter()
        self._last_disk = 0
        for name in API_NAMES:
            self.set_quota(name, quotas.get(name, UNLIMITED))

    def set_quota(self, name: str, quota: Quota) -> None:
        """Give an API a new quota, with a full bucket."""
        now_seconds = self._core.runtime.now()
        with self._core.lock:
            self._quotas[name] = quota
            self._buckets[name] = TokenBucket(quota, now_seconds)

    def calls(self) -> dict[str, int]:
        """Return how many calls each API got so far, throttled ones included."""
        with self._core.lock:
            return {name: self._calls[name] for name in API_NAMES}

    def statuses(self) -> list[ApiStatus]:
        """Return the quota and the counters of each API."""
        with self._core.lock:
            return [
                ApiStatus(name, self._quotas[name], self._calls[name], self._throttled[name])
                for name in API_NAMES
            ]

    def state(self) -> ApiState:
        """Return quotas, buckets and counters as they are now. Whoever calls holds the lock."""
        return ApiState(
            quotas=self._quotas.copy(),
            buckets={name: bucket.copy() for name, bucket in self._buckets.items()},
            calls=self._calls.copy(),
            throttled=self._throttled.copy(),
            last_disk=self._last_disk,
        )

    def put_back(self, state: ApiState, later_seconds: float) -> None:
        """Be again as `state` says, which was so much earlier. Whoever calls holds the lock."""
        self._quotas = state.quotas.copy()
        self._buckets = {name: item.copy(later_seconds) for name, item in state.buckets.items()}
        self._calls = state.calls.copy()
        self._throttled = state.throttled.copy()
        self._last_disk = state.last_disk

    def count_call(self, name: str) -> None:
        """Count a call of an API that comes to an end before the cloud looks at it."""
        with self._core.lock:
            self._calls[name] += 1

    def describe_instances(self, ids: Sequence[str], caller: Caller) -> list[InstanceDescription]:
        """Describe instances, in the order asked for.

        One unknown id fails the whole batch with InstanceNotFound, as EC2 does.
        """

        def describe(store: Store, now_seconds: float) -> list[InstanceDescription]:
            unknown = [id for id in ids if id not in store.instances]
            if unknown:
                raise InstanceNotFound(unknown)
            # Once per id: one call is one read, however often it names the same instance.
            described = {
                id: _describe_instance(self._core, id, now_seconds) for id in dict.fromkeys(ids)
            }
            return [described[id] for id in ids]

        return self._call("describe_instances", caller, describe, ids=len(ids))

    def describe_types(self, names: Sequence[str], caller: Caller) -> list[InstanceType]:
        """Describe instance types, in the order asked for; raises InstanceTypeNotFound."""

        def describe(store: Store, now_seconds: float) -> list[InstanceType]:
            return [store.instance_type(name) for name in names]

        return self._call("describe_types", caller, describe, ids=len(names))

    def describe_disks(self, ids: Sequence[str], caller: Caller) -> list[DiskDescription]:
        """Describe disks, in the order asked for; one unknown id fails all with DiskNotFound."""

        def describe(store: Store, now_seconds: float) -> list[DiskDescription]:
            unknown = [id for id in ids if id not in store.disks]
            if unknown:
                raise DiskNotFound(unknown)
            described = {
                id: _describe_disk(self._core, store.disks[id], now_seconds)
                for id in dict.fromkeys(ids)
            }
            return [described[id] for id in ids]

        return self._call("describe_disks", caller, describe, ids=len(ids))

    def find_disks(self, tag: str, value: str, caller: Caller) -> list[DiskDescription]:
        """Describe the disks that carry a tag; a call of describe_disks with a filter."""

        def describe(store: Store, now_seconds: float) -> list[DiskDescription]:
            return [
                _describe_disk(self._core, disk, now_seconds)
                for disk in store.disks_tagged(tag, value)
            ]

        return self._call("describe_disks", caller, describe)

    def list_disks(self, after: int, limit: int, caller: Caller) -> DiskPage:
        """Describe up to `limit` disks that were made after the one in place `after`.

        Boot disks belong to their instances and are not among them. A call of describe_disks
        without ids.
        """

        def describe(store: Store, now_seconds: float) -> DiskPage:
            later = (item for item in store.disks_after(after) if not item[1].boot)
            found = list(islice(later, limit + 1))  # one more, to know whether there is one
            return DiskPage(
                disks=tuple(
                    (place, _describe_disk(self._core, disk, now_seconds))
                    for place, disk in found[:limit]
                ),
                more=len(found) > limit,
            )

        return self._call("describe_disks", caller, describe)

    def attach(
        self,
        disk: str,
        instance: str,
        caller: Caller,
        *,
        exclusive: bool = False,
        tags: Mapping[str, str] = NO_TAGS,
    ) -> Attachment:
        """Attach a disk, or answer with the attachment to this instance that is there already.

        One that carries none of the given tags was made by somebody else: it takes them, and with
        them this caller's ownership. Otherwise refuses as `attaching.attach` does.
        """

        def change(store: Store, now_seconds: float) -> Attachment:
            try:
                return attaching.attach(
                    store,
                    now_seconds,
                    disk_id=disk,
                    instance_id=instance,
                    exclusive=exclusive,
                    tags=tags,
                    transition=self._core.transitions.attach,
                )
            except AlreadyAttached as present:
                if present.attachment.tags.keys() & tags.keys() or not tags:
                    return present.attachment
                return attaching.adopt(store, present.attachment, tags)

        return self._call("attach", caller, change)

    def detach(self, disk: str, instance: str, caller: Caller) -> Attachment | None:
        """Begin to detach; the attachment while it is leaving, None once it is gone."""

        def change(store: Store, now_seconds: float) -> Attachment | None:
            return self._core.detach(disk, instance, now_seconds)

        return self._call("detach", caller, change)

    def create_disk(
        self,
        zone: str,
        size_gib: int,
        caller: Caller,
        *,
        max_attachments: int = 1,
        tags: Mapping[str, str] = NO_TAGS,
    ) -> Disk:
        """Create a disk with a fresh id; raises ZoneNotFound, ZoneFull, DiskSizeNotAllowed."""

        def change(store: Store, now_seconds: float) -> Disk:
            if not MIN_DISK_GIB <= size_gib <= MAX_DISK_GIB:
                raise DiskSizeNotAllowed(size_gib, MIN_DISK_GIB, MAX_DISK_GIB)
            self._core.require_zone(zone)
            self._core.refuse_past_room(zone, size_gib)
            disk = Disk(
                id=self._fresh_disk_id(store),
                zone=zone,
                size_gib=size_gib,
                max_attachments=max_attachments,
                tags=dict(tags),
            )
            store.add_disk(disk)
            return disk

        return self._call("create_disk", caller, change)

    def delete_disk(self, id: str, caller: Caller) -> None:
        """Delete a disk; raises DiskNotFound, and DiskInUse while it is attached."""

        def change(store: Store, now_seconds: float) -> None:
            disk = store.disk(id)
            settle_disk(store, id, now_seconds)
            instances = [item.instance for item in store.attachments_of_disk(id)]
            if instances:
                raise DiskInUse(id, instances)
            store.remove_disk(disk)

        self._call("delete_disk", caller, change)

    @contextmanager
    def watching(self, attachment: Attachment, caller: Caller) -> Iterator[None]:
        """Wake `caller` whenever the attachment is changed by somebody, not by the mere clock.

        It stands for the frequent polling that a client of a real cloud would do.
        """
        self._core.watch(attachment, caller)
        try:
            yield
        finally:
            self._core.unwatch(attachment, caller)

    def _call(
        self,
        name: str,
        caller: Caller,
        work: Callable[[Store, float], _Answer],
        *,
        ids: int = 0,
    ) -> _Answer:
        core = self._core
        quota = self._quotas[name]
        if quota is UNLIMITED:
            with core.lock:
                self._calls[name] += 1
        else:
            self._pass_quota(name, quota, caller, ids)
        return core.change(work)

    def _pass_quota(self, name: str, quota: Quota, caller: Caller, ids: int) -> None:
        core = self._core
        with core.lock:
            self._calls[name] += 1
            if not self._buckets[name].take(core.runtime.now()):
                self._throttled[name] += 1
                raise Throttled(name)
        if quota.max_ids is not None and ids > quota.max_ids:
            raise TooManyIds(name, ids, quota.max_ids)
        if quota.delay_seconds > 0:
            caller.sleep_until(core.runtime.now() + quota.delay_seconds)

    def _fresh_disk_id(self, store: Store) -> str:
        while True:
            self._last_disk += 1
            id = f"vol-{self._last_disk:08d}"
            if id not in store.disks:
                return id


def _describe_instance(core: CloudCore, id: str, now_seconds: float) -> InstanceDescription:
    settle_instance(core.store, id, now_seconds)
    occupancy = core.store.occupancy(id)
    return InstanceDescription(
        instance=core.store.instances[id],
        network_interfaces=tuple(occupancy.network_interfaces.values()),
        attachments=tuple([core.read(item) for item in tuple(occupancy.attachments.values())]),
        boot_disks=frozenset(occupancy.boot_disks),
    )


def _describe_disk(core: CloudCore, disk: Disk, now_seconds: float) -> DiskDescription:
    settle_disk(core.store, disk.id, now_seconds)
    attachments = tuple(core.store.attachments_of_disk(disk.id))
    return DiskDescription(disk=disk, attachments=tuple([core.read(item) for item in attachments]))
