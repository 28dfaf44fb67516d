"""Removing a folder with whatever is in it, and nothing that is not."""

from __future__ import annotations

import errno
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockdriver.driver.mounts.removal import remove_folder
from tests.driver.mounts.watched_tree import canaries, state_of


def remove(path: Path) -> None:
    parent = os.open(path.parent, os.O_RDONLY)
    try:
        remove_folder(os.fsencode(path.name), parent_fd=parent)
    finally:
        os.close(parent)


def test_an_empty_folder_goes(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    remove(tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_all_kinds_of_files_go_with_it(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    (folder / "b" / "c").mkdir(parents=True)
    (folder / "b" / "file").write_text("content")
    (folder / "b" / "c" / "readonly").touch(0o400)
    (folder / "hard-link").hardlink_to(folder / "b" / "file")
    (folder / b"\xff\xfe".decode(errors="surrogateescape")).touch()
    (folder / "line\nbreak").mkdir()
    os.mkfifo(folder / "pipe")
    remove(folder)
    assert list(tmp_path.iterdir()) == []


def test_links_go_and_what_they_point_to_stays(tmp_path: Path) -> None:
    folder, birds = tmp_path / "a", canaries(tmp_path)
    (folder / "deep" / "er").mkdir(parents=True)
    before = state_of(birds)
    for place in (folder, folder / "deep", folder / "deep" / "er"):
        (place / "to-a-folder").symlink_to(birds)
        (place / "to-a-file").symlink_to(birds / "bird")
        (place / "up").symlink_to("../..")
        (place / "to-the-root").symlink_to("/")
        (place / "hard-link").hardlink_to(birds / "bird")
    remove(folder)
    assert state_of(birds) == before
    assert not folder.exists()


def test_a_link_is_no_folder_to_remove(tmp_path: Path) -> None:
    birds = canaries(tmp_path)
    before = state_of(tmp_path)
    with pytest.raises(OSError, match="Not a directory"):
        remove(birds / "to-the-full")
    assert state_of(tmp_path) == before


def test_names_that_the_removal_itself_uses_are_no_obstacle(tmp_path: Path) -> None:
    folder = tmp_path / "a"
    for place in (folder, folder / "b", folder / "b" / "c", folder / ".removed-1"):
        for number in range(5):
            (place / f".removed-{number}" / "x").mkdir(parents=True, exist_ok=True)
    remove(folder)
    assert not folder.exists()


def test_a_folder_deeper_than_the_stack_goes_without_many_open_files(tmp_path: Path) -> None:
    deep = os.open(tmp_path, os.O_RDONLY)
    for _ in range(sys.getrecursionlimit() + 100):
        os.mkdir("d", dir_fd=deep)
        inner = os.open("d", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = inner
    os.close(deep)
    remove(tmp_path / "d")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, birds = tmp_path / "a", canaries(tmp_path)
    (folder / "inner" / "x").mkdir(parents=True)
    before = state_of(birds)
    real = os.open

    def swapping(path: Any, *arguments: Any, **options: Any) -> int:
        if path == b"inner" and not (folder / "inner").is_symlink():
            (folder / "inner").rename(tmp_path / "moved")
            (folder / "inner").symlink_to(birds)
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", swapping)
    with pytest.raises(OSError, match="directory"):
        remove(folder)
    assert state_of(birds) == before


def test_another_file_system_inside_is_not_emptied(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inner = tmp_path / "a" / "mounted"
    inner.mkdir(parents=True)
    (inner / "bird").write_text("sings")

    def crossing(*_: object, **__: object) -> None:
        raise OSError(errno.EXDEV, "Invalid cross-device link")

    monkeypatch.setattr(os, "rename", crossing)
    with pytest.raises(OSError, match="cross-device"):
        remove(tmp_path / "a")
    assert (inner / "bird").read_text() == "sings"


def test_a_file_that_cannot_be_removed_is_told_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").touch()

    def refusing(*_: object, **__: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(os, "unlink", refusing)
    with pytest.raises(PermissionError):
        remove(tmp_path / "a")


NAMES = st.sampled_from(["a", "b", ".removed-0", ".removed-1", "..."])
TREES = st.recursive(
    st.sampled_from(["file", "link", "pipe"]),
    lambda inner: st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=25,
)


def grow(place: Path, tree: Any, birds: Path) -> None:
    if isinstance(tree, dict):
        place.mkdir()
        for name, inner in tree.items():
            grow(place / name, inner, birds)
    elif tree == "file":
        place.write_text("content")
    elif tree == "link":
        place.symlink_to(birds)
    else:
        os.mkfifo(place)


@settings(max_examples=60, deadline=None)
@given(tree=st.dictionaries(NAMES, TREES, max_size=5))
def test_every_tree_goes_and_nothing_else(
    tree: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("tree")
    birds = canaries(root)
    before = state_of(root)
    grow(root / "tree", tree, birds)
    remove(root / "tree")
    assert state_of(root) == before
