"""The Cloud service of the control API: the state of the simulated cloud, and changes of it."""

from __future__ import annotations

from mockdriver.control.apis import ApiRpcs
from mockdriver.control.attachments import AttachmentRpcs
from mockdriver.control.disks import DiskRpcs
from mockdriver.control.instance_types import InstanceTypeRpcs
from mockdriver.control.instances import InstanceRpcs
from mockdriver.control.network_interfaces import NetworkInterfaceRpcs
from mockdriver.control.zones import ZoneRpcs


class CloudService(
    ZoneRpcs,
    InstanceTypeRpcs,
    InstanceRpcs,
    NetworkInterfaceRpcs,
    DiskRpcs,
    AttachmentRpcs,
    ApiRpcs,
):
    """All RPCs of the Cloud service; its bases hold those about one kind of resource each."""
