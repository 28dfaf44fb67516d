"""The simulated cloud: one store, one lock, its API and its operator's console."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from mockdriver.cloud.api import ApiState, CloudApi
from mockdriver.cloud.attaching import settle_instance
from mockdriver.cloud.core import CloudCore
from mockdriver.cloud.operator import Operator
from mockdriver.cloud.store import Store, StoreState
from mockdriver.cloud.token_bucket import Quota
from mockdriver.cloud.transitions import NO_WAITING, Transitions
from mockdriver.runtime import Runtime

DEFAULT_CAPACITY_GIB = 1024 * 1024
"""Room for disks in each zone: 1 PiB."""

DEFAULT_REGION = "region-1"


@dataclass(frozen=True, slots=True)
class CloudSnapshot:
    """A cloud at one moment. Nobody changes what is in it."""

    taken_seconds: float
    region: str
    default_zone: str
    zones_are_fixed: bool
    capacity_gib: int
    transitions: Transitions
    store: StoreState
    api: ApiState


class Cloud:
    """A region of a cloud.

    `api` is what a storage provider's credentials reach: quotas, delays, reads that count.
    `operator` is the hand of whoever owns the cloud: it changes things out of band, free of
    quotas, and looks without being counted.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        region: str = DEFAULT_REGION,
        default_zone: str | None = None,
        zones_are_fixed: bool = False,
        transitions: Transitions = NO_WAITING,
        quotas: Mapping[str, Quota] | None = None,
        capacity_gib: int = DEFAULT_CAPACITY_GIB,
    ) -> None:
        """Make an empty region.

        With `zones_are_fixed` an instance or a disk in a zone that was not added is refused;
        without it, it brings its zone along. `default_zone` is where something goes that names no
        zone: without it the region's zone a. `quotas` are by API name (`api.API_NAMES`).
        `capacity_gib` is the room for disks that each zone has, in GiB.
        """
        self.core = CloudCore(
            runtime,
            region=region,
            default_zone=f"{region}a" if default_zone is None else default_zone,
            transitions=transitions,
            zones_are_fixed=zones_are_fixed,
            capacity_gib=capacity_gib,
        )
        self.api = CloudApi(self.core, quotas or {})
        self.operator = Operator(self.core)

    @property
    def region(self) -> str:
        """The region's name."""
        return self.core.region

    def snapshot(self) -> CloudSnapshot:
        """Return all of the state at one moment.

        What it costs grows with the number of resources as a copy of a dict does: milliseconds
        for thousands of instances.
        """
        core = self.core
        with core.lock:
            for instance in core.store.instances_under_way():
                settle_instance(core.store, instance, core.runtime.now())
            return CloudSnapshot(
                taken_seconds=core.runtime.now(),
                region=core.region,
                default_zone=core.default_zone,
                zones_are_fixed=core.zones_are_fixed,
                capacity_gib=core.capacity_gib,
                transitions=core.transitions,
                store=core.store.state(),
                api=self.api.state(),
            )

    def restore(self, snapshot: CloudSnapshot) -> None:
        """Put a snapshot in the place of all of the state, and wake whoever waits for some of it.

        The snapshot may be another cloud's. Time goes on from it: a transition that had two seconds
        left has two seconds left. Numbers of attachments, and places in lists, are not given again.
        """
        core = self.core

        def change(store: Store, now_seconds: float) -> None:
            later_seconds = now_seconds - snapshot.taken_seconds
            core.region = snapshot.region
            core.default_zone = snapshot.default_zone
            core.zones_are_fixed = snapshot.zones_are_fixed
            core.capacity_gib = snapshot.capacity_gib
            core.transitions = snapshot.transitions
            store.put_back(snapshot.store)
            _move_transitions(store, later_seconds)
            self.api.put_back(snapshot.api, later_seconds)
            core.wake_all()

        core.change(change)

    def go_on_after(self, other: Cloud) -> None:
        """Give no number of an attachment, and no place in a list, that `other` has given."""
        with other.core.lock:
            last = other.core.store.last
        self.core.store.go_on_after(last)


def _move_transitions(store: Store, later_seconds: float) -> None:
    """Let what is under way by the clock end so much later."""
    for instance in store.instances_under_way():
        for attachment in tuple(store.occupancy(instance).attachments.values()):
            if attachment.pending is not None:
                store.put_attachment(
                    replace(attachment, pending=attachment.pending.later(later_seconds))
                )
