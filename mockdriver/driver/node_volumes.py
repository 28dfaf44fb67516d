"""The CSI Node service's RPCs about volumes: stage, publish, their reverse, and statistics."""

from __future__ import annotations

from csi_spec import csi_pb2
from mockdriver.cloud import AttachmentState, Caller, Disk
from mockdriver.cloud.errors import DiskNotFound, quoted
from mockdriver.driver import access, capacity
from mockdriver.driver.capabilities import (
    NODE_SINGLE_NODE_MULTI_WRITER,
    PUBLISH_UNPUBLISH_VOLUME,
    STAGE_UNSTAGE_VOLUME,
    VOLUME_MOUNT_GROUP,
)
from mockdriver.driver.context import DriverContext
from mockdriver.driver.errors import (
    ExceedsVolume,
    IncompatibleRepeat,
    MissingStagingPath,
    NoInstance,
    NotAtPath,
    NotPublishedHere,
    UsedOtherwise,
)
from mockdriver.driver.mounts import safe_path
from mockdriver.driver.mounts.mount_table import MountTable, Published, Use
from mockdriver.driver.rpc_group import RpcGroup

_Unit = csi_pb2.VolumeUsage


class NodeVolumes(RpcGroup):
    """Volumes on the instance `node_id`. A base of NodeService."""

    def __init__(self, context: DriverContext, node_id: str | None) -> None:
        super().__init__(context)
        self._node_id = node_id
        self._files = context.files
        self._table: MountTable | None = None
        if node_id is not None:
            self._table = context.mounts.of_node(node_id)

    def NodeStageVolume(
        self, request: csi_pb2.NodeStageVolumeRequest, caller: Caller
    ) -> csi_pb2.NodeStageVolumeResponse:
        """Note that a volume is staged. The folder is the CO's and stays as it is."""
        path = safe_path.checked("staging_target_path", request.staging_target_path)
        self._refuse_modes(request.volume_capability)
        disk = self._disk(request.volume_id)
        use, key = self._use(request.volume_capability), (request.volume_id, path)
        table = self._mounts()
        with table.lock:
            present = table.staged.get(key)
            if present is not None and present != use:
                raise IncompatibleRepeat(
                    f"volume {quoted(request.volume_id)} is staged at "
                    f"{quoted(path)} with another volume_capability"
                )
            if present is None:
                self._require_usable(disk, request.volume_capability)
                self._files.require_folder("staging_target_path", path)
                table.staged[key] = use
        return csi_pb2.NodeStageVolumeResponse()

    def NodeUnstageVolume(
        self, request: csi_pb2.NodeUnstageVolumeRequest, caller: Caller
    ) -> csi_pb2.NodeUnstageVolumeResponse:
        """Forget that a volume is staged; one that is not staged is unstaged already."""
        path = safe_path.checked("staging_target_path", request.staging_target_path)
        table = self._mounts()
        with table.lock:
            if table.staged.pop((request.volume_id, path), None) is None:
                self._disk(request.volume_id)
        return csi_pb2.NodeUnstageVolumeResponse()

    def NodePublishVolume(
        self, request: csi_pb2.NodePublishVolumeRequest, caller: Caller
    ) -> csi_pb2.NodePublishVolumeResponse:
        """Let the volume appear at the target path (CSI spec, NodePublishVolume)."""
        path = safe_path.checked("target_path", request.target_path)
        staging = request.staging_target_path
        if staging:
            staging = safe_path.checked("staging_target_path", staging)
        self._refuse_modes(request.volume_capability)
        disk = self._disk(request.volume_id)
        if not staging and STAGE_UNSTAGE_VOLUME in self._capabilities:
            raise MissingStagingPath(
                "staging_target_path: is required, since the node has STAGE_UNSTAGE_VOLUME"
            )
        use = self._use(request.volume_capability, request.readonly)
        table = self._mounts()
        with table.lock:
            if not _is_repeat(table, path, request.volume_id, use):
                self._require_usable(disk, request.volume_capability)
                self._require_staged(table, request.volume_id, staging)
                _require_alone(table, request.volume_id, use)
                made = self._files.publish(
                    path,
                    request.volume_id,
                    block=use.block,
                    readonly=request.readonly,
                    mount_group=use.mount_group,
                )
                table.put(path, Published(request.volume_id, use, made))
        return csi_pb2.NodePublishVolumeResponse()

    def NodeUnpublishVolume(
        self, request: csi_pb2.NodeUnpublishVolumeRequest, caller: Caller
    ) -> csi_pb2.NodeUnpublishVolumeResponse:
        """Let the target disappear; what is not this volume's is left alone.

        What a former process of this driver has made is found by its mark. A volume that has gone
        from the cloud can be unpublished where it is; elsewhere it is NOT_FOUND.
        """
        path = safe_path.checked("target_path", request.target_path)
        table = self._mounts()
        with table.lock:
            present = table.published.get(path)
            if present is not None and present.volume_id == request.volume_id:
                self._files.unpublish(path, request.volume_id, present.made)
                table.remove(path)
            elif present is not None or not self._files.unpublish(path, request.volume_id, None):
                self._disk(request.volume_id)
        return csi_pb2.NodeUnpublishVolumeResponse()

    def NodeGetVolumeStats(
        self, request: csi_pb2.NodeGetVolumeStatsRequest, caller: Caller
    ) -> csi_pb2.NodeGetVolumeStatsResponse:
        """Count what the files at the path use, of the disk's size."""
        table, path = self._mounts(), safe_path.normal(request.volume_path)
        disk = self._disk(request.volume_id)
        with table.lock:
            use = table.staged.get((request.volume_id, path))
            published = table.published.get(path)
            if published is not None and published.volume_id == request.volume_id:
                use = published.use
        if use is None:
            raise NotAtPath(
                f"volume_path: volume {quoted(request.volume_id)} is not at {quoted(path)}"
            )
        total = disk.size_gib * capacity.GIB
        response = csi_pb2.NodeGetVolumeStatsResponse()
        if use.block:
            response.usage.add(unit=_Unit.BYTES, total=total)
            return response
        used = self._files.usage(path)
        response.usage.add(
            unit=_Unit.BYTES,
            total=total,
            used=min(used.used_bytes, total),
            available=max(0, total - used.used_bytes),
        )
        inodes = disk.size_gib * INODES_PER_GIB
        response.usage.add(
            unit=_Unit.INODES,
            total=inodes,
            used=min(used.used_inodes, inodes),
            available=max(0, inodes - used.used_inodes),
        )
        return response

    def _require_usable(self, disk: Disk, capability: csi_pb2.VolumeCapability) -> None:
        """Raise unless this machine can use the volume so; it sees its devices without the cloud.

        The volume's device has to be there, and no mode asks for more nodes than it can be on.
        """
        if access.wants_many_nodes([capability]) and disk.max_attachments == 1:
            raise ExceedsVolume(
                f"volume_capability.access_mode.mode: volume {quoted(disk.id)} can be attached to "
                "one node at a time only"
            )
        if PUBLISH_UNPUBLISH_VOLUME not in self._capabilities:
            return
        assert self._node_id is not None
        attachment = self._context.cloud.operator.attachment(disk.id, self._node_id)
        if attachment is None or attachment.state is not AttachmentState.ATTACHED:
            raise NotPublishedHere(
                f"volume {quoted(disk.id)} is not attached to node {quoted(self._node_id)}, "
                "ControllerPublishVolume comes first"
            )

    def _require_staged(self, table: MountTable, volume_id: str, staging: str) -> None:
        if STAGE_UNSTAGE_VOLUME in self._capabilities and (volume_id, staging) not in table.staged:
            raise NotPublishedHere(
                f"staging_target_path: volume {quoted(volume_id)} is not staged at "
                f"{quoted(staging)}"
            )

    def _disk(self, volume_id: str) -> Disk:
        self._mounts()
        disk = self._context.cloud.operator.disk(volume_id)
        if disk.boot:
            raise DiskNotFound([volume_id])
        return disk

    def _refuse_modes(self, capability: csi_pb2.VolumeCapability) -> None:
        access.refuse_unknown_modes(
            "volume_capability", [capability], self._capabilities, NODE_SINGLE_NODE_MULTI_WRITER
        )

    def _use(self, capability: csi_pb2.VolumeCapability, readonly: bool = False) -> Use:
        if VOLUME_MOUNT_GROUP not in self._capabilities and capability.mount.volume_mount_group:
            # Without the capability the driver is one that has never heard of the field.
            known = csi_pb2.VolumeCapability()
            known.CopyFrom(capability)
            known.mount.ClearField("volume_mount_group")
            capability = known
        return Use(
            capability=capability.SerializeToString(deterministic=True),
            access_mode=capability.access_mode.mode,
            readonly=readonly,
            mount_group=capability.mount.volume_mount_group,
            block=capability.HasField("block"),
        )

    def _mounts(self) -> MountTable:
        if self._table is None:
            raise NoInstance("the scenario has no instance for this Node service to run on")
        return self._table


INODES_PER_GIB = 65_536
"""One inode for each 16 KiB, as ext4 makes them by default."""


def _is_repeat(table: MountTable, path: str, volume_id: str, use: Use) -> bool:
    """Tell whether the same is at the path already; raises IncompatibleRepeat for another one.

    What decides is volume_capability and readonly. A CO passes new tokens in volume_context when
    it repeats a call, so the contexts of two calls may differ.
    """
    present = table.published.get(path)
    if present is not None and (present.volume_id != volume_id or present.use != use):
        raise IncompatibleRepeat(
            f"target_path: volume {quoted(present.volume_id)} is published at "
            f"{quoted(path)} with another volume_id, volume_capability or readonly"
        )
    return present is not None


def _require_alone(table: MountTable, volume_id: str, use: Use) -> None:
    """Raise UsedOtherwise if the volume is elsewhere on this node and one of the uses is sole."""
    for path in table.targets_of(volume_id):
        for mode in (table.published[path].use.access_mode, use.access_mode):
            if mode not in access.SEVERAL_TARGETS:
                raise UsedOtherwise(
                    f"target_path: volume {quoted(volume_id)} is published at {quoted(path)}, "
                    f"and {access.name_of(mode)} allows for one path only"
                )
