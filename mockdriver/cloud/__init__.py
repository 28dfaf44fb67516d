"""The simulated cloud: instance types, instances, interfaces, disks, attachments, quotas.

It knows neither CSI nor gRPC and uses the standard library only.
"""

from mockdriver.cloud.api import API_NAMES, CloudApi
from mockdriver.cloud.caller import Caller
from mockdriver.cloud.cloud import DEFAULT_CAPACITY_GIB, DEFAULT_REGION, Cloud
from mockdriver.cloud.descriptions import (
    DiskDescription,
    DiskPage,
    InstanceDescription,
    InstancePage,
    InstanceView,
    Summary,
)
from mockdriver.cloud.operator import Operator
from mockdriver.cloud.resources import (
    Attachment,
    AttachmentState,
    Disk,
    Instance,
    InstanceType,
    NetworkInterface,
)
from mockdriver.cloud.token_bucket import Quota
from mockdriver.cloud.transitions import IMMEDIATELY, Transition, Transitions

__all__ = [
    "API_NAMES",
    "DEFAULT_CAPACITY_GIB",
    "DEFAULT_REGION",
    "IMMEDIATELY",
    "Attachment",
    "AttachmentState",
    "Caller",
    "Cloud",
    "CloudApi",
    "Disk",
    "DiskDescription",
    "DiskPage",
    "Instance",
    "InstanceDescription",
    "InstancePage",
    "InstanceType",
    "InstanceView",
    "NetworkInterface",
    "Operator",
    "Quota",
    "Summary",
    "Transition",
    "Transitions",
]
