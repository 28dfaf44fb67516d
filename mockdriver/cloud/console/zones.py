"""The operator's console: zones, transitions, and the cloud at a glance."""

from __future__ import annotations

from mockdriver.cloud.console.part import ConsolePart
from mockdriver.cloud.descriptions import Summary, ZoneView
from mockdriver.cloud.errors import AlreadyExists, ZoneInUse
from mockdriver.cloud.store import Store
from mockdriver.cloud.transitions import Transition, Transitions


class ZonesPart(ConsolePart):
    """The region and its zones. A base of Operator."""

    def add_zone(self, zone: str) -> None:
        """Add a zone; adding it again changes nothing."""
        with self._core.lock:
            self._core.store.add_zone(zone)

    def add_new_zone(self, zone: str) -> ZoneView:
        """Add a zone; raises AlreadyExists."""

        def change(store: Store, now_seconds: float) -> ZoneView:
            if zone in store.zones:
                raise AlreadyExists("zone", zone)
            store.add_zone(zone)
            return ZoneView(zone, self._core.available_gib(zone))

        return self._change(change)

    def zones(self) -> list[str]:
        """Return the zones, in the order in which they were added."""
        with self._core.lock:
            return list(self._core.store.zones)

    def view_zones(self) -> list[ZoneView]:
        """Return the zones with the room that is left in each."""
        with self._core.lock:
            return [
                ZoneView(zone, self._core.available_gib(zone)) for zone in self._core.store.zones
            ]

    def remove_zone(self, zone: str, *, force: bool = False) -> None:
        """Remove a zone; raises ZoneNotFound, and unless forced ZoneInUse while something is in it.

        With `force` what is in it stays there.
        """

        def change(store: Store, now_seconds: float) -> None:
            self._core.require_zone(zone)
            users = store.zone_users(zone)
            if users and not force:
                raise ZoneInUse(zone, users)
            store.remove_zone(zone)

        self._change(change)

    def default_zone(self) -> str:
        """Return the zone of what names none."""
        with self._core.lock:
            return self._core.default_zone

    def available_gib(self, zone: str) -> int:
        """Return the room for disks that is left in a zone, in GiB."""
        with self._core.lock:
            return self._core.available_gib(zone)

    def capacity_gib(self) -> int:
        """Return the room for disks that each zone has, in GiB."""
        with self._core.lock:
            return self._core.capacity_gib

    def summary(self) -> Summary:
        """Return how much of everything there is."""
        with self._core.lock:
            store = self._core.store
            return Summary(
                region=self._core.region,
                zones=tuple(store.zones),
                capacity_gib=self._core.capacity_gib,
                instance_types=len(store.instance_types),
                instances=len(store.instances),
                network_interfaces=store.network_interface_count,
                disks=len(store.disks),
                attachments=store.attachment_count,
            )

    def transitions(self) -> Transitions:
        """Return how long attaching and detaching take."""
        with self._core.lock:
            return self._core.transitions

    def set_transitions(
        self, *, attach: Transition | None = None, detach: Transition | None = None
    ) -> Transitions:
        """Change how long attaching and detaching take; what is None stays.

        Transitions that are under way are not changed.
        """
        with self._core.lock:
            present = self._core.transitions
            self._core.transitions = Transitions(
                attach=present.attach if attach is None else attach,
                detach=present.detach if detach is None else detach,
            )
            return self._core.transitions
