"""What NodePublishVolume makes at its target, and what NodeUnpublishVolume leaves there."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.driver.errors import PathInTheWay
from mockdriver.driver.mounts import files, removal
from mockdriver.driver.mounts.files import MARK, DirectoryFiles
from tests.driver.mounts import marks
from tests.driver.mounts.watched_tree import canaries, state_of
from tests.driver.small_driver import capability, of
from tests.driver.small_node import BLOCK, SmallNode

MOUNT = capability()


@pytest.fixture(params=["marks", "no marks", "no such functions"])
def node(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> SmallNode:
    """Return a node with `vol-1` staged, on a file system with and without attributes."""
    if request.param == "marks":
        marks.provide(monkeypatch, tmp_path)
    elif request.param == "no marks":
        marks.take_away(monkeypatch)
    else:
        marks.remove_functions(monkeypatch)
    node = SmallNode(tmp_path)
    of(node.stage())
    return node


@pytest.fixture
def marked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallNode:
    """Return a node with `vol-1` staged, on a file system with attributes."""
    marks.provide(monkeypatch, tmp_path)
    node = SmallNode(tmp_path)
    of(node.stage())
    return node


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def staged_for_block(node: SmallNode) -> SmallNode:
    of(node.unstage())
    of(node.stage(wanted=BLOCK))
    return node


# -------------------------------------------------------------------------------- made and removed


def test_publish_makes_a_folder_and_unpublish_removes_it(node: SmallNode) -> None:
    before = state_of(node.folder)
    of(node.publish())
    assert node.target.is_dir()
    assert list(node.target.iterdir()) == []
    of(node.unpublish())
    assert state_of(node.folder) == before


def test_for_block_access_it_is_an_empty_file(node: SmallNode) -> None:
    staged_for_block(node)
    before = state_of(node.folder)
    of(node.publish(wanted=BLOCK))
    assert stat.S_ISREG(node.target.lstat().st_mode)
    assert node.target.read_bytes() == b""
    of(node.unpublish())
    assert state_of(node.folder) == before


def test_a_workload_can_write_and_what_it_wrote_goes_with_the_target(node: SmallNode) -> None:
    before = state_of(node.folder)
    of(node.publish())
    (node.target / "a" / "b").mkdir(parents=True)
    (node.target / "a" / "b" / "file").write_text("data")
    of(node.unpublish())
    assert state_of(node.folder) == before


def test_what_was_written_into_a_block_file_goes_with_it(node: SmallNode) -> None:
    staged_for_block(node)
    of(node.publish(wanted=BLOCK))
    node.target.write_bytes(b"x" * 10_000)
    of(node.unpublish())
    assert not node.target.exists()


def test_links_in_a_target_are_removed_and_not_followed(node: SmallNode) -> None:
    birds = canaries(node.folder)
    before = state_of(node.folder)
    of(node.publish())
    (node.target / "deep").mkdir()
    for place in (node.target, node.target / "deep"):
        (place / "to-a-folder").symlink_to(birds)
        (place / "to-a-file").symlink_to(birds / "bird")
        (place / "to-the-parent").symlink_to("..")
    of(node.unpublish())
    assert state_of(node.folder) == before


@pytest.mark.parametrize("wanted", [MOUNT, BLOCK], ids=["mount", "block"])
def test_a_readonly_target_cannot_be_written_to(
    wanted: csi_pb2.VolumeCapability, node: SmallNode
) -> None:
    of(node.unstage())
    of(node.stage(wanted=wanted))
    of(node.publish(wanted=wanted, readonly=True))
    assert mode_of(node.target) & 0o222 == 0
    of(node.unpublish())
    of(node.publish(wanted=wanted))
    assert mode_of(node.target) & 0o200
    of(node.unpublish())
    assert not node.target.exists()


def test_nobody_else_on_the_machine_can_read_a_target(node: SmallNode) -> None:
    of(node.publish())
    assert mode_of(node.target) & 0o007 == 0


def test_publishing_again_makes_nothing_anew(node: SmallNode) -> None:
    of(node.publish())
    (node.target / "data").touch()
    before = state_of(node.folder)
    assert node.publish().ok
    assert node.publish(readonly=True).code == "ALREADY_EXISTS"
    assert state_of(node.folder) == before


# ----------------------------------------------------------------------------- what is there before


def test_an_empty_folder_of_the_co_gives_way(node: SmallNode) -> None:
    node.target.mkdir()
    of(node.publish())
    assert node.target.is_dir()
    of(node.unpublish())
    assert not node.target.exists()


def test_an_empty_file_of_the_co_gives_way_to_a_block_volume(node: SmallNode) -> None:
    staged_for_block(node)
    node.target.touch()
    of(node.publish(wanted=BLOCK))
    of(node.unpublish())
    assert not node.target.exists()


def full_folder(target: Path) -> None:
    target.mkdir()
    (target / "bird").touch()


def full_file(target: Path) -> None:
    target.write_text("sings")


def pipe(target: Path) -> None:
    os.mkfifo(target)


@pytest.mark.parametrize("make", [full_folder, full_file, Path.touch, pipe])
def test_nothing_else_gives_way_to_a_folder(
    make: Callable[[Path], object], node: SmallNode
) -> None:
    make(node.target)
    before = state_of(node.folder)
    answer = node.publish()
    assert answer.code == "FAILED_PRECONDITION"
    assert answer.message == (
        f"target_path: something that is no empty folder is in the way at '{node.target}'"
    )
    assert node.unpublish().ok
    assert state_of(node.folder) == before


@pytest.mark.parametrize("make", [full_folder, full_file, Path.mkdir, pipe])
def test_nothing_else_gives_way_to_a_file(make: Callable[[Path], object], node: SmallNode) -> None:
    staged_for_block(node)
    make(node.target)
    before = state_of(node.folder)
    answer = node.publish(wanted=BLOCK)
    assert answer.code == "FAILED_PRECONDITION"
    assert "something that is no empty file is in the way" in answer.message
    assert node.unpublish().ok
    assert state_of(node.folder) == before


@pytest.mark.parametrize(
    "to", ["canaries", "canaries/empty", "canaries/nothing-in-it", "no-such", "pods/target"]
)
@pytest.mark.parametrize("wanted", [MOUNT, BLOCK], ids=["mount", "block"])
def test_a_link_at_the_target_is_refused_and_left(
    wanted: csi_pb2.VolumeCapability, to: str, node: SmallNode
) -> None:
    of(node.unstage())
    of(node.stage(wanted=wanted))
    canaries(node.folder)
    node.target.symlink_to(node.folder / to)
    before = state_of(node.folder)
    answer = node.publish(wanted=wanted)
    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message == (
        f"target_path: '{node.target}' is a symbolic link; these are not followed"
    )
    assert node.unpublish().ok
    assert state_of(node.folder) == before


def test_a_link_on_the_way_to_the_target_is_refused_both_ways(node: SmallNode) -> None:
    birds = canaries(node.folder)
    before = state_of(node.folder)
    for link, path in (("to-the-full", "target"), ("to-nowhere", "a/b"), ("to-a-bird", "target")):
        target = birds / link / path
        for answer in (node.publish(path=target), node.unpublish(path=target)):
            assert answer.code == "INVALID_ARGUMENT"
            assert answer.message == (
                f"target_path: '{birds / link}' is a symbolic link; these are not followed"
            )
    assert state_of(node.folder) == before


@pytest.mark.parametrize("path", ["no-such/target", "no-such/a/b/target"])
def test_a_missing_parent_is_not_made(path: str, node: SmallNode) -> None:
    before = state_of(node.folder)
    answer = node.publish(path=node.folder / path)
    assert answer.code == "FAILED_PRECONDITION"
    assert answer.message == f"target_path: there is no folder '{node.folder}/no-such'"
    assert node.unpublish(path=node.folder / path).ok
    assert state_of(node.folder) == before


def test_a_parent_that_is_a_file_is_left(node: SmallNode) -> None:
    (node.folder / "file").write_text("bird")
    before = state_of(node.folder)
    answer = node.publish(path=node.folder / "file" / "target")
    assert answer.code == "FAILED_PRECONDITION"
    assert answer.message == f"target_path: '{node.folder}/file' is no folder"
    assert node.unpublish(path=node.folder / "file" / "target").ok
    assert state_of(node.folder) == before


@pytest.mark.parametrize("path", ["/proc/1/mem", "/proc/version", "/dev/null", "/sys/power/state"])
@pytest.mark.parametrize("wanted", [MOUNT, BLOCK], ids=["mount", "block"])
def test_files_of_the_kernel_are_in_the_way(
    path: str, wanted: csi_pb2.VolumeCapability, node: SmallNode
) -> None:
    of(node.unstage())
    of(node.stage(wanted=wanted))
    assert node.publish(path=path, wanted=wanted).code == "FAILED_PRECONDITION"
    assert node.unpublish(path=path).code in {"OK", "FAILED_PRECONDITION"}
    assert node.stats(path=path).code == "NOT_FOUND"


# ------------------------------------------------------------------------------- the staging folder


@pytest.mark.parametrize(
    ("make", "code", "problem"),
    [
        (None, "FAILED_PRECONDITION", "'{}' must be a folder, nothing is there"),
        (Path.touch, "FAILED_PRECONDITION", "'{}' must be a folder, it is no folder"),
        (pipe, "FAILED_PRECONDITION", "'{}' must be a folder, it is no folder"),
        (
            lambda path: path.symlink_to("pods"),
            "INVALID_ARGUMENT",
            "'{}' is a symbolic link; these are not followed",
        ),
    ],
    ids=["nothing", "file", "pipe", "link"],
)
def test_a_staging_path_must_be_a_folder(
    make: Callable[[Path], object] | None, code: str, problem: str, node: SmallNode
) -> None:
    path = node.folder / "other-staging"
    if make is not None:
        make(path)
    before = state_of(node.folder)
    answer = node.stage(path=path)
    assert answer.code == code
    assert answer.message == f"staging_target_path: {problem.format(path)}"
    assert node.unstage(path=path).ok
    assert state_of(node.folder) == before


# -------------------------------------------------------------------------- what is somebody else's


def test_what_took_the_place_of_a_target_is_left(node: SmallNode) -> None:
    of(node.publish())
    node.target.rename(node.pods / "moved")
    full_folder(node.target)
    before = state_of(node.folder)
    assert node.unpublish().ok
    assert state_of(node.folder) == before


def test_a_link_that_took_the_place_of_a_target_is_left(node: SmallNode) -> None:
    birds = canaries(node.folder)
    of(node.publish())
    node.target.rename(node.pods / "moved")
    node.target.symlink_to(birds)
    before = state_of(node.folder)
    assert node.unpublish().ok
    assert state_of(node.folder) == before


def test_a_target_that_somebody_removed_is_unpublished(node: SmallNode) -> None:
    of(node.publish())
    node.target.rmdir()
    assert node.unpublish().ok
    assert node.stats().code == "NOT_FOUND"


def test_a_target_whose_parent_somebody_removed_is_unpublished(node: SmallNode) -> None:
    of(node.publish())
    node.target.rmdir()
    node.pods.rmdir()
    assert node.unpublish().ok


def test_a_parent_that_became_a_link_meanwhile_is_refused(node: SmallNode) -> None:
    of(node.publish())
    node.pods.rename(node.folder / "moved")
    node.pods.symlink_to(node.folder / "moved")
    before = state_of(node.folder)
    assert node.unpublish().code == "INVALID_ARGUMENT"
    assert state_of(node.folder) == before


def test_a_target_that_could_not_be_removed_is_still_published(
    node: SmallNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    of(node.publish())

    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EBUSY, "busy")

    with monkeypatch.context() as busy:
        busy.setattr(os, "rmdir", refuse)
        answer = node.unpublish()
    assert answer.code == "FAILED_PRECONDITION"
    assert answer.message == (
        f"target_path: '{node.target}' cannot be used: Device or resource busy"
    )
    assert node.stats().ok
    of(node.unpublish())
    assert not node.target.exists()


def test_a_target_that_could_not_be_made_is_not_published(
    node: SmallNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "full")

    with monkeypatch.context() as full:
        full.setattr(os, "mkdir", refuse)
        assert node.publish().code == "FAILED_PRECONDITION"
    assert node.stats().code == "NOT_FOUND"
    of(node.publish())


# ------------------------------------------------------------------------------- after a restart


def test_a_new_driver_removes_what_the_old_one_made(marked: SmallNode) -> None:
    before = state_of(marked.folder)
    of(marked.publish())
    (marked.target / "data").touch()
    of(marked.restarted().unpublish())
    assert state_of(marked.folder) == before


def test_a_new_driver_removes_a_block_file_of_the_old_one(marked: SmallNode) -> None:
    staged_for_block(marked)
    of(marked.publish(wanted=BLOCK, readonly=True))
    of(marked.restarted().unpublish())
    assert not marked.target.exists()


def test_a_new_driver_publishes_again_over_what_the_old_one_made(marked: SmallNode) -> None:
    of(marked.publish())
    (marked.target / "data").touch()
    restarted = marked.restarted()
    of(restarted.stage())
    of(restarted.publish())
    assert (marked.target / "data").exists()
    of(restarted.unpublish())
    assert not marked.target.exists()


def test_a_target_of_another_volume_is_in_the_way_of_a_new_driver(marked: SmallNode) -> None:
    of(marked.publish())
    (marked.target / "data").touch()
    restarted = marked.restarted()
    restarted.attach("vol-2")
    of(restarted.stage("vol-2"))
    before = state_of(marked.folder)
    assert restarted.publish("vol-2").code == "FAILED_PRECONDITION"
    assert restarted.unpublish("vol-2").ok
    assert state_of(marked.folder) == before


def test_a_folder_is_no_block_file_of_the_old_driver(marked: SmallNode) -> None:
    of(marked.publish())
    (marked.target / "data").touch()
    restarted = marked.restarted()
    of(restarted.stage(wanted=BLOCK))
    assert restarted.publish(wanted=BLOCK).code == "FAILED_PRECONDITION"


def test_a_volume_that_has_gone_meanwhile_leaves_its_target_all_the_same(
    marked: SmallNode,
) -> None:
    of(marked.publish())
    marked.driver.operator.detach("vol-1", "i-1")
    of(marked.driver.delete("vol-1"))
    restarted = marked.restarted()
    assert [restarted.unpublish().code for _ in range(2)] == ["OK", "NOT_FOUND"]
    assert not marked.target.exists()


def test_without_marks_a_new_driver_leaves_what_the_old_one_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks.take_away(monkeypatch)
    node = SmallNode(tmp_path).use()
    before = state_of(tmp_path)
    assert node.restarted().unpublish().ok
    assert state_of(tmp_path) == before


# ---------------------------------------------------------------------------------------- the mark


def test_a_target_carries_the_id_of_its_volume(marked: SmallNode) -> None:
    of(marked.publish())
    fd = os.open(marked.target, os.O_RDONLY)
    assert os.getxattr(fd, MARK) == b"vol-1"
    os.close(fd)


def test_the_mark_decides_and_not_the_inode_that_may_be_given_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks.provide(monkeypatch, tmp_path)
    path = tmp_path / "target"
    assert DirectoryFiles().publish(str(path), "vol-1", block=False, readonly=False) is None
    made = (path.stat().st_dev, path.stat().st_ino)
    assert not DirectoryFiles().unpublish(str(path), "vol-2", made)
    assert path.is_dir()
    assert DirectoryFiles().unpublish(str(path), "vol-1", None)
    assert not path.exists()


def test_without_marks_the_inode_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    marks.take_away(monkeypatch)
    path = tmp_path / "target"
    made = DirectoryFiles().publish(str(path), "vol-1", block=False, readonly=False)
    assert made == (path.stat().st_dev, path.stat().st_ino)
    assert not DirectoryFiles().unpublish(str(path), "vol-1", (made[0], made[1] + 1))
    assert not DirectoryFiles().unpublish(str(path), "vol-1", None)
    assert DirectoryFiles().unpublish(str(path), "vol-1", made)


def test_a_mark_that_cannot_be_read_leaves_the_target_with_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "target"
    path.mkdir()
    marks.take_away(monkeypatch, errno.EACCES)
    with pytest.raises(PathInTheWay, match="Permission denied"):
        DirectoryFiles().unpublish(str(path), "vol-1", None)
    assert path.is_dir()


def test_a_readonly_target_is_marked_before_it_becomes_readonly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user who is not root may not mark what he may not write to."""
    modes = []

    def remember(fd: int, *_: object) -> None:
        modes.append(stat.S_IMODE(os.fstat(fd).st_mode))

    monkeypatch.setattr(os, "setxattr", remember, raising=False)
    for block in (False, True):
        DirectoryFiles().publish(str(tmp_path / str(block)), "v", block=block, readonly=True)
    assert all(mode & 0o200 for mode in modes)
    assert len(modes) == 2


