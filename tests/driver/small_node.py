"""A node of a small driver with folders of its own, called as kubelet would call it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from google.protobuf.message import Message

from csi_spec import csi_pb2
from mockdriver.cloud import Disk
from mockdriver.co.calling import Answer
from mockdriver.driver.capabilities import Capability
from mockdriver.driver.context import NodeMounts
from tests.cloud.small_region import ZONE, SmallRegion
from tests.driver.small_driver import AccessMode, Mode, SmallDriver, capability, of

BLOCK = csi_pb2.VolumeCapability(
    block=csi_pb2.VolumeCapability.BlockVolume(),
    access_mode=csi_pb2.VolumeCapability.AccessMode(mode=Mode.SINGLE_NODE_WRITER),
)


class SmallNode:
    """The nodes `i-1` and `i-2`, whose files are in `folder`: `staging` and `pods` are there.

    Unless a call names something else it is about `vol-1`, which is attached to `i-1`, at
    `staging` and `pods/target`.
    """

    def __init__(
        self,
        folder: Path,
        *,
        region: SmallRegion | None = None,
        switches: Mapping[Capability, bool] | None = None,
        node_mounts: NodeMounts = NodeMounts.DIRECTORY,
        driver: SmallDriver | None = None,
        with_volume: bool = True,
    ) -> None:
        if region is None:
            region = SmallRegion()
            region.add_instance("i-1", slots=9)
            region.add_instance("i-2", slots=9)
        self.driver = driver or SmallDriver(region, switches=switches, node_mounts=node_mounts)
        self.folder = folder
        self.staging, self.pods = folder / "staging", folder / "pods"
        for made in (folder, self.staging, self.pods):
            made.mkdir(exist_ok=True)
        self.target = self.pods / "target"
        if with_volume:
            self.attach("vol-1")

    def attach(self, volume: str, *nodes: str, max_attachments: int = 1) -> str:
        """Add a disk and attach it to nodes, `i-1` if none is named; return its id."""
        disk = Disk(id=volume, zone=ZONE, size_gib=3, max_attachments=max_attachments)
        self.driver.operator.add_disk(disk)
        for node in nodes or ("i-1",):
            self.driver.operator.attach(volume, node)
        return volume

    def attach_shared(self, volume: str = "vol-shared") -> str:
        """Add a disk that several nodes can have at once, attached to `i-1`."""
        return self.attach(volume, max_attachments=4)

    # ------------------------------------------------------------------------------- the calls

    def call(self, rpc: str, request: Message, node: str | None = "i-1") -> Answer:
        """Make a call on a node."""
        return self.driver.call_with_bytes(rpc, request.SerializeToString(), at_node=node)

    def stage(
        self,
        volume: str = "vol-1",
        path: str | Path | None = None,
        *,
        wanted: csi_pb2.VolumeCapability | None = None,
        node: str | None = "i-1",
        **fields: Any,
    ) -> Answer:
        """Call NodeStageVolume."""
        request = csi_pb2.NodeStageVolumeRequest(
            volume_id=volume,
            staging_target_path=str(self.staging if path is None else path),
            volume_capability=wanted or capability(),
            **fields,
        )
        return self.call("NodeStageVolume", request, node)

    def unstage(
        self, volume: str = "vol-1", path: str | Path | None = None, node: str | None = "i-1"
    ) -> Answer:
        """Call NodeUnstageVolume."""
        request = csi_pb2.NodeUnstageVolumeRequest(
            volume_id=volume, staging_target_path=str(self.staging if path is None else path)
        )
        return self.call("NodeUnstageVolume", request, node)

    def publish(
        self,
        volume: str = "vol-1",
        path: str | Path | None = None,
        *,
        staging: str | Path | None = None,
        wanted: csi_pb2.VolumeCapability | None = None,
        node: str | None = "i-1",
        **fields: Any,
    ) -> Answer:
        """Call NodePublishVolume."""
        request = csi_pb2.NodePublishVolumeRequest(
            volume_id=volume,
            target_path=str(self.target if path is None else path),
            staging_target_path=str(self.staging if staging is None else staging),
            volume_capability=wanted or capability(),
            **fields,
        )
        return self.call("NodePublishVolume", request, node)

    def unpublish(
        self, volume: str = "vol-1", path: str | Path | None = None, node: str | None = "i-1"
    ) -> Answer:
        """Call NodeUnpublishVolume."""
        request = csi_pb2.NodeUnpublishVolumeRequest(
            volume_id=volume, target_path=str(self.target if path is None else path)
        )
        return self.call("NodeUnpublishVolume", request, node)

    def stats(
        self, volume: str = "vol-1", path: str | Path | None = None, node: str | None = "i-1"
    ) -> Answer:
        """Call NodeGetVolumeStats."""
        request = csi_pb2.NodeGetVolumeStatsRequest(
            volume_id=volume, volume_path=str(self.target if path is None else path)
        )
        return self.call("NodeGetVolumeStats", request, node)

    # ---------------------------------------------------------------------------------- states

    def use(self, volume: str = "vol-1", mode: AccessMode = Mode.SINGLE_NODE_WRITER) -> SmallNode:
        """Stage a volume and publish it; return this node."""
        of(self.stage(volume, wanted=capability(mode)))
        of(self.publish(volume, wanted=capability(mode)))
        return self

    def restarted(self) -> SmallNode:
        """Return the same machine with a new driver, which has forgotten everything."""
        driver = SmallDriver(self.driver.region)
        return SmallNode(self.folder, driver=driver, with_volume=False)
