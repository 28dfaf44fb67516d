"""What the services of one driver share."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from csi_spec import csi_pb2
from mockdriver.cloud import Caller, Cloud, Disk, InstanceDescription, InstanceType, slots
from mockdriver.driver import capacity
from mockdriver.driver.capabilities import VOLUME_ACCESSIBILITY_CONSTRAINTS, Capabilities
from mockdriver.driver.cloud_client import CloudClient
from mockdriver.driver.mounts.files import Files
from mockdriver.driver.mounts.mount_table import MountTables
from mockdriver.driver.topology import TopologyKeys

DEFAULT_NAME = "mock.csi.example.com"


class NodeInfoReply(StrEnum):
    """What NodeGetInfo answers to a request with the flag controller_get_node_info."""

    OMIT = "omit"
    FULL = "full"
    MISLEADING = "misleading"


class NodeMounts(StrEnum):
    """What publishing on a node does to files: a folder appears, or nothing happens."""

    DIRECTORY = "directory"
    NONE = "none"


@dataclass(frozen=True)
class DriverConfig:
    """How the driver behaves; `name` is the CSI plugin name."""

    name: str = DEFAULT_NAME
    vendor_version: str = ""
    capabilities: Capabilities = field(default_factory=Capabilities)
    node_info_reply: NodeInfoReply = NodeInfoReply.OMIT
    node_mounts: NodeMounts = NodeMounts.DIRECTORY


@dataclass(frozen=True)
class DriverContext:
    """A driver's configuration, its way to the cloud, and its topology keys."""

    config: DriverConfig
    cloud: Cloud
    client: CloudClient
    topology_keys: TopologyKeys
    mounts: MountTables
    files: Files

    def topology_of(self, zone: str) -> csi_pb2.Topology:
        """Return the topology of a zone of this cloud's region."""
        return self.topology_keys.of_zone(zone, self.cloud.region)

    def volume_of(self, disk: Disk) -> csi_pb2.Volume:
        """Return a disk as CSI's volume; its id is the disk's, byte for byte."""
        volume = csi_pb2.Volume(volume_id=disk.id, capacity_bytes=disk.size_gib * capacity.GIB)
        if VOLUME_ACCESSIBILITY_CONSTRAINTS in self.config.capabilities:
            volume.accessible_topology.append(self.topology_of(disk.zone))
        return volume

    def describe_node(
        self, node_id: str, caller: Caller
    ) -> tuple[InstanceDescription, InstanceType]:
        """Return a node's instance and its type; raises InstanceNotFound."""
        description = self.client.describe_instance(node_id, caller)
        type_name = description.instance.type
        if type_name is None:
            return description, slots.UNTYPED
        return description, self.client.describe_type(type_name, caller)
