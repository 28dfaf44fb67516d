"""The whole of a running mock, and what changes all of it at once.

A scenario is loaded, the state is set back, a snapshot is restored, the driver is started again:
each of these stops the driver first, so that no call of the state before acts on the one after, and
ends with a driver that serves. They come one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mockdriver.cloud import Caller, Cloud
from mockdriver.cloud.cloud import CloudSnapshot
from mockdriver.control.endpoints import Endpoints
from mockdriver.control.errors import InvalidRequest, SnapshotNotFound, TooManySnapshots
from mockdriver.driver.attachment_tags import PUBLISHED_AT_START
from mockdriver.driver.context import DriverConfig
from mockdriver.driver.driver import Driver
from mockdriver.driver.mounts.mount_table import MountsState, MountTables
from mockdriver.faults.engine import FaultEngine
from mockdriver.faults.engine import Snapshot as FaultsSnapshot
from mockdriver.journal import Journal
from mockdriver.runtime import Runtime
from mockdriver.scenario import build
from mockdriver.scenario.load import LoadedScenario
from mockdriver.scenario.mistakes import not_among

PARTS = ("cloud", "driver", "faults", "journal", "clock")
"""What a reset can be limited to."""

MAX_SNAPSHOTS = 100
"""One of 5,000 instances takes some megabytes."""

MakeDriver = Callable[[LoadedScenario, MountTables], Driver]

Switch = Callable[[Driver, LoadedScenario], None]
"""Lets the sockets serve another driver, of the same scenario or of a new one."""


@dataclass(frozen=True, slots=True)
class WorldSnapshot:
    """Cloud, mounts and faults at one moment; `taken_seconds` is on the runtime's clock."""

    taken_seconds: float
    cloud: CloudSnapshot
    mounts: MountsState
    faults: FaultsSnapshot


@dataclass(frozen=True, slots=True)
class Present:
    """The present state, of which scenario, with which driver, and how much is mounted."""

    snapshot: WorldSnapshot
    loaded: LoadedScenario
    config: DriverConfig
    mounted: int


class World:
    """What the control API reads and changes.

    Cloud, mount tables, faults and journal outlive the driver in front of them.
    """

    def __init__(
        self,
        runtime: Runtime,
        loaded: LoadedScenario,
        cloud: Cloud,
        journal: Journal,
        faults: FaultEngine,
        make_driver: MakeDriver,
    ) -> None:
        self.runtime = runtime
        self.loaded = loaded
        self.cloud = cloud
        self.journal = journal
        self.faults = faults
        self.mounts = MountTables(runtime)
        self.driver = make_driver(loaded, self.mounts)
        self.endpoints = Endpoints()
        self._make_driver = make_driver
        self._switches: list[Switch] = []
        self._changing = runtime.lock()
        self._start = self._snapshot()
        self._snapshots: dict[str, WorldSnapshot] = {}

    def on_switch(self, switch: Switch) -> None:
        """Call `switch` with each driver that takes the place of another one."""
        self._switches.append(switch)

    def load(self, loaded: LoadedScenario, caller: Caller) -> None:
        """Let a scenario take the place of everything: all snapshots are forgotten, too."""
        with self._changing:
            cloud = build.build(
                loaded, self.runtime, published_tags=PUBLISHED_AT_START, after=self.cloud
            )
            with self._driver_stopped(loaded, caller):
                self.cloud.restore(cloud.snapshot())
                self.mounts.put_back({}, self.driver.files)
                self.faults.load(loaded.faults)
                self.journal.clear()
                self.runtime.start_clock()
                self._start = self._snapshot()
                self._snapshots.clear()

    def reset(self, parts: Collection[str], caller: Caller) -> None:
        """Go back to the loaded scenario, by part if any are named; raises InvalidRequest.

        The mount tables are part of the cloud. The clock goes on if it was stopped; it never goes
        back.
        """
        for index, part in enumerate(parts):
            if part not in PARTS:
                raise InvalidRequest([(f"parts[{index}]", str(not_among("part", part, PARTS)))])
        wanted = frozenset(parts or PARTS)
        with self._changing:
            if "driver" in wanted:
                with self._driver_stopped(self.loaded, caller):
                    self._put_back_parts(wanted)
            else:
                self._put_back_parts(wanted)

    def save(self, name: str) -> WorldSnapshot:
        """Keep the present state under a name; raises TooManySnapshots."""
        with self._changing:
            if name not in self._snapshots and len(self._snapshots) >= MAX_SNAPSHOTS:
                raise TooManySnapshots(MAX_SNAPSHOTS)
            self._snapshots.pop(name, None)  # the new one is the newest
            self._snapshots[name] = self._snapshot()
            return self._snapshots[name]

    def restore(self, name: str, caller: Caller) -> WorldSnapshot:
        """Put a kept state in the place of the present one; raises SnapshotNotFound.

        The record of calls begins anew. The clock stays as it is.
        """
        with self._changing:
            snapshot = self._kept(name)
            with self._driver_stopped(self.loaded, caller):
                self._put_back_cloud(snapshot)
                self.faults.restore(snapshot.faults)
                self.journal.clear()
            return snapshot

    def present(self) -> Present:
        """Return the present state with what belongs to it."""
        with self._changing:
            return Present(self._snapshot(), self.loaded, self.driver.config, self.mounts.count())

    def snapshots(self) -> dict[str, WorldSnapshot]:
        """Return what is kept, by name, oldest first."""
        with self._changing:
            return dict(self._snapshots)

    def delete(self, name: str) -> None:
        """Forget a kept state; raises SnapshotNotFound."""
        with self._changing:
            self._kept(name)
            del self._snapshots[name]

    def restart_driver(self, caller: Caller) -> None:
        """Stop the driver and start another one over the same cloud."""
        with self._changing, self._driver_stopped(self.loaded, caller):
            pass

    def _kept(self, name: str) -> WorldSnapshot:
        snapshot = self._snapshots.get(name)
        if snapshot is None:
            raise SnapshotNotFound(name)
        return snapshot

    def _snapshot(self) -> WorldSnapshot:
        return WorldSnapshot(
            taken_seconds=self.runtime.now(),
            cloud=self.cloud.snapshot(),
            mounts=self.mounts.state(),
            faults=self.faults.snapshot(),
        )

    def _put_back_parts(self, parts: Collection[str]) -> None:
        if "faults" in parts:
            self.faults.restore(self._start.faults)
        if "cloud" in parts:
            self._put_back_cloud(self._start)
        if "journal" in parts:
            self.journal.clear()
        if "clock" in parts:
            self.runtime.start_clock()

    def _put_back_cloud(self, snapshot: WorldSnapshot) -> None:
        self.cloud.restore(snapshot.cloud)
        self.mounts.put_back(snapshot.mounts, self.driver.files)

    @contextmanager
    def _driver_stopped(self, loaded: LoadedScenario, caller: Caller) -> Iterator[None]:
        """Stop the driver for the length of the block; then another one serves, for `loaded`."""
        self.driver.stop(caller)
        try:
            yield
        finally:
            self.loaded = loaded
            self.driver = self._make_driver(loaded, self.mounts)
            for switch in self._switches:
                switch(self.driver, loaded)
