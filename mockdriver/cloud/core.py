"""What the API and the operator share: the store, its one lock, the clock, and who waits."""

from __future__ import annotations

from mockdriver.cloud import attaching
from mockdriver.cloud.caller import Caller
from mockdriver.cloud.errors import ZoneNotFound
from mockdriver.cloud.resources import Attachment
from mockdriver.cloud.store import Store
from mockdriver.cloud.transitions import Transitions
from mockdriver.runtime import Runtime


class CloudCore:
    """Store, lock and clock. The lock is held for a change or a look, never while waiting."""

    def __init__(
        self, runtime: Runtime, *, transitions: Transitions, zones_are_fixed: bool
    ) -> None:
        self.runtime = runtime
        self.lock = runtime.lock()
        self.store = Store()
        self.transitions = transitions
        self.zones_are_fixed = zones_are_fixed
        self._watchers: dict[int, dict[Caller, None]] = {}

    def require_zone_if_fixed(self, zone: str) -> None:
        """Raise ZoneNotFound for an unknown zone where zones are fixed."""
        if self.zones_are_fixed:
            self.require_zone(zone)

    def require_zone(self, zone: str) -> None:
        """Raise ZoneNotFound unless the zone exists."""
        if zone not in self.store.zones:
            raise ZoneNotFound(zone, list(self.store.zones))

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

    def take_watchers(self, attachment: Attachment) -> list[Caller]:
        """Return whom a change of the attachment has to wake, once the lock is given back."""
        return list(self._watchers.get(attachment.number, ()))

    def look(self, attachment: Attachment) -> Attachment | None:
        """Return how this attachment stands now, without counting a read; None if it is gone."""
        with self.lock:
            present = self.store.attachment(attachment.disk, attachment.instance)
            if present is None or present.number != attachment.number:
                return None
            return attaching.settle(self.store, present, self.runtime.now())
