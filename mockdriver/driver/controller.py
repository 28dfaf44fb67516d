"""The CSI Controller service. The layers around it have checked fields and in-flight calls."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress

from csi_spec import csi_pb2
from mockdriver.cloud import Caller, Disk
from mockdriver.cloud.errors import DiskNotFound, InstanceNotFound, NotAttached, quoted
from mockdriver.driver import attachment_tags, capacity, node_info
from mockdriver.driver.capabilities import VOLUME_ACCESSIBILITY_CONSTRAINTS
from mockdriver.driver.context import DriverContext
from mockdriver.driver.errors import IncompatibleRepeat, InvalidField, NoAccessibleZone

_Mode = csi_pb2.VolumeCapability.AccessMode

_MULTI_NODE_MODES = frozenset(
    {_Mode.MULTI_NODE_READER_ONLY, _Mode.MULTI_NODE_SINGLE_WRITER, _Mode.MULTI_NODE_MULTI_WRITER}
)
_BANNED_IN_NAMES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""CSI spec, CreateVolumeRequest.name."""


class ControllerService:
    """Volumes, and what is attached where."""

    def __init__(self, context: DriverContext) -> None:
        self._context = context
        self._client = context.client

    def ControllerGetCapabilities(
        self, request: csi_pb2.ControllerGetCapabilitiesRequest, caller: Caller
    ) -> csi_pb2.ControllerGetCapabilitiesResponse:
        """Answer with the controller capabilities that are on."""
        response = csi_pb2.ControllerGetCapabilitiesResponse()
        for number in self._context.config.capabilities.numbers("controller"):
            rpc = csi_pb2.ControllerServiceCapability.RPC(
                type=csi_pb2.ControllerServiceCapability.RPC.Type.ValueType(number)
            )
            response.capabilities.add(rpc=rpc)
        return response

    def CreateVolume(
        self, request: csi_pb2.CreateVolumeRequest, caller: Caller
    ) -> csi_pb2.CreateVolumeResponse:
        """Create a disk, or answer with the one that this name has created before.

        The name is a tag on the disk. A disk of the same name that does not fit the request is
        answered with ALREADY_EXISTS (CSI spec, CreateVolume).
        """
        if _BANNED_IN_NAMES.search(request.name):
            raise InvalidField(
                "name", f"must not contain control characters: {quoted(request.name)}"
            )
        if request.HasField("volume_content_source"):
            # An empty disk in the place of a copy would look like lost data.
            raise InvalidField(
                "volume_content_source", "this driver cannot create a volume from a source"
            )
        capacity.check_range(request.capacity_range)
        zone = self._zone_for(request)
        disk = self._client.find_disk(attachment_tags.VOLUME_NAME, request.name, caller)
        if disk is not None:
            self._refuse_other(disk, request, zone)
        else:
            disk = self._client.create_disk(
                zone or self._default_zone(),
                capacity.choose_size_gib(request.capacity_range),
                {attachment_tags.VOLUME_NAME: request.name},
                caller,
            )
        return csi_pb2.CreateVolumeResponse(volume=self._volume(disk))

    def DeleteVolume(
        self, request: csi_pb2.DeleteVolumeRequest, caller: Caller
    ) -> csi_pb2.DeleteVolumeResponse:
        """Delete a disk; one that is gone is deleted, one that is attached is refused."""
        with suppress(DiskNotFound):
            self._client.delete_disk(request.volume_id, caller)
        return csi_pb2.DeleteVolumeResponse()

    def ControllerPublishVolume(
        self, request: csi_pb2.ControllerPublishVolumeRequest, caller: Caller
    ) -> csi_pb2.ControllerPublishVolumeResponse:
        """Attach a disk and wait until it is attached.

        The cloud decides, in the order of `cloud.attaching.attach`. A repeat is OK, also on a full
        node; with another access mode or readonly flag it is ALREADY_EXISTS.
        """
        mode = request.volume_capability.access_mode.mode
        tags = attachment_tags.publish_tags(mode, request.readonly)
        attachment = self._client.attach(
            request.volume_id,
            request.node_id,
            caller,
            exclusive=mode not in _MULTI_NODE_MODES,
            tags=tags,
        )
        if attachment.tags != tags:
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

    def ControllerGetNodeInfo(
        self, request: csi_pb2.ControllerGetNodeInfoRequest, caller: Caller
    ) -> csi_pb2.ControllerGetNodeInfoResponse:
        """Answer with a node's topology, limit and attached volumes (KEP-6011)."""
        description, type_ = self._context.describe_node(request.node_id, caller)
        info = node_info.controller_flow(description, type_)
        return csi_pb2.ControllerGetNodeInfoResponse(
            max_volumes_per_node=info.max_volumes_per_node,
            accessible_topology=self._context.topology_of(description.instance.zone),
            published_volume_ids=info.published_volume_ids,
        )

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

    def _zone_for(self, request: csi_pb2.CreateVolumeRequest) -> str | None:
        """Return the zone that the request asks for, or None if it may be any."""
        if VOLUME_ACCESSIBILITY_CONSTRAINTS not in self._context.config.capabilities:
            return None
        return self._context.topology_keys.choose_zone(
            request.accessibility_requirements,
            self._context.cloud.operator.zones(),
            self._context.cloud.region,
        )

    def _default_zone(self) -> str:
        operator = self._context.cloud.operator
        zones = [instance.zone for instance in operator.instances()[:1]] or operator.zones()
        if not zones:
            raise NoAccessibleZone("the cloud has no zone to create a volume in")
        return zones[0]

    def _refuse_other(
        self, disk: Disk, request: csi_pb2.CreateVolumeRequest, zone: str | None
    ) -> None:
        if not capacity.holds(disk.size_gib, request.capacity_range):
            raise IncompatibleRepeat(
                f"capacity_range: volume {quoted(request.name)} exists and has "
                f"{disk.size_gib} GiB, which is not in the range"
            )
        if zone is not None and not self._satisfies(disk, request):
            raise IncompatibleRepeat(
                f"accessibility_requirements: volume {quoted(request.name)} exists in zone "
                f"{quoted(disk.zone)}, which they do not allow"
            )

    def _satisfies(self, disk: Disk, request: csi_pb2.CreateVolumeRequest) -> bool:
        requirement = request.accessibility_requirements
        # Preferred is a wish; where requisite is given, any of it will do.
        allowed = requirement.requisite or requirement.preferred
        context = self._context
        return context.topology_keys.meets(allowed, disk.zone, context.cloud.region)

    def _volume(self, disk: Disk) -> csi_pb2.Volume:
        volume = csi_pb2.Volume(volume_id=disk.id, capacity_bytes=disk.size_gib * capacity.GIB)
        if VOLUME_ACCESSIBILITY_CONSTRAINTS in self._context.config.capabilities:
            volume.accessible_topology.append(self._context.topology_of(disk.zone))
        return volume


def _readable(tags: Mapping[str, str]) -> str:
    return (
        f"access mode {tags[attachment_tags.ACCESS_MODE]} and "
        f"readonly {tags[attachment_tags.READONLY]}"
    )
