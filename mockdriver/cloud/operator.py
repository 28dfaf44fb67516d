"""The operator's console: changes out of band, without quotas, and looks that are not reads."""

from __future__ import annotations

from mockdriver.cloud.console.attachments import AttachmentsPart
from mockdriver.cloud.console.disks import DisksPart
from mockdriver.cloud.console.instance_types import InstanceTypesPart
from mockdriver.cloud.console.instances import InstancesPart
from mockdriver.cloud.console.network_interfaces import NetworkInterfacesPart
from mockdriver.cloud.console.zones import ZonesPart


class Operator(
    ZonesPart,
    InstanceTypesPart,
    InstancesPart,
    NetworkInterfacesPart,
    DisksPart,
    AttachmentsPart,
):
    """What the owner of the cloud can do; each method is one change at one moment.

    Its bases have what can be done to one kind of resource each. What the cloud refuses, `force`
    makes anyway where a method has it: states that should not be.
    """
