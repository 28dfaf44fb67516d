"""volume_mount_group: recorded, compared, and given to the target where the process may."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.driver.capabilities import VOLUME_MOUNT_GROUP
from mockdriver.driver.context import NodeMounts
from mockdriver.driver.mounts.mount_group import group_number
from tests.driver.small_driver import AccessMode, Mode, of
from tests.driver.small_node import BLOCK, SmallNode

GROUP = 54_321 if os.geteuid() == 0 else max(os.getgroups())
"""A group that this process may give its files to: any for root, else one of its own."""


@pytest.fixture
def node(tmp_path: Path) -> SmallNode:
    return SmallNode(tmp_path)


@pytest.fixture(params=[0o022, 0o077, 0o000], ids=oct)
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def for_group(
    group: str | int, mode: AccessMode = Mode.SINGLE_NODE_WRITER
) -> csi_pb2.VolumeCapability:
    """Return the capability of a mount for a group."""
    mount = csi_pb2.VolumeCapability.MountVolume(volume_mount_group=str(group))
    access_mode = csi_pb2.VolumeCapability.AccessMode(mode=mode)
    return csi_pb2.VolumeCapability(mount=mount, access_mode=access_mode)


def published(node: SmallNode, group: str | int, **fields: Any) -> os.stat_result:
    """Publish a volume for a group and look at the target."""
    of(node.stage(wanted=for_group(group)))
    of(node.publish(wanted=for_group(group), **fields))
    return node.target.stat()


def modes_of(node: SmallNode) -> tuple[int, int]:
    """Return the permissions and the group that a target has without any volume_mount_group."""
    of(node.stage())
    of(node.publish())
    found = node.target.stat()
    of(node.unpublish())
    of(node.unstage())
    return stat.S_IMODE(found.st_mode), found.st_gid


# ------------------------------------------------------------------------------------------ applied


@pytest.mark.usefixtures("_umask")
def test_the_target_is_the_groups_to_write_in(node: SmallNode) -> None:
    found = published(node, GROUP)

    assert found.st_gid == GROUP
    assert stat.S_IMODE(found.st_mode) == 0o2770


@pytest.mark.usefixtures("_umask")
def test_a_readonly_target_is_the_groups_to_read(node: SmallNode) -> None:
    found = published(node, GROUP, readonly=True)

    assert found.st_gid == GROUP
    assert stat.S_IMODE(found.st_mode) == 0o2550


def test_what_a_workload_makes_belongs_to_the_group(node: SmallNode) -> None:
    published(node, GROUP)
    (node.target / "folder").mkdir()
    (node.target / "folder" / "file").touch()

    assert (node.target / "folder" / "file").stat().st_gid == GROUP
    of(node.unpublish())
    assert not node.target.exists()


def test_the_staging_folder_stays_as_it_is(node: SmallNode) -> None:
    before = node.staging.stat()
    published(node, GROUP)
    after = node.staging.stat()

    assert (after.st_mode, after.st_gid) == (before.st_mode, before.st_gid)


def test_where_the_process_may_not_all_stays_and_the_answer_is_ok(
    node: SmallNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = modes_of(node)

    def refuse(fd: int, user: int, group: int) -> None:
        assert (user, group) == (-1, GROUP)
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refuse)
    found = published(node, GROUP)

    assert (stat.S_IMODE(found.st_mode), found.st_gid) == usual


NO_NUMBERS = ["staff", "-1", "+1", " 1", "1 ", "1\n", "0x1", "1e3", "1_0", "\u0661", "4294967295"]
NO_NUMBERS += ["4294967296", "9" * 128, "x" * 128, "\0", "../../etc"]


@pytest.mark.parametrize("identifier", NO_NUMBERS)
def test_what_is_no_number_of_a_group_is_recorded_and_not_applied(
    identifier: str, node: SmallNode
) -> None:
    usual = modes_of(node)
    found = published(node, identifier)

    assert (stat.S_IMODE(found.st_mode), found.st_gid) == usual
    assert node.publish(wanted=for_group(identifier)).ok
    assert node.publish(wanted=for_group("other")).code == "ALREADY_EXISTS"


@pytest.mark.parametrize(
    ("identifier", "number"),
    [("0", 0), ("7", 7), ("007", 7), ("4294967294", 2**32 - 2), ("4294967295", None), ("", None)],
)
def test_a_group_is_a_number_that_the_kernel_has(identifier: str, number: int | None) -> None:
    assert group_number(identifier) == number


def test_an_identifier_of_129_bytes_is_too_long(node: SmallNode) -> None:
    answer = node.stage(wanted=for_group("1" * 129))

    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message.startswith("volume_capability.mount.volume_mount_group: has 129 bytes")


def test_a_block_volume_has_no_group(node: SmallNode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fchown", None)
    of(node.stage(wanted=BLOCK))

    assert node.publish(wanted=BLOCK).ok


# ----------------------------------------------------------------------------------------- compared


def test_a_repeat_for_the_same_group_is_ok(node: SmallNode) -> None:
    published(node, GROUP)
    assert node.stage(wanted=for_group(GROUP)).ok
    assert node.publish(wanted=for_group(GROUP)).ok


@pytest.mark.parametrize("other", ["7", "", "0"])
def test_a_repeat_for_another_group_exists_already_and_changes_nothing(
    other: str, node: SmallNode
) -> None:
    before = published(node, GROUP)
    assert node.stage(wanted=for_group(other)).code == "ALREADY_EXISTS"
    assert node.publish(wanted=for_group(other)).code == "ALREADY_EXISTS"

    assert node.target.stat() == before


def test_targets_of_one_volume_may_be_for_different_groups(node: SmallNode) -> None:
    """A kubelet stages for the first pod's group, and publishes for each pod's."""
    volume, mode = node.attach_shared(), Mode.MULTI_NODE_MULTI_WRITER
    of(node.stage(volume, wanted=for_group("7", mode)))
    of(node.publish(volume, node.pods / "a", wanted=for_group("7", mode)))
    of(node.publish(volume, node.pods / "b", wanted=for_group(GROUP, mode)))

    assert (node.pods / "b").stat().st_gid == GROUP


def test_without_mounts_the_group_is_compared_all_the_same(tmp_path: Path) -> None:
    node = SmallNode(tmp_path, node_mounts=NodeMounts.NONE)
    of(node.stage(wanted=for_group("7")))
    of(node.publish(wanted=for_group("7")))

    assert node.publish(wanted=for_group("8")).code == "ALREADY_EXISTS"
    assert not node.target.exists()


# ---------------------------------------------------------------------------------------------- off


@pytest.fixture
def without(tmp_path: Path) -> SmallNode:
    return SmallNode(tmp_path, switches={VOLUME_MOUNT_GROUP: False})


def test_without_the_capability_the_field_changes_no_file(without: SmallNode) -> None:
    usual = modes_of(without)
    found = published(without, GROUP)

    assert (stat.S_IMODE(found.st_mode), found.st_gid) == usual


@pytest.mark.parametrize("other", ["", "7", str(GROUP)])
def test_without_the_capability_the_field_makes_no_other_mount(
    other: str, without: SmallNode
) -> None:
    published(without, GROUP)

    assert without.stage(wanted=for_group(other)).ok
    assert without.publish(wanted=for_group(other)).ok
    assert without.publish(wanted=for_group(GROUP), readonly=True).code == "ALREADY_EXISTS"


def test_without_the_capability_other_fields_of_the_mount_still_count(without: SmallNode) -> None:
    published(without, GROUP)
    other = for_group(GROUP)
    other.mount.fs_type = "xfs"

    assert without.publish(wanted=other).code == "ALREADY_EXISTS"


def test_the_request_is_logged_with_the_group_either_way(without: SmallNode) -> None:
    published(without, "7")

    entry = without.driver.journal.entries()[-1]
    assert entry.request()["volume_capability"]["mount"] == {"volume_mount_group": "7"}
