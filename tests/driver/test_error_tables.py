"""The error tables of the CSI spec: for each row the condition, and the code that it must have.

Two rows cannot come about: this driver knows no content source, so none can be missing; and what
does not exist is regarded as unpublished by ControllerUnpublishVolume.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.cloud import Disk
from mockdriver.co.calling import Answer
from mockdriver.driver.rpcs import RPCS
from tests.cloud.small_region import OTHER_ZONE, ZONE, SmallRegion
from tests.driver.small_driver import GIB, Mode, capability, in_zone, of
from tests.driver.small_node import SmallNode

CAPACITY_GIB = 100
MULTI_WRITER = capability(Mode.MULTI_NODE_MULTI_WRITER)


@dataclass(frozen=True)
class Row:
    """What happens, and the code of the last answer. `says` is a part of its message."""

    rpc: str
    condition: str
    code: str
    act: Callable[[SmallNode], Answer]
    says: str = ""

    def __str__(self) -> str:
        return f"{self.rpc}: {self.condition}"


def create(node: SmallNode, **fields: Any) -> Answer:
    return node.driver.create("pvc-1", **fields)


def created_otherwise(**fields: Any) -> Callable[[SmallNode], Answer]:
    """Create a volume, and again with other fields."""

    def act(node: SmallNode) -> Answer:
        of(create(node, accessibility_requirements=in_zone(ZONE)))
        return create(node, **fields)

    return act


def source(**kind: Any) -> Callable[[SmallNode], Answer]:
    return lambda node: create(node, volume_content_source=csi_pb2.VolumeContentSource(**kind))


def in_a_full_zone(node: SmallNode) -> Answer:
    node.driver.operator.add_disk(Disk(id="vol-big", zone=OTHER_ZONE, size_gib=CAPACITY_GIB))
    return create(node, accessibility_requirements=in_zone(OTHER_ZONE))


def delete_in_use(node: SmallNode) -> Answer:
    return node.driver.delete("vol-1")


def publish_again(**fields: Any) -> Callable[[SmallNode], Answer]:
    """Publish a volume on the controller, and again with other fields."""

    def act(node: SmallNode) -> Answer:
        volume = node.driver.new_volume()
        of(node.driver.publish(volume))
        return node.driver.publish(volume, **fields)

    return act


def publish_past_the_limit(node: SmallNode) -> Answer:
    node.driver.publish_new(8)
    return node.driver.publish(node.driver.new_volume())


def ask(rpc: str, **fields: Any) -> Callable[[SmallNode], Answer]:
    return lambda node: node.driver.call(rpc, getattr(csi_pb2, f"{rpc}Request")(**fields))


def stage_otherwise(node: SmallNode) -> Answer:
    of(node.stage())
    return node.stage(wanted=capability(Mode.SINGLE_NODE_READER_ONLY))


def publish_more_than_the_volume_has(node: SmallNode) -> Answer:
    of(node.stage())
    return node.publish(wanted=MULTI_WRITER)


def stats_elsewhere(node: SmallNode) -> Answer:
    return node.use().stats(path=node.pods)


def used_again(**fields: Any) -> Callable[[SmallNode], Answer]:
    return lambda node: node.use().publish(**fields)


NO = "vol-no-such"
BIG = csi_pb2.CapacityRange(required_bytes=2**50)
OTHER_SIZE = csi_pb2.CapacityRange(required_bytes=11 * GIB)

ROWS = [
    Row(
        "CreateVolume",
        "source not supported, a snapshot",
        "INVALID_ARGUMENT",
        source(snapshot=csi_pb2.VolumeContentSource.SnapshotSource(snapshot_id="snap-1")),
        says="volume_content_source",
    ),
    Row(
        "CreateVolume",
        "source not supported, a volume",
        "INVALID_ARGUMENT",
        source(volume=csi_pb2.VolumeContentSource.VolumeSource(volume_id="vol-1")),
        says="volume_content_source",
    ),
    Row(
        "CreateVolume",
        "volume exists with another size",
        "ALREADY_EXISTS",
        created_otherwise(capacity_range=OTHER_SIZE),
        says="capacity_range",
    ),
    Row(
        "CreateVolume",
        "volume exists with other capabilities",
        "ALREADY_EXISTS",
        created_otherwise(volume_capabilities=[MULTI_WRITER]),
        says="volume_capabilities",
    ),
    Row(
        "CreateVolume",
        "volume exists with other parameters",
        "ALREADY_EXISTS",
        created_otherwise(parameters={"type": "fast"}),
        says="parameters",
    ),
    Row(
        "CreateVolume",
        "volume exists in another zone",
        "ALREADY_EXISTS",
        created_otherwise(accessibility_requirements=in_zone(OTHER_ZONE)),
        says="accessibility_requirements",
    ),
    Row(
        "CreateVolume",
        "not in this topology, which does not exist",
        "RESOURCE_EXHAUSTED",
        lambda node: create(node, accessibility_requirements=in_zone("zone-x")),
        says="accessibility_requirements",
    ),
    Row(
        "CreateVolume", "not in this topology, which is full", "RESOURCE_EXHAUSTED", in_a_full_zone
    ),
    Row(
        "CreateVolume",
        "capacity range not supported",
        "OUT_OF_RANGE",
        lambda node: create(node, capacity_range=BIG),
    ),
    Row("DeleteVolume", "volume in use", "FAILED_PRECONDITION", delete_in_use, says="'i-1'"),
    Row(
        "ControllerPublishVolume",
        "volume does not exist",
        "NOT_FOUND",
        lambda node: node.driver.publish(NO),
        says=NO,
    ),
    Row(
        "ControllerPublishVolume",
        "node does not exist",
        "NOT_FOUND",
        lambda node: node.driver.publish("vol-1", "i-no-such"),
        says="i-no-such",
    ),
    Row(
        "ControllerPublishVolume",
        "published with another capability",
        "ALREADY_EXISTS",
        publish_again(mode=Mode.SINGLE_NODE_READER_ONLY),
    ),
    Row(
        "ControllerPublishVolume",
        "published with another readonly flag",
        "ALREADY_EXISTS",
        publish_again(readonly=True),
    ),
    Row(
        "ControllerPublishVolume",
        "published to another node",
        "FAILED_PRECONDITION",
        publish_again(node="i-2"),
        says="'i-1'",
    ),
    Row(
        "ControllerPublishVolume",
        "max volumes attached",
        "RESOURCE_EXHAUSTED",
        publish_past_the_limit,
    ),
    Row(
        "ValidateVolumeCapabilities",
        "volume does not exist",
        "NOT_FOUND",
        ask("ValidateVolumeCapabilities", volume_id=NO, volume_capabilities=[capability()]),
        says=NO,
    ),
    Row(
        "ListVolumes",
        "starting_token not valid",
        "ABORTED",
        ask("ListVolumes", starting_token="no-token"),
        says="starting_token",
    ),
    Row(
        "ControllerGetVolume",
        "volume does not exist",
        "NOT_FOUND",
        ask("ControllerGetVolume", volume_id=NO),
        says=NO,
    ),
    Row(
        "NodeStageVolume",
        "volume does not exist",
        "NOT_FOUND",
        lambda node: node.stage(NO),
        says=NO,
    ),
    Row(
        "NodeStageVolume",
        "staged with another capability",
        "ALREADY_EXISTS",
        stage_otherwise,
    ),
    Row(
        "NodeStageVolume",
        "exceeds the capabilities of the volume",
        "FAILED_PRECONDITION",
        lambda node: node.stage(wanted=MULTI_WRITER),
        says="volume_capability",
    ),
    Row(
        "NodeUnstageVolume",
        "volume does not exist",
        "NOT_FOUND",
        lambda node: node.unstage(NO),
        says=NO,
    ),
    Row(
        "NodePublishVolume",
        "volume does not exist",
        "NOT_FOUND",
        lambda node: node.publish(NO),
        says=NO,
    ),
    Row(
        "NodePublishVolume",
        "published with another capability",
        "ALREADY_EXISTS",
        used_again(wanted=capability(Mode.SINGLE_NODE_READER_ONLY)),
    ),
    Row(
        "NodePublishVolume",
        "published with another readonly flag",
        "ALREADY_EXISTS",
        used_again(readonly=True),
    ),
    Row(
        "NodePublishVolume",
        "exceeds the capabilities of the volume",
        "FAILED_PRECONDITION",
        publish_more_than_the_volume_has,
        says="volume_capability",
    ),
    Row(
        "NodePublishVolume",
        "staging_target_path not set",
        "FAILED_PRECONDITION",
        lambda node: node.publish(staging=""),
        says="staging_target_path",
    ),
    Row(
        "NodeUnpublishVolume",
        "volume does not exist",
        "NOT_FOUND",
        lambda node: node.unpublish(NO),
        says=NO,
    ),
    Row(
        "NodeGetVolumeStats",
        "volume does not exist",
        "NOT_FOUND",
        lambda node: node.stats(NO),
        says=NO,
    ),
    Row(
        "NodeGetVolumeStats",
        "volume not at this path",
        "NOT_FOUND",
        stats_elsewhere,
        says="volume_path",
    ),
]

WITHOUT_A_TABLE = {
    *("GetPluginInfo", "GetPluginCapabilities", "Probe", "ControllerGetCapabilities"),
    *("GetCapacity", "NodeGetCapabilities", "NodeGetInfo", "ControllerGetNodeInfo"),
    "ControllerUnpublishVolume",  # whose rows cannot come about, see above
}


@pytest.fixture
def node(tmp_path: Path) -> SmallNode:
    region = SmallRegion(capacity_gib=CAPACITY_GIB)
    region.add_instance("i-1", slots=9)
    region.add_instance("i-2", slots=9)
    region.operator.add_zone(OTHER_ZONE)
    return SmallNode(tmp_path, region=region)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_condition_has_its_code(row: Row, node: SmallNode) -> None:
    answer = row.act(node)
    assert answer.code == row.code
    assert row.says in answer.message
    assert answer.message


def test_every_rpc_with_a_table_is_here() -> None:
    assert {row.rpc for row in ROWS} == {rpc.name for rpc in RPCS} - WITHOUT_A_TABLE


@pytest.mark.parametrize(("volume", "at"), [(NO, "i-1"), ("vol-1", "i-no-such"), (NO, "")])
def test_what_does_not_exist_is_regarded_as_unpublished(
    volume: str, at: str, node: SmallNode
) -> None:
    assert node.driver.unpublish(volume, at).ok