# ----------------------------------------------------------------------------- between look and use


def test_a_parent_that_becomes_a_link_between_look_and_use_leads_nowhere(
    marked: SmallNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    birds, moved = canaries(marked.folder), marked.folder / "moved"
    before = state_of(birds)

    real = os.mkdir

    def swapping(path: Any, *arguments: Any, **options: Any) -> None:
        if path == b"target":
            marked.pods.rename(moved)
            marked.pods.symlink_to(birds)
        real(path, *arguments, **options)

    monkeypatch.setattr(os, "mkdir", swapping)
    of(marked.publish())
    assert (moved / "target").is_dir()
    assert state_of(birds) == before


@pytest.mark.parametrize("function", ["_is_own", "remove_folder"])
def test_a_parent_that_becomes_a_link_before_the_removal_leads_nowhere(
    function: str, marked: SmallNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    birds, moved = canaries(marked.folder), marked.folder / "moved"
    (birds / "target").mkdir()
    (birds / "target" / "bird").touch()
    before = state_of(birds)
    of(marked.publish())
    real = getattr(files, function)

    def swapping(*arguments: Any, **options: Any) -> Any:
        marked.pods.rename(moved)
        marked.pods.symlink_to(birds)
        return real(*arguments, **options)

    monkeypatch.setattr(files, function, swapping)
    of(marked.unpublish())
    assert not (moved / "target").exists()
    assert state_of(birds) == before


def test_a_target_that_becomes_a_link_before_the_removal_is_not_followed(
    marked: SmallNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    birds = canaries(marked.folder)
    before = state_of(birds)
    of(marked.publish())
    real = removal.remove_folder

    def swapping(*arguments: Any, **options: Any) -> Any:
        marked.target.rename(marked.pods / "moved")
        marked.target.symlink_to(birds)
        return real(*arguments, **options)

    monkeypatch.setattr(files, "remove_folder", swapping)
    assert marked.unpublish().code == "FAILED_PRECONDITION"
    assert state_of(birds) == before


def test_a_link_that_appears_where_a_block_file_is_to_be_made_is_not_followed(
    marked: SmallNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    staged_for_block(marked)
    birds = canaries(marked.folder)
    before = state_of(birds)
    real = files._make

    def planting(*arguments: Any) -> int:
        marked.target.symlink_to(birds / "new-file")
        return real(*arguments)

    monkeypatch.setattr(files, "_make", planting)
    assert marked.publish(wanted=BLOCK).code == "FAILED_PRECONDITION"
    assert state_of(birds) == before


def test_a_link_that_takes_the_place_of_a_new_folder_gets_no_mark(
    marked: SmallNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    birds = canaries(marked.folder)
    before = state_of(birds)
    real = os.mkdir

    def swapping(path: Any, *arguments: Any, **options: Any) -> None:
        real(path, *arguments, **options)
        if path == b"target":
            marked.target.rename(marked.pods / "moved")
            marked.target.symlink_to(birds)

    monkeypatch.setattr(os, "mkdir", swapping)
    assert marked.publish().code == "FAILED_PRECONDITION"
    assert state_of(birds) == before
    with pytest.raises(OSError, match=os.strerror(errno.ENODATA)):
        os.getxattr(birds, MARK)
