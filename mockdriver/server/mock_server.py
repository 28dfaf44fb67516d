"""A running mock: a cloud, the driver in front of it, and the driver's sockets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from csi_spec import csi_pb2
from mockdriver.control.endpoints import Endpoints
from mockdriver.control.services import ControlServices
from mockdriver.control.world import World
from mockdriver.driver.capabilities import (
    CONTROLLER_SERVICE,
    CREATE_DELETE_VOLUME,
    GET_NODE_INFO,
    NODE_INFO_FROM_CONTROLLER,
    PUBLISH_UNPUBLISH_VOLUME,
)
from mockdriver.driver.descriptors import reflected
from mockdriver.driver.driver import Driver, Role
from mockdriver.scenario.load import LoadedScenario
from mockdriver.server.current_handlers import CurrentHandlers
from mockdriver.server.health import SERVICE as HEALTH
from mockdriver.server.health import Health
from mockdriver.server.socket_server import (
    NOTHING_BESIDE,
    GrpcHandlers,
    SocketServer,
    control_pool,
    wait_until_connectable,
    wait_until_ready,
    worker_pool,
)


class MockServer:
    """Driver and sockets over a cloud that outlives them."""

    def __init__(
        self,
        world: World,
        control: ControlServices,
    ) -> None:
        """Make a server that does not listen yet."""
        config = world.driver.config
        self.world = world
        self.cloud = world.cloud
        self.name = config.name
        self.journal = world.journal
        self.faults = world.faults
        self.control = control
        self.has_controller_flow = config.capabilities.all_on(
            CONTROLLER_SERVICE, GET_NODE_INFO, NODE_INFO_FROM_CONTROLLER
        )
        self.has_volumes = config.capabilities.all_on(
            CONTROLLER_SERVICE, CREATE_DELETE_VOLUME, PUBLISH_UNPUBLISH_VOLUME
        )
        self.broken_invariants = config.capabilities.broken_invariants()
        self._descriptors = reflected(config.capabilities, ControlServices.files())
        self._pool = worker_pool()
        self._control_pool = control_pool()
        self.health = Health(world.runtime, self._control_pool)
        self._sockets: list[SocketServer] = []
        world.on_switch(self._switch)
        self._nodes: list[tuple[CurrentHandlers, str | None]] = []
        self._first_nodes: list[CurrentHandlers] = []

    def listen(
        self,
        path: Path,
        node_id: str | None,
        role: Role = Role.ALL,
        *,
        control: bool = True,
        follow: bool = False,
    ) -> None:
        """Serve the services of a role on a socket; `node_id` is what a Node service runs on.

        With `control` the control API is served there too. With `follow` the node is the first one
        of each scenario that is loaded later. Returns once Probe answers. Raises EndpointMistake
        and NotReady.
        """
        current = CurrentHandlers(self.world.driver, node_id, role)
        if follow:
            self._first_nodes.append(current)
        else:
            self._nodes.append((current, node_id))
        services = {
            csi_pb2.DESCRIPTOR.services_by_name[name].full_name: handlers
            for name, handlers in current.handlers.items()
        }
        beside = self.control.handlers(self._control_pool) if control else NOTHING_BESIDE
        beside = self._with_health(beside, services)
        self._sockets.append(
            SocketServer(path, services, self._pool, self._descriptors, beside=beside)
        )
        wait_until_ready(path)

    def listen_for_control(self, path: Path) -> None:
        """Serve the control API alone on a socket; raises EndpointMistake and NotReady."""
        handlers = self._with_health(self.control.handlers(self._control_pool), ())
        self._sockets.append(
            SocketServer(path, {}, self._control_pool, self._descriptors, beside=handlers)
        )
        wait_until_connectable(path)

    def _with_health(self, beside: GrpcHandlers, services: Iterable[str]) -> GrpcHandlers:
        return {**beside, HEALTH: self.health.handlers((*services, *beside))}

    def topology_of(self, instance_id: str) -> Mapping[str, str]:
        """Return the topology segments of an instance; raises InstanceNotFound."""
        return self.world.driver.topology_of(instance_id)

    def topology_of_zone(self, zone: str) -> Mapping[str, str]:
        """Return the topology segments of a zone."""
        return self.world.driver.topology_of_zone(zone)

    @property
    def endpoints(self) -> Endpoints:
        """Where it listens, as the control API tells it; whoever opens the sockets writes it."""
        return self.world.endpoints

    def _switch(self, driver: Driver, loaded: LoadedScenario) -> None:
        """Let another driver answer on all sockets."""
        instances = loaded.plan.instances
        first = instances[0].id if instances else None
        for current, node_id in self._nodes:
            current.switch(driver, node_id)
        for current in self._first_nodes:
            current.switch(driver, first)
            if current.has_node:
                self.endpoints.node_id = first

    def stop(self, grace_seconds: float) -> None:
        """Take no new calls, let those in flight finish, remove the sockets."""
        self.health.stop()
        for wait in [server.begin_stop(grace_seconds) for server in self._sockets]:
            wait()
        self._sockets.clear()
        # A call that was ended has still to notice, and its record to be completed: the log of a
        # server that has stopped tells of all calls.
        self._pool.shutdown(wait=True)
        self._control_pool.shutdown(wait=True)

    def lost_sockets(self) -> list[Path]:
        """Return the paths at which somebody has removed or replaced this server's socket."""
        return [server.path for server in tuple(self._sockets) if not server.is_reachable()]

    def remove_sockets(self) -> None:
        """Remove the sockets without stopping, for a process that is about to end at once."""
        for server in self._sockets:
            server.remove_file()
