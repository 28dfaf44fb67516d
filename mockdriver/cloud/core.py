"""What the API and the operator share: the store, its one lock, the clock, and who waits."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mockdriver.cloud import attaching
from mockdriver.cloud.caller import Caller
from mockdriver.cloud.errors import ZoneFull, ZoneNotFound
from mockdriver.cloud.resources import Attachment
from mockdriver.cloud.store import Store
from mockdriver.cloud.transitions import Transitions
from mockdriver.runtime import Runtime

_Answer = TypeVar("_Answer")


class CloudCore:
    """Store, lock and clock. The lock is held for a change or a look, never while waiting."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        transitions: Transitions,
        region: str,
        default_zone: str,
        zones_are_fixed: bool,
        capacity_gib: int,
    ) -> None:
        self.runtime = runtime
        self.region = region
        self.default_zone = default_zone
        self.lock = runtime.lock()
        self.store = Store()
        self.transitions = transitions
        self.zones_are_fixed = zones_are_fixed
        self.capacity_gib = capacity_gib
        self._watchers: dict[int, dict[Caller, None]] = {}
        self._to_wake: tuple[Caller, ...] = ()

    def require_zone_if_fixed(self, zone: str) -> None:
        """Raise ZoneNotFound for an unknown zone where zones are fixed."""
        if self.zones_are_fixed:
            self.require_zone(zone)

    def require_zone(self, zone: str) -> None:
        """Raise ZoneNotFound unless the zone exists."""
        if zone not in self.store.zones:
            raise ZoneNotFound(zone, list(self.store.zones))

    def available_gib(self, zone: str) -> int:
        """Return the room that is left in a zone. What the scenario puts there may exceed it."""
        return max(0, self.capacity_gib - self.store.gib_in_zone(zone))

    def refuse_past_room(self, zone: str, size_gib: int) -> None:
        """Raise ZoneFull if a zone has no room for so much more."""
        available_gib = self.available_gib(zone)
        if size_gib > available_gib:
            raise ZoneFull(zone, size_gib, available_gib)

    def watch(self, attachment: Attachment, caller: Caller) -> None:
        """Wake `caller` when somebody changes the attachment (the mere clock does not count)."""
        with self.lock:
            self._watchers.setdefault(attachment.number, {})[caller] = None

    def unwatch(self, attachment: Attachment, caller: Caller) -> None:
        """End a watch."""
        with self.lock:
            watchers = self._watchers.get(attachment.number, {})
            watchers.pop(caller, None)
            if not watchers:
                self._watchers.pop(attachment.number, None)

    def change(self, work: Callable[[Store, float], _Answer]) -> _Answer:
        """Do `work` on the store at one moment, and then wake whoever watches what it changed."""
        with self.lock:
            answer = work(self.store, self.runtime.now())
            woken, self._to_wake = self._to_wake, ()
        # Outside the lock, so that the woken do not queue for it at once.
        for caller in woken:
            caller.wake()
        return answer

    def wake_all(self) -> None:
        """Wake whoever watches any attachment, at the end of the change that is under way."""
        for watchers in self._watchers.values():
            self._to_wake += tuple(watchers)

    def wake_watchers(self, attachment: Attachment) -> None:
        """Wake whoever watches the attachment, at the end of the change that is under way."""
        watchers = self._watchers.get(attachment.number)
        if watchers:
            self._to_wake += tuple(watchers)

    def detach(
        self,
        disk: str,
        instance: str,
        now_seconds: float,
        *,
        immediately: bool = False,
        force: bool = False,
    ) -> Attachment | None:
        """Begin to detach, as `attaching.detach` does, and wake whoever watches the attachment."""
        present = self.store.attachment(disk, instance)
        leaving = attaching.detach(
            self.store,
            now_seconds,
            disk_id=disk,
            instance_id=instance,
            transition=self.transitions.detach,
            immediately=immediately,
            force=force,
        )
        if present is not None:
            self.wake_watchers(present)
        return leaving

    def read(self, attachment: Attachment) -> Attachment:
        """Count a read, return what it shows, and wake whoever waits for the last one."""
        if attachment.pending is None:
            return attachment
        if attachment.pending.reads_left == 1:
            self.wake_watchers(attachment)
        return attaching.read(self.store, attachment)

    def look(self, attachment: Attachment) -> Attachment | None:
        """Return how this attachment stands now, without counting a read; None if it is gone."""
        with self.lock:
            present = self.store.attachment(attachment.disk, attachment.instance)
            if present is None or present.number != attachment.number:
                return None
            return attaching.settle(self.store, present, self.runtime.now())
