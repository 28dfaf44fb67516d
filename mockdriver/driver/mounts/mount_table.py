"""What is staged and published on one node: the simulated machine's mount table."""

from __future__ import annotations

from dataclasses import dataclass

from mockdriver.driver.mounts.files import Identity
from mockdriver.runtime import Lock, Runtime


@dataclass(frozen=True, slots=True)
class Use:
    """How a volume is used at a path: its capability as bytes, and what of it is looked at.

    `mount_group` is volume_mount_group, a group's identifier or "".
    """

    capability: bytes
    access_mode: int
    readonly: bool = False
    mount_group: str = ""


@dataclass(frozen=True, slots=True)
class Published:
    """A volume at a target path. `made` is what appeared there."""

    volume_id: str
    use: Use
    made: Identity | None


class MountTable:
    """Staged volumes by (volume_id, path), published ones by path. Whoever looks holds `lock`."""

    def __init__(self, lock: Lock) -> None:
        self.lock = lock
        self.staged: dict[tuple[str, str], Use] = {}
        self.published: dict[str, Published] = {}
        self._targets: dict[str, dict[str, None]] = {}

    def put(self, path: str, published: Published) -> None:
        """Note that a volume is published at a path."""
        self.published[path] = published
        self._targets.setdefault(published.volume_id, {})[path] = None

    def remove(self, path: str) -> None:
        """Note that nothing is published at a path any more."""
        published = self.published.pop(path)
        targets = self._targets[published.volume_id]
        del targets[path]
        if not targets:
            del self._targets[published.volume_id]

    def targets_of(self, volume_id: str) -> list[str]:
        """Return the paths at which a volume is published."""
        return list(self._targets.get(volume_id, ()))


class MountTables:
    """The mount tables of all nodes."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._lock = runtime.lock()
        self._tables: dict[str, MountTable] = {}

    def of_node(self, node_id: str) -> MountTable:
        """Return the table of a node."""
        with self._lock:
            if node_id not in self._tables:
                self._tables[node_id] = MountTable(self._runtime.lock())
            return self._tables[node_id]
