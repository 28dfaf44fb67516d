"""Planted bugs in what nodes, listings and zones do: each must make a test fail."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mockdriver.cloud import Caller, CloudApi, Disk, DiskPage
from mockdriver.cloud.core import CloudCore
from mockdriver.driver import access, node_volumes, volume_listing
from mockdriver.driver.capabilities import STAGE_UNSTAGE_VOLUME, VOLUME_MOUNT_GROUP
from mockdriver.driver.mounts import files, removal, safe_path
from mockdriver.driver.mounts.files import DirectoryFiles
from mockdriver.driver.node_volumes import NodeVolumes
from mockdriver.driver.volume_listing import ListingRpcs
from mockdriver.driver.volumes import VolumeRpcs
from tests.driver import (
    test_listing,
    test_node_volumes,
    test_room,
    test_validating,
    test_volume_stats,
)
from tests.driver.mounts import marks, test_mount_group, test_targets
from tests.driver.small_driver import Mode, of
from tests.driver.small_node import SmallNode
from tests.planting import Plant, replaced

Test = Callable[[SmallNode, pytest.MonkeyPatch], object]


def nothing(*_: object, **__: object) -> None:
    """Do nothing where something should be done."""


def follow_links(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(safe_path, "_WALK", os.O_RDONLY | os.O_DIRECTORY)
    monkeypatch.setattr(files, "_look_at_no_link", lambda field, place: place.look())


def walk_by_name(
    path: Any, *, dir_fd: int, follow_symlinks: bool, real: Callable[..., Any] = os.fwalk
) -> Any:
    return real(path, dir_fd=dir_fd, follow_symlinks=True)


def take_everything_for_empty(field: str, place: Any, found: Any, block: bool) -> None:
    removal.remove_folder(place.name, parent_fd=place.parent_fd)


def with_staged(test: Callable[[SmallNode], None]) -> Test:
    """Return a test of targets with the node that its fixture makes."""

    def run(node: SmallNode, monkeypatch: pytest.MonkeyPatch) -> None:
        of(node.stage())
        test(node)

    return run


def plain(test: Callable[[SmallNode], None]) -> Test:
    return lambda node, monkeypatch: test(node)


def without_node(test: Callable[[], None]) -> Test:
    return lambda node, monkeypatch: test()


def used(test: Callable[[SmallNode], None]) -> Test:
    return lambda node, monkeypatch: test(node.use())


def with_boot_disks(api: CloudApi, after: int, limit: int, caller: Caller) -> DiskPage:
    page = _list_disks(api, after, limit, caller)
    boot = api.describe_disks(["vol-boot"], caller)[0]
    return DiskPage(disks=((1, boot), *page.disks), more=page.more)


_list_disks = CloudApi.list_disks


def in_the_first_zone(
    rpcs: VolumeRpcs, request: Any, parameters: Any, zones: list[str], caller: Caller
) -> Disk:
    return _create(rpcs, request, parameters, zones[:1], caller)


_create = VolumeRpcs._create


BUGS: dict[str, tuple[Plant, Test]] = {
    "a link on the way is followed": (
        follow_links,
        with_staged(test_targets.test_a_link_on_the_way_to_the_target_is_refused_both_ways),
    ),
    "what is in the way is removed": (
        replaced(files, "_clear", take_everything_for_empty),
        with_staged(
            lambda node: test_targets.test_nothing_else_gives_way_to_a_folder(
                test_targets.full_folder, node
            )
        ),
    ),
    "whatever is at a target is removed": (
        replaced(files, "_is_own", lambda *_: True),
        with_staged(test_targets.test_what_took_the_place_of_a_target_is_left),
    ),
    "nothing is removed": (
        replaced(DirectoryFiles, "unpublish", nothing),
        with_staged(test_targets.test_publish_makes_a_folder_and_unpublish_removes_it),
    ),
    "nothing is marked": (
        replaced(files, "_mark", lambda fd, volume_id: False),
        with_staged(test_targets.test_a_new_driver_removes_what_the_old_one_made),
    ),
    "a target is not given to its group": (
        replaced(files, "give_to_group", nothing),
        plain(test_mount_group.test_what_a_workload_makes_belongs_to_the_group),
    ),
    "a group makes another mount without the capability": (
        replaced(node_volumes, "VOLUME_MOUNT_GROUP", STAGE_UNSTAGE_VOLUME),
        lambda node, monkeypatch: (
            test_mount_group.test_without_the_capability_the_field_makes_no_other_mount(
                "7", SmallNode(node.folder, switches={VOLUME_MOUNT_GROUP: False})
            )
        ),
    ),
    "links in a volume are counted as what they point to": (
        replaced(os, "fwalk", walk_by_name),
        lambda node, monkeypatch: test_volume_stats.test_links_are_counted_and_not_followed(
            node.use(), node.folder
        ),
    ),
    "a relative path is taken for an absolute one": (
        replaced(safe_path, "normal", lambda path: "/" + "/".join(safe_path._names(path))),
        used(test_volume_stats.test_a_relative_path_is_not_taken_for_an_absolute_one),
    ),
    "any volume can be used on any node": (
        replaced(NodeVolumes, "_require_usable", nothing),
        plain(
            lambda node: test_node_volumes.test_a_volume_that_is_not_attached_here_cannot_be_used(
                SmallNode.stage, node
            )
        ),
    ),
    "nothing has to be staged": (
        replaced(NodeVolumes, "_require_staged", nothing),
        plain(test_node_volumes.test_a_volume_is_published_from_where_it_is_staged),
    ),
    "a volume can be at several targets whatever its mode": (
        replaced(node_volumes, "_require_alone", nothing),
        plain(
            lambda node: (
                test_node_volumes.test_a_second_publishing_has_the_code_of_the_second_table(
                    Mode.SINGLE_NODE_WRITER,
                    same_target=False,
                    same_arguments=True,
                    node=node,
                )
            )
        ),
    ),
    "SINGLE_NODE_MULTI_WRITER is taken for one target only": (
        replaced(access, "SEVERAL_TARGETS", access.MULTI_NODE),
        plain(
            lambda node: (
                test_node_volumes.test_a_second_publishing_has_the_code_of_the_second_table(
                    Mode.SINGLE_NODE_MULTI_WRITER,
                    same_target=False,
                    same_arguments=False,
                    node=node,
                )
            )
        ),
    ),
    "a second publishing is always taken for the first": (
        replaced(node_volumes, "_is_repeat", lambda table, path, *_: path in table.published),
        plain(test_node_volumes.test_what_is_there_already_comes_before_more_than_the_volume_has),
    ),
    "what does not exist is unpublished": (
        replaced(NodeVolumes, "_disk", nothing),
        plain(
            test_node_volumes.test_a_volume_that_does_not_exist_is_not_found_at_a_target_of_another
        ),
    ),
    "boot disks are listed": (
        replaced(
            CloudApi,
            "list_disks",
            with_boot_disks,
        ),
        without_node(test_listing.test_boot_disks_are_not_listed),
    ),
    "a page has no limit of bytes": (
        replaced(volume_listing, "_FRAME_BYTES", -10_000),
        lambda node, monkeypatch: (
            test_listing.test_a_volume_on_too_many_nodes_for_a_page_is_listed_with_as_many_as_fit(
                monkeypatch
            )
        ),
    ),
    "any number is a token": (
        replaced(ListingRpcs, "_place_of", lambda service, token: int(token or 0)),
        without_node(lambda: test_listing.test_a_token_that_no_page_had_is_aborted("5")),
    ),
    "a volume that is being attached is published": (
        replaced(
            volume_listing,
            "_published_node_ids",
            lambda description: [item.instance for item in description.attachments],
        ),
        without_node(
            lambda: (
                test_listing.test_a_volume_is_on_a_node_from_the_end_of_attaching_to_the_end_of_detaching(
                    {"attach": test_node_volumes.HELD}, lambda operator: None, []
                )
            )
        ),
    ),
    "a zone is never full": (
        replaced(CloudCore, "available_gib", lambda core, zone: core.capacity_gib),
        without_node(test_room.test_a_zone_is_filled_to_the_last_gib),
    ),
    "only the most preferred zone is tried": (
        replaced(
            VolumeRpcs,
            "_create",
            in_the_first_zone,
        ),
        without_node(test_room.test_a_full_preferred_zone_gives_way_to_the_next),
    ),
    "everything is confirmed": (
        replaced(VolumeRpcs, "_unconfirmed", nothing),
        without_node(
            lambda: test_validating.test_a_disk_for_one_node_is_not_confirmed_for_several(
                Mode.MULTI_NODE_MULTI_WRITER
            )
        ),
    ),
}


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_caught(bug: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, test = BUGS[bug]
    marks.provide(monkeypatch, tmp_path)
    with monkeypatch.context() as patch:
        test(SmallNode(tmp_path / "sound"), patch)
    with monkeypatch.context() as patch:
        node = SmallNode(tmp_path / "ill")
        plant(patch)
        with pytest.raises((AssertionError, FileNotFoundError)):
            test(node, patch)
