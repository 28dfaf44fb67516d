"""The CSI Controller service's RPCs about attaching: publish and unpublish."""

from __future__ import annotations

from collections.abc import Mapping

from csi_spec import csi_pb2
from mockdriver.cloud import Caller
from mockdriver.cloud.errors import DiskNotFound, InstanceNotFound, NotAttached, quoted
from mockdriver.driver import access, attachment_tags
from mockdriver.driver.capabilities import (
    PUBLISH_READONLY,
    SINGLE_NODE_MULTI_WRITER,
)
from mockdriver.driver.errors import IncompatibleRepeat
from mockdriver.driver.rpc_group import RpcGroup


class PublishingRpcs(RpcGroup):
    """What is attached where. A base of ControllerService."""

    def ControllerPublishVolume(
        self, request: csi_pb2.ControllerPublishVolumeRequest, caller: Caller
    ) -> csi_pb2.ControllerPublishVolumeResponse:
        """Attach a disk and wait until it is attached.

        The cloud decides, in the order of `cloud.attaching.attach`. A repeat is OK, also on a full
        node; with another access mode or readonly flag it is ALREADY_EXISTS.
        """
        access.refuse_unknown_modes(
            "volume_capability",
            [request.volume_capability],
            self._capabilities,
            SINGLE_NODE_MULTI_WRITER,
        )
        mode = request.volume_capability.access_mode.mode
        # Without the capability the driver is one that has never heard of the field.
        readonly = request.readonly and PUBLISH_READONLY in self._capabilities
        tags = attachment_tags.publish_tags(mode, readonly)
        attachment = self._client.attach(
            request.volume_id,
            request.node_id,
            caller,
            exclusive=mode not in access.MULTI_NODE,
            tags=tags,
        )
        if any(attachment.tags.get(key) != value for key, value in tags.items()):
            raise IncompatibleRepeat(
                f"volume {quoted(request.volume_id)} is published on node "
                f"{quoted(request.node_id)} with {_readable(attachment.tags)}, "
                f"asked for is {_readable(tags)}"
            )
        self._client.wait_until_attached(attachment, caller)
        return csi_pb2.ControllerPublishVolumeResponse()

    def ControllerUnpublishVolume(
        self, request: csi_pb2.ControllerUnpublishVolumeRequest, caller: Caller
    ) -> csi_pb2.ControllerUnpublishVolumeResponse:
        """Detach a disk and wait until it is gone; without node_id from every node.

        What is not attached, or not there at all, is unpublished already (CSI spec,
        ControllerUnpublishVolume).
        """
        for node_id in self._nodes_to_leave(request, caller):
            try:
                leaving = self._client.detach(request.volume_id, node_id, caller)
            except (DiskNotFound, InstanceNotFound, NotAttached):
                continue
            self._client.wait_until_detached(leaving, caller)
        return csi_pb2.ControllerUnpublishVolumeResponse()

    def _nodes_to_leave(
        self, request: csi_pb2.ControllerUnpublishVolumeRequest, caller: Caller
    ) -> list[str]:
        if request.node_id:
            return [request.node_id]
        try:
            description = self._client.describe_disk(request.volume_id, caller)
        except DiskNotFound:
            return []
        return [attachment.instance for attachment in description.attachments]


def _readable(tags: Mapping[str, str]) -> str:
    mode = tags.get(attachment_tags.ACCESS_MODE, "none")  # an operator can take a tag away
    return f"access mode {mode} and readonly {tags.get(attachment_tags.READONLY, 'none')}"
