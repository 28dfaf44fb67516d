"""The simulated cloud: reading it, and changing it out of band."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal, Protocol, TypeVar

from mockdriver.client.connection import Connection
from mockdriver.client.words import Duration, duration
from mockdriver.control.v1 import cloud_pb2, cloud_pb2_grpc

AttachmentState = Literal["attaching", "attached", "detaching", "busy"]
"""What an attachment can be; it uses its slot in each of them."""

WAIT_SECONDS = 60.0
"""How long `attach` and `detach` wait for the end of a transition when they are asked to."""


class Cloud:
    """The cloud behind a mock. Nothing here counts as a call of the cloud's API, nor as a read.

    Changes that the cloud would refuse raise ControlError, its `error` being the name of the
    cloud's error, "SlotsExhausted" for one; `force=True` makes them anyway.
    """

    def __init__(self, connection: Connection) -> None:
        self._call = connection.call
        self._stub = cloud_pb2_grpc.CloudStub(connection.channel)

    def summary(self) -> cloud_pb2.CloudSummary:
        """Return the region, its zones, and how much there is of each kind."""
        return self._call(self._stub.GetCloud, cloud_pb2.GetCloudRequest())

    # ------------------------------------------------------------------------------------- zones

    def zones(self) -> list[cloud_pb2.Zone]:
        """Return all zones, each with the room that is left for disks."""
        return list(self._call(self._stub.ListZones, cloud_pb2.ListZonesRequest()).zones)

    def add_zone(self, name: str) -> cloud_pb2.Zone:
        """Add a zone."""
        return self._call(self._stub.AddZone, cloud_pb2.AddZoneRequest(name=name))

    def remove_zone(self, name: str, *, force: bool = False) -> None:
        """Remove a zone; refused while something is in it, unless forced."""
        request = cloud_pb2.RemoveZoneRequest(name=name, force=force)
        self._call(self._stub.RemoveZone, request)

    # ---------------------------------------------------------------------------- instance types

    def instance_types(self) -> list[cloud_pb2.InstanceType]:
        """Return all instance types."""
        request = cloud_pb2.ListInstanceTypesRequest()
        return list(self._call(self._stub.ListInstanceTypes, request).instance_types)

    def instance_type(self, name: str) -> cloud_pb2.InstanceType:
        """Return an instance type."""
        request = cloud_pb2.GetInstanceTypeRequest(name=name)
        return self._call(self._stub.GetInstanceType, request)

    def add_instance_type(
        self,
        name: str,
        *,
        slots: int | None = None,
        network_interfaces_share_slots: bool = False,
        boot_disk_uses_slot: bool | None = None,
    ) -> cloud_pb2.InstanceType:
        """Add an instance type; without slots it has no limit."""
        request = cloud_pb2.AddInstanceTypeRequest(
            instance_type=cloud_pb2.InstanceType(
                name=name,
                slots=slots,
                network_interfaces_share_slots=network_interfaces_share_slots,
                boot_disk_uses_slot=boot_disk_uses_slot,
            )
        )
        return self._call(self._stub.AddInstanceType, request)

    def change_instance_type(
        self,
        name: str,
        *,
        slots: int | None = None,
        no_slots: bool = False,
        network_interfaces_share_slots: bool | None = None,
        boot_disk_uses_slot: bool | None = None,
    ) -> cloud_pb2.InstanceType:
        """Change what is given of a type, for all its instances; never refused for slots in use.

        `no_slots` takes the limit away.
        """
        request = cloud_pb2.ChangeInstanceTypeRequest(
            name=name,
            slots=slots,
            no_slots=no_slots,
            network_interfaces_share_slots=network_interfaces_share_slots,
            boot_disk_uses_slot=boot_disk_uses_slot,
        )
        return self._call(self._stub.ChangeInstanceType, request)

    def remove_instance_type(self, name: str, *, force: bool = False) -> None:
        """Remove a type; refused while an instance has it, unless forced."""
        request = cloud_pb2.RemoveInstanceTypeRequest(name=name, force=force)
        self._call(self._stub.RemoveInstanceType, request)

    # --------------------------------------------------------------------------------- instances

    def instances(
        self, id: str = "", *, type: str = "", zone: str = ""
    ) -> list[cloud_pb2.Instance]:
        """Return the instances that match, in the order in which they were added.

        `id` may have `*` and `?` as in a shell.
        """
        request = cloud_pb2.ListInstancesRequest(id=id, type=type, zone=zone)
        pages = _all_pages(lambda: self._call(self._stub.ListInstances, request), request)
        return [instance for page in pages for instance in page.instances]

    def instance_page(
        self,
        id: str = "",
        *,
        type: str = "",
        zone: str = "",
        page_size: int = 0,
        page_token: str = "",
    ) -> cloud_pb2.ListInstancesResponse:
        """Return one page of the instances that match, the next one's token, and their number."""
        request = cloud_pb2.ListInstancesRequest(
            id=id, type=type, zone=zone, page_size=page_size, page_token=page_token
        )
        return self._call(self._stub.ListInstances, request)

    def instance(self, id: str) -> cloud_pb2.Instance:
        """Return an instance with its interfaces and attachments."""
        return self._call(self._stub.GetInstance, cloud_pb2.GetInstanceRequest(id=id))

    def add_instance(
        self,
        id: str,
        *,
        type: str = "",
        zone: str = "",
        network_interfaces: int | Iterable[str] | None = None,
        boot_disk: str = "",
        attached: Iterable[str] = (),
        published: Iterable[str] = (),
        force: bool = False,
    ) -> cloud_pb2.Instance:
        """Add an instance with all that a scenario can say of one.

        `network_interfaces` is a number or the ids, `attached` are disks out of band, `published`
        those of the CO. Disks that are not there are made. Refused for want of slots, unless
        forced.
        """
        request = cloud_pb2.AddInstanceRequest(
            id=id,
            type=type,
            zone=zone,
            boot_disk=boot_disk,
            attached=attached,
            published=published,
            force=force,
        )
        if isinstance(network_interfaces, int):
            request.network_interface_count = network_interfaces
        elif network_interfaces is not None:
            request.network_interfaces.extend(network_interfaces)
        return self._call(self._stub.AddInstance, request)

    def change_instance(
        self, id: str, *, type: str | None = None, zone: str | None = None, force: bool = False
    ) -> cloud_pb2.Instance:
        """Change an instance's type ("" for none) or zone.

        Another zone is refused while disks of the old one are attached, unless forced.
        """
        request = cloud_pb2.ChangeInstanceRequest(id=id, type=type, zone=zone, force=force)
        return self._call(self._stub.ChangeInstance, request)

    def remove_instance(self, id: str) -> None:
        """Remove an instance with its interfaces and boot disk; its other disks are free."""
        self._call(self._stub.RemoveInstance, cloud_pb2.RemoveInstanceRequest(id=id))

    def node_info(self, node_id: str) -> cloud_pb2.NodeInfo:
        """Return what ControllerGetNodeInfo would answer now, without a call of the driver's."""
        request = cloud_pb2.GetNodeInfoRequest(node_id=node_id)
        return self._call(self._stub.GetNodeInfo, request)

    # ------------------------------------------------------------------------ network interfaces

    def network_interfaces(self, instance: str = "") -> list[cloud_pb2.NetworkInterface]:
        """Return the network interfaces of an instance, or of all."""
        request = cloud_pb2.ListNetworkInterfacesRequest(instance=instance)
        return list(self._call(self._stub.ListNetworkInterfaces, request).network_interfaces)

    def add_network_interface(self, instance: str, id: str = "") -> cloud_pb2.NetworkInterface:
        """Add a network interface, with a name of its own if no id is given.

        Never refused for want of a slot.
        """
        request = cloud_pb2.AddNetworkInterfaceRequest(instance=instance, id=id)
        return self._call(self._stub.AddNetworkInterface, request).network_interfaces[0]

    def add_network_interfaces(self, instance: str, count: int) -> list[cloud_pb2.NetworkInterface]:
        """Add so many network interfaces, at least one."""
        request = cloud_pb2.AddNetworkInterfaceRequest(instance=instance, count=count)
        return list(self._call(self._stub.AddNetworkInterface, request).network_interfaces)

    def remove_network_interface(self, instance: str, id: str = "") -> None:
        """Remove a network interface: the newest if no id is given."""
        request = cloud_pb2.RemoveNetworkInterfaceRequest(instance=instance, id=id)
        self._call(self._stub.RemoveNetworkInterface, request)

    def remove_network_interfaces(self, instance: str, count: int) -> None:
        """Remove the newest so many network interfaces, at least one."""
        request = cloud_pb2.RemoveNetworkInterfaceRequest(instance=instance, count=count)
        self._call(self._stub.RemoveNetworkInterface, request)

    # ------------------------------------------------------------------------------------- disks

    def disks(self, id: str = "", *, zone: str = "", instance: str = "") -> list[cloud_pb2.Disk]:
        """Return the disks that match; `instance` means those attached to it.

        `id` may have `*` and `?` as in a shell.
        """
        request = cloud_pb2.ListDisksRequest(id=id, zone=zone, instance=instance)
        pages = _all_pages(lambda: self._call(self._stub.ListDisks, request), request)
        return [disk for page in pages for disk in page.disks]

    def disk_page(
        self,
        id: str = "",
        *,
        zone: str = "",
        instance: str = "",
        page_size: int = 0,
        page_token: str = "",
    ) -> cloud_pb2.ListDisksResponse:
        """Return one page of the disks that match, the next one's token, and their number."""
        request = cloud_pb2.ListDisksRequest(
            id=id, zone=zone, instance=instance, page_size=page_size, page_token=page_token
        )
        return self._call(self._stub.ListDisks, request)

    def disk(self, id: str) -> cloud_pb2.Disk:
        """Return a disk."""
        return self._call(self._stub.GetDisk, cloud_pb2.GetDiskRequest(id=id))

    def add_disk(
        self,
        id: str,
        *,
        zone: str = "",
        size_gib: int | None = None,
        max_attachments: int | None = None,
        tags: Mapping[str, str] | None = None,
        force: bool = False,
    ) -> cloud_pb2.Disk:
        """Add a disk; refused while its zone is full, unless forced."""
        request = cloud_pb2.AddDiskRequest(
            id=id,
            zone=zone,
            size_gib=size_gib,
            max_attachments=max_attachments,
            tags=tags,
            force=force,
        )
        return self._call(self._stub.AddDisk, request)

    def change_disk(
        self,
        id: str,
        *,
        zone: str | None = None,
        size_gib: int | None = None,
        max_attachments: int | None = None,
        set_tags: Mapping[str, str] | None = None,
        remove_tags: Iterable[str] = (),
        force: bool = False,
    ) -> cloud_pb2.Disk:
        """Change what is given of a disk."""
        request = cloud_pb2.ChangeDiskRequest(
            id=id,
            zone=zone,
            size_gib=size_gib,
            max_attachments=max_attachments,
            set_tags=set_tags,
            remove_tags=remove_tags,
            force=force,
        )
        return self._call(self._stub.ChangeDisk, request)

    def remove_disk(self, id: str, *, force: bool = False) -> None:
        """Remove a disk; refused while it is attached; forced, its attachments go with it."""
        self._call(self._stub.RemoveDisk, cloud_pb2.RemoveDiskRequest(id=id, force=force))

    # ------------------------------------------------------------------------------- attachments

    def attachments(self, *, instance: str = "", disk: str = "") -> list[cloud_pb2.Attachment]:
        """Return the attachments of an instance, of a disk, or all."""
        request = cloud_pb2.ListAttachmentsRequest(instance=instance, disk=disk)
        return list(self._call(self._stub.ListAttachments, request).attachments)

    def attachment(self, instance: str, disk: str) -> cloud_pb2.Attachment:
        """Return the attachment of a disk to an instance."""
        request = cloud_pb2.GetAttachmentRequest(instance=instance, disk=disk)
        return self._call(self._stub.GetAttachment, request)

    def attach(
        self,
        instance: str,
        disk: str,
        *,
        wait: bool = False,
        immediately: bool = False,
        force: bool = False,
        published: bool = False,
        wait_seconds: float = WAIT_SECONDS,
    ) -> cloud_pb2.Attachment:
        """Attach a disk out of band; one that is not there is made, in the instance's zone.

        `wait` answers only when the transition has ended, `immediately` does without one, `force`
        goes past slots, zone and max_attachments, `published` makes it look like the driver's.
        Waits for at most `wait_seconds`, then raises ControlError with DEADLINE_EXCEEDED.
        """
        request = cloud_pb2.AttachRequest(
            instance=instance,
            disk=disk,
            wait=wait,
            immediately=immediately,
            force=force,
            published=published,
        )
        return self._call(self._stub.Attach, request, waits_seconds=wait_seconds if wait else 0.0)

    def detach(
        self,
        instance: str,
        disk: str,
        *,
        wait: bool = False,
        immediately: bool = False,
        force: bool = False,
        wait_seconds: float = WAIT_SECONDS,
    ) -> cloud_pb2.Attachment | None:
        """Detach a disk out of band; return the attachment as it is now, None once it is gone.

        The words are those of `attach`; `force` also detaches a boot disk, or one that is busy.
        """
        request = cloud_pb2.DetachRequest(
            instance=instance, disk=disk, wait=wait, immediately=immediately, force=force
        )
        answer = self._call(self._stub.Detach, request, waits_seconds=wait_seconds if wait else 0.0)
        return answer.attachment if answer.HasField("attachment") else None

    def change_attachment(
        self,
        instance: str,
        disk: str,
        *,
        state: AttachmentState | None = None,
        set_tags: Mapping[str, str] | None = None,
        remove_tags: Iterable[str] = (),
    ) -> cloud_pb2.Attachment:
        """Put an attachment into a state by hand; it stays until it is changed or released."""
        request = cloud_pb2.ChangeAttachmentRequest(
            instance=instance,
            disk=disk,
            state=state or "",
            set_tags=set_tags,
            remove_tags=remove_tags,
        )
        return self._call(self._stub.ChangeAttachment, request)

    def release(self, *, instance: str = "", disk: str = "") -> int:
        """End held transitions, of an instance, of a disk, or all; return how many."""
        request = cloud_pb2.ReleaseRequest(instance=instance, disk=disk)
        return self._call(self._stub.Release, request).released

    # ----------------------------------------------------------------------- transitions, quotas

    def transitions(self) -> cloud_pb2.Transitions:
        """Return how long attaching and detaching take."""
        return self._call(self._stub.GetTransitions, cloud_pb2.GetTransitionsRequest())

    def set_transitions(self, *, attach: str = "", detach: str = "") -> cloud_pb2.Transitions:
        """Set how long attaching and detaching take from now on; what is empty stays.

        "immediately", "held", "after 2s" or "after 3 reads".
        """
        request = cloud_pb2.SetTransitionsRequest(attach=attach, detach=detach)
        return self._call(self._stub.SetTransitions, request)

    def apis(self) -> list[cloud_pb2.Api]:
        """Return the APIs of the cloud: the quota of each, and how often it was called."""
        return list(self._call(self._stub.ListApis, cloud_pb2.ListApisRequest()).apis)

    def set_quota(
        self,
        api: str,
        *,
        burst: int | None = None,
        per_second: float | None = None,
        max_ids: int | None = None,
        delay: Duration = "",
    ) -> cloud_pb2.Api:
        """Put a new quota in the place of all of the old one, with a full bucket."""
        quota = cloud_pb2.Quota(
            burst=burst, per_second=per_second, max_ids=max_ids, delay=duration(delay)
        )
        return self._call(self._stub.SetQuota, cloud_pb2.SetQuotaRequest(api=api, quota=quota))


class _PagedRequest(Protocol):
    page_token: str


class _Page(Protocol):
    @property
    def next_page_token(self) -> str: ...


_P = TypeVar("_P", bound=_Page)


def _all_pages(ask: Callable[[], _P], request: _PagedRequest) -> list[_P]:
    """Ask until there are no more pages, each time with the token of the page before."""
    pages = [ask()]
    while pages[-1].next_page_token:
        request.page_token = pages[-1].next_page_token
        pages.append(ask())
    return pages
