"""What is staged and published on one node: the simulated machine's mount table."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace

from mockdriver.driver.errors import InvalidField, PathInTheWay
from mockdriver.driver.mounts.files import Files, Identity
from mockdriver.runtime import Lock, Runtime


@dataclass(frozen=True, slots=True)
class Use:
    """How a volume is used at a path: its capability as bytes, and what of it is looked at.

    `mount_group` is volume_mount_group, a group's identifier or "". `block` is for block access.
    """

    capability: bytes
    access_mode: int
    readonly: bool = False
    mount_group: str = ""
    block: bool = False


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


@dataclass(frozen=True, slots=True)
class TableState:
    """What a mount table held at one moment."""

    staged: dict[tuple[str, str], Use] = field(default_factory=dict)
    published: dict[str, Published] = field(default_factory=dict)


NOTHING_MOUNTED = TableState()

MountsState = Mapping[str, TableState]
"""What the mount tables of all nodes held at one moment, by node_id."""


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

    def count(self) -> int:
        """Return how many volumes are staged or published on all nodes together."""
        return sum(len(table.staged) + len(table.published) for table in self.state().values())

    def state(self) -> MountsState:
        """Return what is staged and published now on each node."""
        found = {}
        for node_id, table in self._by_node().items():
            with table.lock:
                if table.staged or table.published:
                    found[node_id] = TableState(dict(table.staged), dict(table.published))
        return found

    def put_back(self, state: MountsState, files: Files) -> None:
        """Let be staged and published what `state` says, and nothing else.

        What was published since is removed from the disk, too, and what was unpublished since is
        made again, as an empty target. Where that cannot be, since its parent has gone for one,
        it is not published any more.
        """
        for node_id in {*self._by_node(), *state}:
            self._put_back(self.of_node(node_id), state.get(node_id, NOTHING_MOUNTED), files)

    def forget_node(self, node_id: str, files: Files) -> None:
        """Unstage and unpublish all on a node, as the end of a machine does."""
        table = self._by_node().get(node_id)
        if table is not None:
            self._put_back(table, NOTHING_MOUNTED, files)

    def _by_node(self) -> dict[str, MountTable]:
        with self._lock:
            return dict(self._tables)

    def _put_back(self, table: MountTable, state: TableState, files: Files) -> None:
        with table.lock:
            for path, published in tuple(table.published.items()):
                if state.published.get(path) != published:
                    with suppress(InvalidField, PathInTheWay):
                        files.unpublish(path, published.volume_id, published.made)
                    table.remove(path)
            for path, published in state.published.items():
                if path not in table.published:
                    with suppress(InvalidField, PathInTheWay):
                        table.put(path, _published_again(path, published, files))
            table.staged = dict(state.staged)


def _published_again(path: str, published: Published, files: Files) -> Published:
    use = published.use
    made = files.publish(
        path,
        published.volume_id,
        block=use.block,
        readonly=use.readonly,
        mount_group=use.mount_group,
    )
    return replace(published, made=made)
