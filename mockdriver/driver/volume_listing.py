"""The CSI Controller service's RPCs that look: one volume, all volumes, and what room is left."""

from __future__ import annotations

from csi_spec import csi_pb2
from mockdriver.cloud import AttachmentState, Caller, DiskDescription
from mockdriver.cloud.api import MAX_DISK_GIB, MIN_DISK_GIB
from mockdriver.cloud.errors import quoted
from mockdriver.driver import access, capacity
from mockdriver.driver.capabilities import (
    LIST_VOLUMES_PUBLISHED_NODES,
    SINGLE_NODE_MULTI_WRITER,
    VOLUME_ACCESSIBILITY_CONSTRAINTS,
)
from mockdriver.driver.errors import InvalidField, InvalidToken
from mockdriver.driver.parameters import read_parameters
from mockdriver.driver.rpc_group import RpcGroup

MAX_PAGE_BYTES = 3 * 1024 * 1024
"""A page stays below the 4 MiB that a gRPC client receives by default, also with max_entries 0."""

_DISKS_PER_CALL = 1_000
_FRAME_BYTES = 8
"""What a field of a message costs at most besides its content: its tag and its length."""

_MOST_DIGITS = 18
_INT64_MAX = 2**63 - 1


class ListingRpcs(RpcGroup):
    """Looks at volumes. A base of ControllerService."""

    def ControllerGetVolume(
        self, request: csi_pb2.ControllerGetVolumeRequest, caller: Caller
    ) -> csi_pb2.ControllerGetVolumeResponse:
        """Answer with a volume and the nodes that it is attached to."""
        description = self._describe_volume(request.volume_id, caller)
        return csi_pb2.ControllerGetVolumeResponse(
            volume=self._context.volume_of(description.disk),
            status=csi_pb2.ControllerGetVolumeResponse.VolumeStatus(
                published_node_ids=_published_node_ids(description)
            ),
        )

    def ListVolumes(
        self, request: csi_pb2.ListVolumesRequest, caller: Caller
    ) -> csi_pb2.ListVolumesResponse:
        """Answer with a page of all volumes, also of those that others have made.

        A token is the place in the order of creation after which the next page begins, so it
        stays good when volumes come and go between two pages.
        """
        if request.max_entries < 0:
            raise InvalidField("max_entries", f"must not be negative, got {request.max_entries}")
        after = self._place_of(request.starting_token)
        response = csi_pb2.ListVolumesResponse()
        size_bytes = 0
        wanted = request.max_entries or None
        while True:
            limit = _DISKS_PER_CALL
            if wanted is not None:
                limit = min(limit, wanted - len(response.entries))
            page = self._client.list_disks(after, limit, caller)
            for place, description in page.disks:
                entry = self._entry(description)
                size_bytes += entry.ByteSize() + _FRAME_BYTES
                if size_bytes > MAX_PAGE_BYTES:
                    response.next_token = str(after)
                    return response
                response.entries.append(entry)
                after = place
            if not page.more:
                return response
            if wanted is not None and len(response.entries) >= wanted:
                response.next_token = str(after)
                return response

    def GetCapacity(
        self, request: csi_pb2.GetCapacityRequest, caller: Caller
    ) -> csi_pb2.GetCapacityResponse:
        """Answer with the room that is left in the zones, and with the sizes that disks have.

        Each volume can have all of the room, whatever its capabilities and parameters; those that
        CreateVolume refuses are refused here too.
        """
        access.refuse_unknown_modes(
            "volume_capabilities",
            request.volume_capabilities,
            self._capabilities,
            SINGLE_NODE_MULTI_WRITER,
        )
        read_parameters(request.parameters, access.wants_many_nodes(request.volume_capabilities))
        operator = self._context.cloud.operator
        zones = operator.zones()
        if (
            request.HasField("accessible_topology")
            and VOLUME_ACCESSIBILITY_CONSTRAINTS in self._capabilities
        ):
            keys, region = self._context.topology_keys, self._context.cloud.region
            zones = [
                zone for zone in zones if keys.meets([request.accessible_topology], zone, region)
            ]
        available_gib = min(
            sum(operator.available_gib(zone) for zone in zones), _INT64_MAX // capacity.GIB
        )
        response = csi_pb2.GetCapacityResponse(available_capacity=available_gib * capacity.GIB)
        response.maximum_volume_size.value = MAX_DISK_GIB * capacity.GIB
        response.minimum_volume_size.value = MIN_DISK_GIB * capacity.GIB
        return response

    def _place_of(self, token: str) -> int:
        if not token:
            return 0
        if token.isascii() and token.isdecimal() and len(token) <= _MOST_DIGITS:
            place = int(token)
            if 0 < place <= self._context.cloud.operator.last_disk_place() and str(place) == token:
                return place
        raise InvalidToken(f"starting_token: {quoted(token)} is no next_token of this driver")

    def _entry(self, description: DiskDescription) -> csi_pb2.ListVolumesResponse.Entry:
        entry = csi_pb2.ListVolumesResponse.Entry(volume=self._context.volume_of(description.disk))
        if LIST_VOLUMES_PUBLISHED_NODES in self._capabilities:
            entry.status.SetInParent()
            # Of a volume on ten thousand nodes: an entry has to fit into a page.
            room_bytes = MAX_PAGE_BYTES - entry.ByteSize() - _FRAME_BYTES
            for node_id in _published_node_ids(description):
                room_bytes -= len(node_id.encode()) + _FRAME_BYTES
                if room_bytes < 0:
                    break
                entry.status.published_node_ids.append(node_id)
        return entry


def _published_node_ids(description: DiskDescription) -> list[str]:
    """Return the nodes that a disk is on. One that it is still being attached to is not yet one."""
    return [
        attachment.instance
        for attachment in description.attachments
        if attachment.state is not AttachmentState.ATTACHING
    ]
