"""The Cloud service of the control API: the state of the simulated cloud, and changes of it."""

from __future__ import annotations

from mockdriver.cloud import Caller
from mockdriver.control.attachments import AttachmentRpcs
from mockdriver.control.instance_types import InstanceTypeRpcs
from mockdriver.control.instances import InstanceRpcs
from mockdriver.control.messages import message
from mockdriver.control.network_interfaces import NetworkInterfaceRpcs
from mockdriver.control.v1 import cloud_pb2


class CloudService(InstanceTypeRpcs, InstanceRpcs, NetworkInterfaceRpcs, AttachmentRpcs):
    """All RPCs of the Cloud service; its bases hold those about one kind of resource each."""

    def GetCloud(
        self, request: cloud_pb2.GetCloudRequest, caller: Caller
    ) -> cloud_pb2.CloudSummary:
        """Return how much of everything there is."""
        return message(
            cloud_pb2.CloudSummary,
            self._operator.summary(),
            region=self._cloud.region,
            zones=self._operator.zones(),
            capacity_gib=self._operator.capacity_gib(),
        )
