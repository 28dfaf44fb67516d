"""The CSI Controller service's RPCs about the life of a volume: create, delete, validate."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress

from csi_spec import csi_pb2
from mockdriver.cloud import Caller, Disk
from mockdriver.cloud.errors import DiskNotFound, ZoneFull, quoted
from mockdriver.driver import access, attachment_tags, capacity
from mockdriver.driver.capabilities import (
    SINGLE_NODE_MULTI_WRITER,
    VOLUME_ACCESSIBILITY_CONSTRAINTS,
)
from mockdriver.driver.errors import IncompatibleRepeat, InvalidField, NoAccessibleZone
from mockdriver.driver.parameters import VolumeParameters, read_parameters
from mockdriver.driver.rpc_group import RpcGroup

_BANNED_IN_NAMES = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""CSI spec, CreateVolumeRequest.name."""


class VolumeRpcs(RpcGroup):
    """Volumes come and go. A base of ControllerService."""

    def CreateVolume(
        self, request: csi_pb2.CreateVolumeRequest, caller: Caller
    ) -> csi_pb2.CreateVolumeResponse:
        """Create a disk, or answer with the one that this name has created before.

        Name and parameters are tags on the disk. A disk of the same name that does not fit the
        request is answered with ALREADY_EXISTS (CSI spec, CreateVolume).
        """
        self._check(request)
        capacity.check_range(request.capacity_range)
        parameters = read_parameters(
            request.parameters, access.wants_many_nodes(request.volume_capabilities)
        )
        zones = self._zones_for(request)
        disk = self._client.find_disk(attachment_tags.VOLUME_NAME, request.name, caller)
        if disk is None:
            disk = self._create(request, parameters, zones or [self._default_zone()], caller)
        else:
            self._refuse_other(disk, request, zones)
        return csi_pb2.CreateVolumeResponse(volume=self._context.volume_of(disk))

    def DeleteVolume(
        self, request: csi_pb2.DeleteVolumeRequest, caller: Caller
    ) -> csi_pb2.DeleteVolumeResponse:
        """Delete a disk; one that is gone is deleted, one that is attached is refused."""
        with suppress(DiskNotFound):
            self._client.delete_disk(request.volume_id, caller)
        return csi_pb2.DeleteVolumeResponse()

    def ValidateVolumeCapabilities(
        self, request: csi_pb2.ValidateVolumeCapabilitiesRequest, caller: Caller
    ) -> csi_pb2.ValidateVolumeCapabilitiesResponse:
        """Tell whether the volume is all that the request says it is.

        What is not confirmed is OK too, with a message that says why (CSI spec,
        ValidateVolumeCapabilities).
        """
        disk = self._describe_volume(request.volume_id, caller).disk
        problem = self._unconfirmed(disk, request)
        response = csi_pb2.ValidateVolumeCapabilitiesResponse()
        if problem is not None:
            response.message = problem
            return response
        response.confirmed.volume_context.update(request.volume_context)
        response.confirmed.volume_capabilities.extend(request.volume_capabilities)
        response.confirmed.parameters.update(request.parameters)
        return response

    def _create(
        self,
        request: csi_pb2.CreateVolumeRequest,
        parameters: VolumeParameters,
        zones: Sequence[str],
        caller: Caller,
    ) -> Disk:
        """Create the disk in the first of the zones that has room; raises ZoneFull if none has.

        CSI spec, TopologyRequirement: one after the other, from the most preferred.
        """
        size_gib = capacity.choose_size_gib(request.capacity_range)
        tags = {
            attachment_tags.VOLUME_NAME: request.name,
            attachment_tags.PARAMETERS: parameters.text,
        }
        for zone in zones[:-1]:
            with suppress(ZoneFull):
                return self._client.create_disk(
                    zone, size_gib, tags, caller, max_attachments=parameters.max_attachments
                )
        return self._client.create_disk(
            zones[-1], size_gib, tags, caller, max_attachments=parameters.max_attachments
        )

    def _check(self, request: csi_pb2.CreateVolumeRequest) -> None:
        if _BANNED_IN_NAMES.search(request.name):
            raise InvalidField(
                "name", f"must not contain control characters: {quoted(request.name)}"
            )
        if request.HasField("volume_content_source"):
            # An empty disk in the place of a copy would look like lost data.
            raise InvalidField(
                "volume_content_source", "this driver cannot create a volume from a source"
            )
        if request.mutable_parameters:
            raise InvalidField("mutable_parameters", "this driver has no MODIFY_VOLUME")
        access.refuse_unknown_modes(
            "volume_capabilities",
            request.volume_capabilities,
            self._capabilities,
            SINGLE_NODE_MULTI_WRITER,
        )

    def _unconfirmed(
        self, disk: Disk, request: csi_pb2.ValidateVolumeCapabilitiesRequest
    ) -> str | None:
        """Return why the volume is not all that is asked for, or None if it is."""
        if access.wants_many_nodes(request.volume_capabilities) and disk.max_attachments == 1:
            return "volume_capabilities: the volume can be attached to one node at a time only"
        try:
            access.refuse_unknown_modes(
                "volume_capabilities",
                request.volume_capabilities,
                self._capabilities,
                SINGLE_NODE_MULTI_WRITER,
            )
        except InvalidField as error:
            return str(error)
        if request.volume_context:
            return "volume_context: the volumes of this driver have none"
        if request.parameters and dict(request.parameters) != _parameters_of(disk):
            return "parameters: the volume was created with others"
        if request.mutable_parameters:
            return "mutable_parameters: this driver has no MODIFY_VOLUME"
        return None

    def _zones_for(self, request: csi_pb2.CreateVolumeRequest) -> list[str]:
        """Return the zones that the request asks for, best first; none if it may be any."""
        if VOLUME_ACCESSIBILITY_CONSTRAINTS not in self._capabilities:
            return []
        return self._context.topology_keys.zones_to_try(
            request.accessibility_requirements,
            self._context.cloud.operator.zones(),
            self._context.cloud.region,
        )

    def _default_zone(self) -> str:
        operator = self._context.cloud.operator
        first = operator.first_instance()
        if first is not None:
            return first.zone
        zones = operator.zones()
        if not zones:
            raise NoAccessibleZone("the cloud has no zone to create a volume in")
        return zones[0]

    def _refuse_other(
        self, disk: Disk, request: csi_pb2.CreateVolumeRequest, zones: Sequence[str]
    ) -> None:
        exists = f"volume {quoted(request.name)} exists"
        if not capacity.holds(disk.size_gib, request.capacity_range):
            raise IncompatibleRepeat(
                f"capacity_range: {exists} and has {disk.size_gib} GiB, which is not in the range"
            )
        if dict(request.parameters) != _parameters_of(disk):
            raise IncompatibleRepeat(f"parameters: {exists} and was created with others")
        if access.wants_many_nodes(request.volume_capabilities) and disk.max_attachments == 1:
            raise IncompatibleRepeat(
                f"volume_capabilities: {exists} and can be attached to one node at a time only"
            )
        if zones and not self._satisfies(disk, request):
            raise IncompatibleRepeat(
                f"accessibility_requirements: {exists} in zone {quoted(disk.zone)}, which they "
                "do not allow"
            )

    def _satisfies(self, disk: Disk, request: csi_pb2.CreateVolumeRequest) -> bool:
        requirement = request.accessibility_requirements
        # Preferred is a wish; where requisite is given, any of it will do.
        allowed = requirement.requisite or requirement.preferred
        context = self._context
        return context.topology_keys.meets(allowed, disk.zone, context.cloud.region)


def _parameters_of(disk: Disk) -> object:
    """Return the parameters that a disk was created with; something else for a broken tag."""
    try:
        return json.loads(disk.tags.get(attachment_tags.PARAMETERS, "{}"))
    except (ValueError, RecursionError):  # what nests too deep
        return None
