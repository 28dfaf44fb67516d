"""The Cloud service's RPCs about disks."""

from __future__ import annotations

from typing import Any

from mockdriver.cloud import Caller, Disk, DiskDescription
from mockdriver.control.checking import changed_tags, check_disk_id, checked, required
from mockdriver.control.messages import message, plain
from mockdriver.control.paging import next_token, page_size, pattern, place_of
from mockdriver.control.rpc_group import RpcGroup
from mockdriver.control.v1 import cloud_pb2
from mockdriver.scenario.cloud_model import DiskModel
from mockdriver.scenario.codec import data, record


class DiskRpcs(RpcGroup):
    """Disks come, change and go. A base of CloudService."""

    def ListDisks(
        self, request: cloud_pb2.ListDisksRequest, caller: Caller
    ) -> cloud_pb2.ListDisksResponse:
        """Return a page of the disks that match."""
        size = page_size(request.page_size)
        after = place_of(request.page_token, self._operator.last_disk_place())
        id_matches = pattern(request.id)

        def matches(disk: Disk) -> bool:
            return (not request.zone or disk.zone == request.zone) and id_matches(disk.id)

        page = self._operator.find_disks(
            matches, instance=request.instance or None, after=after, limit=size
        )
        return cloud_pb2.ListDisksResponse(
            disks=[_disk(item) for item in page.disks],
            next_page_token=next_token(page.next_place),
            total=page.total,
        )

    def GetDisk(self, request: cloud_pb2.GetDiskRequest, caller: Caller) -> cloud_pb2.Disk:
        """Return a disk, with the instances that it is attached to."""
        required(request, "id")
        return _disk(self._operator.describe_disk(request.id))

    def AddDisk(self, request: cloud_pb2.AddDiskRequest, caller: Caller) -> cloud_pb2.Disk:
        """Add a disk, refused for want of room unless forced."""
        required(request, "id")
        check_disk_id(request.id, "id")
        given = plain(request)
        given.pop("force", None)
        model = checked(DiskModel, given)
        disk = record(Disk, model, zone=model.zone or self._operator.default_zone())
        self._operator.add_disk(disk, check_room=not request.force)
        return _disk(DiskDescription(disk, ()))

    def ChangeDisk(self, request: cloud_pb2.ChangeDiskRequest, caller: Caller) -> cloud_pb2.Disk:
        """Change what is given of a disk."""
        required(request, "id")
        changes = plain(request)
        set_tags, remove_tags = changes.pop("set_tags", {}), changes.pop("remove_tags", [])
        changes.pop("force", None)

        def changed(present: Disk) -> Disk:
            tags = changed_tags(present.tags, set_tags, remove_tags)
            given: dict[str, Any] = data(present, DiskModel) | changes
            return record(Disk, checked(DiskModel, given), tags=tags)

        return _disk(self._operator.change_disk(request.id, changed, force=request.force))

    def RemoveDisk(
        self, request: cloud_pb2.RemoveDiskRequest, caller: Caller
    ) -> cloud_pb2.RemoveDiskResponse:
        """Remove a disk that is attached to nothing; by force its attachments go with it."""
        required(request, "id")
        self._operator.remove_disk(request.id, force=request.force)
        return cloud_pb2.RemoveDiskResponse()


def _disk(description: DiskDescription) -> cloud_pb2.Disk:
    instances = [attachment.instance for attachment in description.attachments]
    return message(cloud_pb2.Disk, description.disk, instances=instances)
