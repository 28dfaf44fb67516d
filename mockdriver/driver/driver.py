"""The driver: its services in front of a cloud, as handlers that a server can register."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from enum import StrEnum

from mockdriver.cloud import Caller, Cloud
from mockdriver.cloud.errors import CallerGone
from mockdriver.driver.calls import CallLayers, EndProcess, Handler
from mockdriver.driver.cloud_client import CloudClient
from mockdriver.driver.cloud_faults import CloudFaults
from mockdriver.driver.context import DriverConfig, DriverContext, NodeMounts
from mockdriver.driver.controller import ControllerService
from mockdriver.driver.fault_layer import FaultLayer
from mockdriver.driver.identity import IdentityService
from mockdriver.driver.mounts.files import DirectoryFiles, Files, NoFiles
from mockdriver.driver.mounts.mount_table import MountTables
from mockdriver.driver.node import NodeService
from mockdriver.driver.topology import TopologyKeys
from mockdriver.faults.engine import FaultEngine
from mockdriver.journal import Journal
from mockdriver.runtime import Runtime


class Role(StrEnum):
    """Which plugin a socket is of; each has the Identity service besides."""

    ALL = "all"
    CONTROLLER = "controller"
    NODE = "node"


class Driver:
    """One storage provider: a controller and the node plugins of as many nodes as are asked for.

    It keeps nothing that its cloud does not know, so a second one over the same cloud goes on
    where the first one stopped.
    """

    def __init__(
        self,
        config: DriverConfig,
        cloud: Cloud,
        runtime: Runtime,
        journal: Journal,
        faults: FaultEngine | None = None,
        end_process: EndProcess | None = None,
        mounts: MountTables | None = None,
    ) -> None:
        """Make the driver. Without `faults` it has a list of its own, which is empty.

        `end_process` ends the process for a fault; without it only the call ends. `mounts` are what
        is staged and published on the nodes, which outlives a driver; without it that is nothing.
        """
        self.config = config
        self.faults = FaultEngine(runtime) if faults is None else faults
        fault_layer = FaultLayer(self.faults)
        self._context = DriverContext(
            config=config,
            cloud=cloud,
            client=CloudClient(cloud.api, runtime, CloudFaults(cloud, fault_layer)),
            topology_keys=TopologyKeys.generic(config.name),
            mounts=MountTables(runtime) if mounts is None else mounts,
            files=DirectoryFiles() if config.node_mounts is NodeMounts.DIRECTORY else NoFiles(),
        )
        self._layers = CallLayers(runtime, journal, config.capabilities, fault_layer, end_process)
        self._identity = self._layers.handlers("Identity", IdentityService(self._context), None)
        self._controller = self._layers.handlers(
            "Controller", ControllerService(self._context), None
        )
        self._nodes: dict[str | None, dict[str, Handler]] = {}

    @property
    def files(self) -> Files:
        """What the driver does to files when it publishes on a node."""
        return self._context.files

    def stop(self, caller: Caller) -> None:
        """Take no more calls, end those that wait with UNAVAILABLE, and wait until all have ended.

        If `caller` leaves meanwhile, that is not waited for.
        """
        calls = self._layers.calls
        with suppress(CallerGone):
            calls.wait_until_ended(calls.stop(), caller)

    def topology_of(self, instance_id: str) -> Mapping[str, str]:
        """Return the topology segments of an instance; raises InstanceNotFound."""
        return self.topology_of_zone(self._context.cloud.operator.instance(instance_id).zone)

    def topology_of_zone(self, zone: str) -> Mapping[str, str]:
        """Return the topology segments of a zone of this cloud."""
        return dict(self._context.topology_of(zone).segments)

    def handlers(self, node_id: str | None, role: Role = Role.ALL) -> dict[str, dict[str, Handler]]:
        """Return the handlers of a socket, by service and RPC name.

        `role` says which services it has, `node_id` which instance its Node service runs on.
        """
        services = {"Identity": self._identity}
        if role is not Role.NODE:
            services["Controller"] = self._controller
        if role is not Role.CONTROLLER:
            services["Node"] = self._kept_node_handlers(node_id)
        return services

    def node_handlers(self, node_id: str) -> dict[str, Handler]:
        """Return the handlers of any node; those of an instance that is not there are not kept."""
        if node_id in self._nodes or self._context.cloud.operator.has_instance(node_id):
            return self._kept_node_handlers(node_id)
        return self._new_node_handlers(node_id)

    def _kept_node_handlers(self, node_id: str | None) -> dict[str, Handler]:
        """Return the handlers of a node, which several sockets may share."""
        handlers = self._nodes.get(node_id)
        if handlers is None:
            # Of two calls that come first at the same time, both have the same handlers.
            handlers = self._nodes.setdefault(node_id, self._new_node_handlers(node_id))
        return handlers

    def _new_node_handlers(self, node_id: str | None) -> dict[str, Handler]:
        return self._layers.handlers("Node", NodeService(self._context, node_id), node_id)
