"""What is mounted on all nodes is kept and put back, on the disk too."""

from __future__ import annotations

from pathlib import Path

import pytest

from mockdriver.driver.mounts.files import DirectoryFiles, NoFiles
from mockdriver.driver.mounts.mount_table import MountTables, Published, Use
from mockdriver.runtime import VirtualRuntime

FOLDER = Use(b"", 1)
FILE = Use(b"block", 1, block=True)


class Node:
    """The mount table of `i-1`, with real files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.tables = MountTables(VirtualRuntime())
        self.files = DirectoryFiles()

    def mount(self, name: str, volume_id: str = "vol", use: Use = FOLDER) -> Path:
        path = self.folder / name
        made = self.files.publish(str(path), volume_id, block=use.block, readonly=use.readonly)
        self.tables.of_node("i-1").put(str(path), Published(volume_id, use, made))
        return path

    def unmount(self, name: str) -> None:
        table, path = self.tables.of_node("i-1"), str(self.folder / name)
        published = table.published[path]
        self.files.unpublish(path, published.volume_id, published.made)
        table.remove(path)

    def published(self) -> dict[str, str]:
        table = self.tables.of_node("i-1")
        return {Path(path).name: item.volume_id for path, item in table.published.items()}


@pytest.fixture
def node(tmp_path: Path) -> Node:
    return Node(tmp_path)


def test_what_was_mounted_since_is_gone_from_table_and_disk(node: Node) -> None:
    state = node.tables.state()
    paths = [node.mount("a"), node.mount("b", use=FILE)]
    (paths[0] / "data").write_text("x")
    node.tables.put_back(state, node.files)
    assert node.published() == {}
    assert not any(path.exists() for path in paths)
    assert node.tables.of_node("i-1").targets_of("vol") == []


def test_what_was_unmounted_since_is_there_again(node: Node) -> None:
    folder, file = node.mount("a"), node.mount("b", use=FILE)
    state = node.tables.state()
    node.unmount("a")
    node.unmount("b")
    node.tables.put_back(state, node.files)
    assert node.published() == {"a": "vol", "b": "vol"}
    assert (folder.is_dir(), file.is_file()) == (True, True)
    node.unmount("a")
    assert not folder.exists()


def test_another_volume_in_the_place_gives_way(node: Node) -> None:
    node.mount("a", "old")
    state = node.tables.state()
    node.unmount("a")
    node.mount("a", "new")
    node.tables.put_back(state, node.files)
    assert node.published() == {"a": "old"}
    assert node.tables.of_node("i-1").targets_of("new") == []


def test_what_stays_is_not_touched(node: Node) -> None:
    path = node.mount("a")
    (path / "data").write_text("x")
    node.tables.put_back(node.tables.state(), node.files)
    assert (path / "data").read_text() == "x"


def test_what_cannot_be_mounted_again_is_forgotten(node: Node) -> None:
    node.mount("a")
    state = node.tables.state()
    node.unmount("a")
    (node.folder / "a").write_text("somebody else's")
    node.tables.put_back(state, node.files)
    assert node.published() == {}
    assert (node.folder / "a").read_text() == "somebody else's"


def test_staged_volumes_are_part_of_it(node: Node) -> None:
    table = node.tables.of_node("i-1")
    table.staged["vol", "/staging"] = FOLDER
    state = node.tables.state()
    table.staged.clear()
    table.staged["other", "/staging"] = FOLDER
    node.tables.put_back(state, node.files)
    assert table.staged == {("vol", "/staging"): FOLDER}
    assert node.tables.count() == 1


def test_a_state_stays_as_it_is(node: Node) -> None:
    node.mount("a")
    state = node.tables.state()
    node.mount("b")
    for _ in range(2):
        node.tables.put_back(state, node.files)
        node.mount("c")
    node.tables.put_back(state, node.files)
    assert node.published() == {"a": "vol"}


def test_one_node_can_be_forgotten(node: Node) -> None:
    path = node.mount("a")
    node.tables.of_node("i-2").staged["vol", "/staging"] = FOLDER
    node.tables.forget_node("i-1", node.files)
    node.tables.forget_node("none", node.files)
    assert not path.exists()
    assert list(node.tables.state()) == ["i-2"]


def test_where_nothing_is_made_nothing_is_removed(node: Node) -> None:
    path = node.mount("a")
    node.tables.put_back({}, NoFiles())
    assert (node.published(), path.is_dir()) == ({}, True)
