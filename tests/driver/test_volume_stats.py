"""NodeGetVolumeStats: what a volume is of, and what lies in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from csi_spec import csi_pb2
from tests.driver.small_driver import GIB, Mode, capability, of
from tests.driver.small_node import BLOCK, SmallNode

BYTES, INODES = csi_pb2.VolumeUsage.BYTES, csi_pb2.VolumeUsage.INODES
SIZE_GIB = 3
"""The size of the disks of a SmallNode."""


@pytest.fixture
def node(tmp_path: Path) -> SmallNode:
    return SmallNode(tmp_path).use()


def usage(node: SmallNode, path: Path | None = None) -> dict[int, tuple[int, int, int]]:
    """Return used, available and total by unit."""
    response = of(node.stats(path=path))
    return {item.unit: (item.used, item.available, item.total) for item in response.usage}


def test_an_empty_volume_has_all_of_its_disk_s_size(node: SmallNode) -> None:
    assert usage(node) == {
        BYTES: (0, SIZE_GIB * GIB, SIZE_GIB * GIB),
        INODES: (0, SIZE_GIB * 65_536, SIZE_GIB * 65_536),
    }


def test_files_use_bytes_and_names_use_inodes(node: SmallNode) -> None:
    (node.target / "a").write_bytes(b"x" * 1000)
    (node.target / "folder").mkdir()
    (node.target / "folder" / "b").write_bytes(b"x" * 24)
    found = usage(node)
    assert found[BYTES] == (1024, SIZE_GIB * GIB - 1024, SIZE_GIB * GIB)
    assert found[INODES][0] == 3


def test_links_are_counted_and_not_followed(node: SmallNode, tmp_path: Path) -> None:
    (tmp_path / "big").write_bytes(b"x" * 100_000)
    (tmp_path / "many").mkdir()
    for number in range(50):
        (tmp_path / "many" / str(number)).touch()
    (node.target / "to-a-file").symlink_to(tmp_path / "big")
    (node.target / "to-a-folder").symlink_to(tmp_path / "many")
    found = usage(node)
    assert found[BYTES][0] < 1_000
    assert found[INODES][0] == 2


def test_more_than_the_disk_has_is_shown_as_full(node: SmallNode) -> None:
    with (node.target / "sparse").open("wb") as file:
        file.truncate((SIZE_GIB + 1) * GIB)
    assert usage(node)[BYTES] == (SIZE_GIB * GIB, 0, SIZE_GIB * GIB)


def test_a_staged_path_will_do_too(node: SmallNode) -> None:
    (node.staging / "a").write_bytes(b"x" * 7)
    assert usage(node, node.staging)[BYTES][0] == 7
    of(node.unstage())
    assert node.stats(path=node.staging).code == "NOT_FOUND"


def test_a_block_volume_has_its_size_alone(tmp_path: Path) -> None:
    node = SmallNode(tmp_path)
    of(node.stage(wanted=BLOCK))
    of(node.publish(wanted=BLOCK))
    for path in (node.target, node.staging):
        (only,) = of(node.stats(path=path)).usage
        assert only == csi_pb2.VolumeUsage(unit=BYTES, total=SIZE_GIB * GIB)


@pytest.mark.parametrize("written", ["{}/", "/{}", "{}/.", "{}"])
def test_a_path_can_be_written_in_other_ways(written: str, node: SmallNode) -> None:
    assert node.stats(path=written.format(node.target)).ok


@pytest.mark.parametrize(
    "path", ["some/path", "/", "//", "/..", "/\0", "/" + "x" * 300, "{}/..", "{}x", "{}/a", "."]
)
def test_any_other_path_is_not_where_the_volume_is(path: str, node: SmallNode) -> None:
    answer = node.stats(path=path.format(node.target))
    assert answer.code == "NOT_FOUND"
    assert answer.message.startswith("volume_path: volume 'vol-1' is not at ")


def test_a_relative_path_is_not_taken_for_an_absolute_one(node: SmallNode) -> None:
    assert node.stats(path=str(node.target).removeprefix("/")).code == "NOT_FOUND"


def test_a_path_of_another_volume_is_not_this_one_s(node: SmallNode) -> None:
    node.attach("vol-2")
    assert node.stats("vol-2").code == "NOT_FOUND"


def test_a_target_that_somebody_removed_is_an_empty_one(node: SmallNode) -> None:
    node.target.rmdir()
    assert usage(node)[BYTES][0] == 0


def test_a_target_that_somebody_replaced_by_a_link_is_an_empty_one(
    node: SmallNode, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_bytes(b"x" * 100)
    node.target.rmdir()
    node.target.symlink_to(tmp_path)
    assert usage(node)[BYTES][0] == 0


def test_a_parent_that_somebody_replaced_by_a_link_is_not_followed(node: SmallNode) -> None:
    (node.target / "a").write_bytes(b"x" * 100)
    node.pods.rename(node.folder / "moved")
    node.pods.symlink_to(node.folder / "moved")
    assert usage(node)[BYTES][0] == 0


def test_each_target_of_a_volume_counts_for_itself(tmp_path: Path) -> None:
    node, wanted = SmallNode(tmp_path), capability(Mode.MULTI_NODE_MULTI_WRITER)
    volume = node.attach_shared()
    node.use(volume, Mode.MULTI_NODE_MULTI_WRITER)
    other = node.pods / "other"
    of(node.publish(volume, other, wanted=wanted))
    (other / "a").write_bytes(b"x" * 9)
    used = [of(node.stats(volume, path)).usage[0].used for path in (node.target, other)]
    assert used == [0, 9]


@pytest.mark.slow
def test_a_very_deep_or_very_full_folder_is_counted_in_part_and_soon(node: SmallNode) -> None:
    deep = os.open(node.target, os.O_RDONLY)
    for _ in range(1_500):
        os.mkdir("d", dir_fd=deep)
        inner = os.open("d", os.O_RDONLY, dir_fd=deep)
        os.close(deep)
        deep = inner
    os.close(deep)
    full = node.target / "full"
    full.mkdir()
    for number in range(11_000):
        (full / str(number)).touch()
    inodes = usage(node)[INODES][0]
    assert 10_000 < inodes <= 12_501
    of(node.unpublish())
    assert not node.target.exists()
