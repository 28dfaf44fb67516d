"""NodeStageVolume and its kin: what is noted, what is refused, and in which order."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from csi_spec import csi_pb2
from mockdriver.cloud import Instance, Transition
from mockdriver.co.calling import Answer
from mockdriver.driver.capabilities import (
    NODE_SINGLE_NODE_MULTI_WRITER,
    PUBLISH_UNPUBLISH_VOLUME,
    SINGLE_NODE_MULTI_WRITER,
    STAGE_UNSTAGE_VOLUME,
)
from mockdriver.driver.context import NodeMounts
from mockdriver.journal.redaction import STRIPPED
from tests.cloud.small_region import ZONE, SmallRegion
from tests.driver.small_driver import AccessMode, Mode, SmallDriver, capability, of
from tests.driver.small_node import BLOCK, SmallNode

READER = capability(Mode.SINGLE_NODE_READER_ONLY)
MULTI_WRITER = capability(Mode.MULTI_NODE_MULTI_WRITER)
NEW_MODES = [Mode.SINGLE_NODE_SINGLE_WRITER, Mode.SINGLE_NODE_MULTI_WRITER]
HELD = Transition(held=True)


@pytest.fixture
def node(tmp_path: Path) -> SmallNode:
    return SmallNode(tmp_path)


# --------------------------------------------------------------------------------------- staging


def test_staging_changes_no_file(node: SmallNode) -> None:
    (node.staging / "of-the-co").touch()
    assert node.stage().ok
    assert node.unstage().ok
    assert [path.name for path in node.staging.iterdir()] == ["of-the-co"]


def test_staging_again_is_ok(node: SmallNode) -> None:
    of(node.stage())
    assert node.stage().ok


def test_staging_again_for_something_else_exists_already_and_changes_nothing(
    node: SmallNode,
) -> None:
    of(node.stage())
    assert node.stage(wanted=READER).code == "ALREADY_EXISTS"
    assert node.stage(wanted=BLOCK).code == "ALREADY_EXISTS"
    assert node.stage().ok


def test_secrets_and_contexts_make_no_other_staging(node: SmallNode) -> None:
    of(node.stage(secrets={"a": "b"}, publish_context={"c": "d"}, volume_context={"e": "f"}))
    assert node.stage().ok


def test_a_staging_folder_is_needed_once_only(node: SmallNode) -> None:
    of(node.stage())
    node.staging.rmdir()
    assert node.stage().ok


def test_unstaging_what_is_not_staged_is_ok(node: SmallNode) -> None:
    assert node.unstage().ok
    of(node.stage())
    assert [node.unstage().code for _ in range(2)] == ["OK", "OK"]


def test_what_was_unstaged_can_be_staged_for_something_else(node: SmallNode) -> None:
    of(node.stage())
    of(node.unstage())
    assert node.stage(wanted=READER).ok


def test_unstaging_elsewhere_leaves_the_volume_staged(node: SmallNode) -> None:
    of(node.stage())
    of(node.unstage(path=node.pods))
    assert node.stage(wanted=READER).code == "ALREADY_EXISTS"


def test_a_staged_volume_that_has_gone_from_the_cloud_can_be_unstaged(node: SmallNode) -> None:
    of(node.stage())
    node.driver.operator.detach("vol-1", "i-1")
    of(node.driver.delete("vol-1"))
    assert [node.unstage().code for _ in range(2)] == ["OK", "NOT_FOUND"]


def test_what_means_nothing_in_a_path_makes_no_other_path(node: SmallNode) -> None:
    of(node.stage())
    assert node.stage(path=f"/{node.folder}/./staging//", wanted=READER).code == "ALREADY_EXISTS"
    of(node.unstage(path=f"{node.staging}/."))
    assert node.stage(wanted=READER).ok


# ------------------------------------------------------------------------------- what comes first


def test_a_volume_is_published_from_where_it_is_staged(node: SmallNode) -> None:
    answer = node.publish()
    assert answer.code == "FAILED_PRECONDITION"
    assert answer.message == (
        f"staging_target_path: volume 'vol-1' is not staged at '{node.staging}'"
    )
    of(node.stage())
    assert node.publish(staging=node.pods).code == "FAILED_PRECONDITION"
    assert node.publish().ok


def test_another_volume_that_is_staged_there_does_not_count(node: SmallNode) -> None:
    node.attach("vol-2")
    of(node.stage("vol-2"))
    assert node.publish().code == "FAILED_PRECONDITION"


def test_a_staging_path_is_missed_before_the_volume_is_looked_for_at_it(node: SmallNode) -> None:
    answer = node.publish(staging="")
    assert answer.message == (
        "staging_target_path: is required, since the node has STAGE_UNSTAGE_VOLUME"
    )


def test_without_the_stage_capability_no_staging_is_needed(tmp_path: Path) -> None:
    node = SmallNode(tmp_path, switches={STAGE_UNSTAGE_VOLUME: False})
    assert node.publish(staging="").ok
    assert node.stage().code == "UNIMPLEMENTED"


@pytest.mark.parametrize("call", [SmallNode.stage, SmallNode.publish], ids=["stage", "publish"])
def test_a_volume_that_is_not_attached_here_cannot_be_used(
    call: Callable[..., Answer], node: SmallNode
) -> None:
    for volume in (node.attach("vol-there", "i-2"), node.driver.region.add_disk("vol-nowhere")):
        answer = call(node, volume)
        assert answer.code == "FAILED_PRECONDITION"
        assert answer.message == (
            f"volume '{volume}' is not attached to node 'i-1', ControllerPublishVolume comes first"
        )


@pytest.mark.parametrize("call", [SmallNode.stage, SmallNode.publish], ids=["stage", "publish"])
def test_a_volume_cannot_be_used_before_it_is_attached(
    call: Callable[..., Answer], tmp_path: Path
) -> None:
    region = SmallRegion(attach=HELD)
    region.add_instance("i-1")
    node = SmallNode(tmp_path, region=region)
    assert call(node).code == "FAILED_PRECONDITION"
    node.driver.operator.release()
    assert node.stage().ok


@pytest.mark.parametrize("call", [SmallNode.stage, SmallNode.publish], ids=["stage", "publish"])
def test_a_volume_cannot_be_used_once_it_is_leaving(
    call: Callable[..., Answer], tmp_path: Path
) -> None:
    region = SmallRegion(detach=HELD)
    region.add_instance("i-1")
    node = SmallNode(tmp_path, region=region)
    node.driver.operator.detach("vol-1", "i-1")
    assert call(node).code == "FAILED_PRECONDITION"


def test_without_attaching_every_volume_can_be_used_everywhere(tmp_path: Path) -> None:
    node = SmallNode(tmp_path, switches={PUBLISH_UNPUBLISH_VOLUME: False})
    node.driver.region.add_disk("vol-nowhere")
    node.use("vol-nowhere")
    of(node.stage("vol-1", node="i-2"))


def test_looks_of_a_node_are_no_calls_of_the_cloud_s_api(node: SmallNode) -> None:
    before = node.driver.cloud_calls()
    of(node.use().stats())
    of(node.unpublish())
    of(node.unstage())
    assert node.driver.cloud_calls() == before


# ------------------------------------------------------------------------------------- the order


@pytest.mark.parametrize(
    "answer_of",
    [
        lambda node: node.stage("vol-no-such", "relative"),
        lambda node: node.unstage("vol-no-such", "relative"),
        lambda node: node.publish("vol-no-such", "relative", staging=""),
        lambda node: node.publish("vol-no-such", staging="relative"),
        lambda node: node.unpublish("vol-no-such", "relative"),
    ],
    ids=["stage", "unstage", "publish", "publish-staging", "unpublish"],
)
def test_an_invalid_path_comes_before_a_volume_that_does_not_exist(
    answer_of: Callable[[SmallNode], Answer], node: SmallNode
) -> None:
    assert answer_of(node).code == "INVALID_ARGUMENT"


def test_a_volume_that_does_not_exist_comes_before_a_missing_staging_path(node: SmallNode) -> None:
    assert node.publish("vol-no-such", staging="").code == "NOT_FOUND"


def test_what_is_there_already_comes_before_what_stands_in_the_way(node: SmallNode) -> None:
    node.use()
    node.driver.operator.detach("vol-1", "i-1")
    assert [node.stage().code, node.publish().code] == ["OK", "OK"]
    assert node.stage(wanted=READER).code == "ALREADY_EXISTS"
    assert node.publish(readonly=True).code == "ALREADY_EXISTS"
    assert node.stage(path=node.pods).code == "FAILED_PRECONDITION"
    assert node.publish(path=node.pods / "other").code == "FAILED_PRECONDITION"


def test_what_is_there_already_comes_before_more_than_the_volume_has(node: SmallNode) -> None:
    node.use()
    assert node.stage(wanted=MULTI_WRITER).code == "ALREADY_EXISTS"
    assert node.publish(wanted=MULTI_WRITER).code == "ALREADY_EXISTS"


# --------------------------------------------------------------------------- the second publishing

TABLE = {
    Mode.SINGLE_NODE_WRITER: False,
    Mode.SINGLE_NODE_READER_ONLY: False,
    Mode.SINGLE_NODE_SINGLE_WRITER: False,
    Mode.SINGLE_NODE_MULTI_WRITER: True,
    Mode.MULTI_NODE_READER_ONLY: True,
    Mode.MULTI_NODE_SINGLE_WRITER: True,
    Mode.MULTI_NODE_MULTI_WRITER: True,
}
"""Whether a volume in this mode can be at several targets of one node."""

TABLE_WITHOUT = {mode: several for mode, several in TABLE.items() if mode not in NEW_MODES}
"""The same for a driver without SINGLE_NODE_MULTI_WRITER."""


def published_twice(
    node: SmallNode, mode: AccessMode, *, same_target: bool, same_arguments: bool
) -> str:
    """Publish a shared volume twice, and return the second code."""
    volume = node.attach_shared()
    node.use(volume, mode)
    path = node.target if same_target else node.pods / "other"
    readonly = not same_arguments
    return node.publish(volume, path, wanted=capability(mode), readonly=readonly).code


def expected(several: bool, *, same_target: bool, same_arguments: bool) -> str:
    """Return the code that the tables of NodePublishVolume have."""
    if same_target:
        return "OK" if same_arguments else "ALREADY_EXISTS"
    return "OK" if several else "FAILED_PRECONDITION"


@pytest.mark.parametrize("same_arguments", [True, False], ids=["P1=P2", "P1!=P2"])
@pytest.mark.parametrize("same_target", [True, False], ids=["T1=T2", "T1!=T2"])
@pytest.mark.parametrize("mode", TABLE, ids=Mode.Mode.Name)
def test_a_second_publishing_has_the_code_of_the_second_table(
    mode: AccessMode, same_target: bool, same_arguments: bool, node: SmallNode
) -> None:
    how = {"same_target": same_target, "same_arguments": same_arguments}
    assert published_twice(node, mode, **how) == expected(TABLE[mode], **how)


@pytest.mark.parametrize("same_arguments", [True, False], ids=["P1=P2", "P1!=P2"])
@pytest.mark.parametrize("same_target", [True, False], ids=["T1=T2", "T1!=T2"])
@pytest.mark.parametrize("mode", TABLE_WITHOUT, ids=Mode.Mode.Name)
def test_without_the_capability_it_has_that_of_the_first_table(
    mode: AccessMode, same_target: bool, same_arguments: bool, tmp_path: Path
) -> None:
    node = SmallNode(tmp_path, switches={NODE_SINGLE_NODE_MULTI_WRITER: False})
    how = {"same_target": same_target, "same_arguments": same_arguments}
    assert published_twice(node, mode, **how) == expected(TABLE_WITHOUT[mode], **how)


@pytest.mark.parametrize(
    "other",
    [
        csi_pb2.VolumeCapability.MountVolume(fs_type="xfs"),
        csi_pb2.VolumeCapability.MountVolume(mount_flags=["ro"]),
        csi_pb2.VolumeCapability.MountVolume(volume_mount_group="7"),
    ],
    ids=lambda mount: str(mount).split(":", maxsplit=1)[0],
)
def test_any_difference_between_two_capabilities_counts(
    other: csi_pb2.VolumeCapability.MountVolume, node: SmallNode
) -> None:
    wanted = csi_pb2.VolumeCapability(mount=other, access_mode=capability().access_mode)
    assert node.use().publish(wanted=wanted).code == "ALREADY_EXISTS"
    assert node.stage(wanted=wanted).code == "ALREADY_EXISTS"


def test_new_tokens_in_a_context_make_no_other_publishing(node: SmallNode) -> None:
    node.use()
    assert node.publish(
        volume_context={"csi.storage.k8s.io/serviceAccount.tokens": "{}"},
        publish_context={"a": "b"},
        secrets={"c": "d"},
    ).ok


POD = {
    "csi.storage.k8s.io/pod.name": "web-0",
    "csi.storage.k8s.io/pod.namespace": "default",
    "csi.storage.k8s.io/pod.uid": "0b7c2a0e-5d1c-4f38-9a56-0c2a1d1b7e11",
    "csi.storage.k8s.io/serviceAccount.name": "web",
    "csi.storage.k8s.io/ephemeral": "false",
}
"""What a kubelet adds to volume_context if the CSIDriver has podInfoOnMount."""


def with_token(token: str) -> dict[str, str]:
    """Return what it adds with tokenRequests besides."""
    text = json.dumps({"": {"token": token, "expirationTimestamp": "2026-11-30T04:00:00Z"}})
    return {**POD, "csi.storage.k8s.io/serviceAccount.tokens": text}


def test_what_a_kubelet_adds_to_the_context_is_taken_and_its_tokens_are_not_logged(
    node: SmallNode,
) -> None:
    of(node.stage(volume_context={"of": "the-volume"}))
    for token in ("hunter2", "hunter3"):
        for call in (node.publish, node.stage):
            of(call(volume_context={"of": "the-volume", **with_token(token)}))
            context = node.driver.journal.entries()[-1].request()["volume_context"]
            assert context == {
                **POD,
                "of": "the-volume",
                "csi.storage.k8s.io/serviceAccount.tokens": STRIPPED,
            }
    assert node.publish(volume_context={"of": "the-volume"}).ok


def test_a_sole_use_and_a_shared_one_do_not_get_along(node: SmallNode) -> None:
    volume, other = node.attach_shared(), node.pods / "other"
    node.use(volume, Mode.SINGLE_NODE_WRITER)
    answer = node.publish(volume, other, wanted=MULTI_WRITER)
    assert answer.code == "FAILED_PRECONDITION"
    assert answer.message == (
        f"target_path: volume 'vol-shared' is published at '{node.target}', "
        "and SINGLE_NODE_WRITER allows for one path only"
    )
    assert not other.exists()


def test_a_shared_use_and_a_sole_one_do_not_get_along_either(node: SmallNode) -> None:
    volume = node.attach_shared()
    node.use(volume, Mode.MULTI_NODE_MULTI_WRITER)
    answer = node.publish(volume, node.pods / "other")
    assert answer.code == "FAILED_PRECONDITION"
    assert "SINGLE_NODE_WRITER allows for one path only" in answer.message


def test_two_shared_modes_get_along(node: SmallNode) -> None:
    volume = node.attach_shared()
    node.use(volume, Mode.MULTI_NODE_MULTI_WRITER)
    reader = capability(Mode.MULTI_NODE_READER_ONLY)
    assert node.publish(volume, node.pods / "other", wanted=reader, readonly=True).ok


def test_a_volume_that_was_unpublished_can_be_published_elsewhere(node: SmallNode) -> None:
    of(node.use().unpublish())
    assert node.publish(path=node.pods / "other").ok


def test_a_shared_volume_leaves_one_target_at_a_time(node: SmallNode) -> None:
    volume, wanted = node.attach_shared(), MULTI_WRITER
    of(node.stage(volume, wanted=wanted))
    targets = [node.pods / str(number) for number in range(3)]
    for target in targets:
        of(node.publish(volume, target, wanted=wanted))
    of(node.unpublish(volume, targets[1]))
    assert [target.exists() for target in targets] == [True, False, True]
    assert node.publish(volume, targets[0], wanted=wanted).ok


def test_another_volume_at_the_target_exists_already(node: SmallNode) -> None:
    node.use()
    node.attach("vol-2")
    of(node.stage("vol-2"))
    answer = node.publish("vol-2")
    assert answer.code == "ALREADY_EXISTS"
    assert "volume 'vol-1' is published at" in answer.message
    of(node.unpublish())
    assert node.publish("vol-2").ok


# -------------------------------------------------------------------------------------- unpublish


def test_unpublishing_what_is_not_published_is_ok(node: SmallNode) -> None:
    assert node.unpublish().ok
    assert [node.use().unpublish().code, node.unpublish().code] == ["OK", "OK"]


def test_a_target_of_another_volume_stays_where_it_is(node: SmallNode) -> None:
    node.use()
    node.attach("vol-2")
    assert node.unpublish("vol-2").ok
    assert node.target.is_dir()
    assert node.publish(readonly=True).code == "ALREADY_EXISTS"


def test_a_volume_that_does_not_exist_is_not_found_at_a_target_of_another(node: SmallNode) -> None:
    assert node.use().unpublish("vol-no-such").code == "NOT_FOUND"
    assert node.target.is_dir()


def test_a_published_volume_that_has_gone_from_the_cloud_can_be_unpublished(
    node: SmallNode,
) -> None:
    node.use()
    node.driver.operator.detach("vol-1", "i-1")
    of(node.driver.delete("vol-1"))
    assert [node.unpublish().code for _ in range(2)] == ["OK", "NOT_FOUND"]
    assert not node.target.exists()


def test_a_target_is_the_same_however_its_path_is_written(node: SmallNode) -> None:
    node.use()
    assert node.publish(path=f"/{node.pods}/.//target/", readonly=True).code == "ALREADY_EXISTS"
    of(node.unpublish(path=f"{node.target}/."))
    assert not node.target.exists()


# -------------------------------------------------------------------------- several nodes, or none


def test_nodes_know_nothing_of_each_other(node: SmallNode) -> None:
    volume, wanted = node.attach("vol-both", "i-1", "i-2", max_attachments=2), READER
    of(node.stage(volume))
    assert node.stage(volume, wanted=wanted, node="i-2").ok
    of(node.publish(volume))
    other = node.pods / "of-i-2"
    assert node.publish(volume, other, wanted=wanted, node="i-2").ok
    assert node.stats(volume, node="i-2").code == "NOT_FOUND"
    of(node.unstage(volume, node="i-2"))
    assert node.stage(volume, wanted=READER).code == "ALREADY_EXISTS"


def test_two_sockets_of_a_node_are_one_node(node: SmallNode) -> None:
    of(node.stage())
    first, second = (node.driver.driver.handlers("i-1")["Node"] for _ in range(2))
    assert first is second


@pytest.mark.parametrize(
    "call",
    [
        SmallNode.stage,
        SmallNode.unstage,
        SmallNode.publish,
        SmallNode.unpublish,
        SmallNode.stats,
    ],
    ids=lambda call: call.__name__,
)
def test_a_node_service_on_no_instance_has_no_volumes(
    call: Callable[..., Answer], tmp_path: Path
) -> None:
    driver = SmallDriver(node=None)
    driver.operator.add_instance(Instance(id="i-1", zone=ZONE))
    answer = call(SmallNode(tmp_path, driver=driver), node=None)
    assert answer.code == "FAILED_PRECONDITION"
    assert "no instance" in answer.message


@pytest.mark.parametrize(
    "call",
    [
        SmallNode.stage,
        SmallNode.unstage,
        SmallNode.publish,
        SmallNode.unpublish,
        SmallNode.stats,
    ],
    ids=lambda call: call.__name__,
)
def test_a_boot_disk_is_no_volume(call: Callable[[SmallNode, str], Answer], tmp_path: Path) -> None:
    region = SmallRegion()
    region.add_instance("i-1", boot_disk="vol-boot")
    assert call(SmallNode(tmp_path, region=region), "vol-boot").code == "NOT_FOUND"


# ------------------------------------------------------------- SINGLE_NODE_MULTI_WRITER on and off


@pytest.mark.parametrize("mode", NEW_MODES, ids=Mode.Mode.Name)
def test_without_the_node_capability_a_node_does_not_know_the_new_modes(
    mode: AccessMode, tmp_path: Path
) -> None:
    node = SmallNode(tmp_path, switches={NODE_SINGLE_NODE_MULTI_WRITER: False})
    for answer in (
        node.stage(wanted=capability(mode)),
        node.publish("vol-no-such", wanted=capability(mode)),
    ):
        assert answer.code == "INVALID_ARGUMENT"
        assert answer.message == (
            f"volume_capability.access_mode.mode: {Mode.Mode.Name(mode)} needs the capability "
            "node.SINGLE_NODE_MULTI_WRITER, which is off"
        )
    assert node.driver.publish("vol-1", mode=mode).ok  # the controller's is on


@pytest.mark.parametrize("mode", NEW_MODES, ids=Mode.Mode.Name)
def test_without_the_controller_capability_a_node_knows_them_all_the_same(
    mode: AccessMode, tmp_path: Path
) -> None:
    node = SmallNode(tmp_path, switches={SINGLE_NODE_MULTI_WRITER: False})
    node.use(mode=mode)
    answer = node.driver.publish("vol-1", mode=mode)
    assert answer.code == "INVALID_ARGUMENT"
    assert "controller.SINGLE_NODE_MULTI_WRITER" in answer.message


# ------------------------------------------------------------------------------------ without files


def test_without_mounts_the_same_is_answered_and_no_file_changes(tmp_path: Path) -> None:
    node = SmallNode(tmp_path, node_mounts=NodeMounts.NONE)
    before = sorted(tmp_path.rglob("*"))
    nowhere = "/no-such-folder/target"
    of(node.stage(path="/no-such-folder"))
    of(node.publish(path=nowhere, staging="/no-such-folder"))
    assert node.publish(path=nowhere, staging="/no-such-folder").ok
    assert node.publish(path=nowhere, staging="/x", readonly=True).code == "ALREADY_EXISTS"
    assert of(node.stats(path=nowhere)).usage[0].used == 0
    of(node.unpublish(path=nowhere))
    assert node.stats(path=nowhere).code == "NOT_FOUND"
    of(node.unstage(path="/no-such-folder"))
    assert node.unpublish("vol-no-such", nowhere).code == "NOT_FOUND"
    assert sorted(tmp_path.rglob("*")) == before
