"""The State service of the control API: scenario, snapshots, driver, and the server itself."""

from __future__ import annotations

import mockdriver
from mockdriver.cloud import Caller
from mockdriver.control.checking import checked_value, required
from mockdriver.control.errors import InvalidRequest, ScenarioRefused
from mockdriver.control.export import export
from mockdriver.control.rpc_group import RpcGroup
from mockdriver.control.times import timestamp
from mockdriver.control.v1 import state_pb2
from mockdriver.control.world import WorldSnapshot
from mockdriver.scenario import shipped
from mockdriver.scenario.head_model import NAME
from mockdriver.scenario.kinds import ID
from mockdriver.scenario.load import LoadedScenario, load_shipped, loads
from mockdriver.scenario.mistakes import ScenarioMistakes, unknown_name
from mockdriver.scenario.source import decode


class StateService(RpcGroup):
    """The whole of what runs here."""

    def GetServer(self, request: state_pb2.GetServerRequest, caller: Caller) -> state_pb2.Server:
        """Return what runs here, and where it listens."""
        world = self._world
        config, endpoints = world.driver.config, world.endpoints
        return state_pb2.Server(
            version=mockdriver.__version__,
            driver_name=config.name,
            endpoint=endpoints.endpoint,
            node_endpoints=endpoints.nodes,
            capabilities=map(str, config.capabilities),
            scenario=world.loaded.name,
            node_id=endpoints.node_id or "",
            control_endpoint=endpoints.control,
        )

    def GetScenario(
        self, request: state_pb2.GetScenarioRequest, caller: Caller
    ) -> state_pb2.Scenario:
        """Return the scenario that was loaded last, as its file said it."""
        loaded = self._world.loaded
        return state_pb2.Scenario(name=loaded.name, yaml=loaded.text)

    def LoadScenario(
        self, request: state_pb2.LoadScenarioRequest, caller: Caller
    ) -> state_pb2.LoadScenarioResponse:
        """Let a shipped scenario, or one that is given as text, take the place of everything."""
        if bool(request.name) == bool(request.yaml):
            given = "both are given" if request.name else "neither is given"
            raise InvalidRequest([("name", f"{given}, exactly one of name and yaml is needed")])
        loaded = _loaded(request)
        self._world.load(loaded, caller)
        return state_pb2.LoadScenarioResponse(name=loaded.name, warnings=self._warnings(loaded))

    def ExportScenario(
        self, request: state_pb2.ExportScenarioRequest, caller: Caller
    ) -> state_pb2.Scenario:
        """Return the present state as a scenario file."""
        name = checked_value(NAME, request.name or self._world.loaded.name, "name")
        return state_pb2.Scenario(name=name, yaml=export(self._world.present(), name))

    def Reset(self, request: state_pb2.ResetRequest, caller: Caller) -> state_pb2.ResetResponse:
        """Go back to the loaded scenario, by part if any are named."""
        self._world.reset(request.parts, caller)
        return state_pb2.ResetResponse()

    def SaveSnapshot(
        self, request: state_pb2.SaveSnapshotRequest, caller: Caller
    ) -> state_pb2.Snapshot:
        """Keep the present state under a name."""
        required(request, "name")
        checked_value(ID, request.name, "name")
        return self._snapshot(request.name, self._world.save(request.name))

    def RestoreSnapshot(
        self, request: state_pb2.RestoreSnapshotRequest, caller: Caller
    ) -> state_pb2.Snapshot:
        """Put a kept state in the place of the present one."""
        required(request, "name")
        return self._snapshot(request.name, self._world.restore(request.name, caller))

    def ListSnapshots(
        self, request: state_pb2.ListSnapshotsRequest, caller: Caller
    ) -> state_pb2.ListSnapshotsResponse:
        """Return what is kept, oldest first."""
        kept = self._world.snapshots().items()
        return state_pb2.ListSnapshotsResponse(
            snapshots=[self._snapshot(name, snapshot) for name, snapshot in kept]
        )

    def DeleteSnapshot(
        self, request: state_pb2.DeleteSnapshotRequest, caller: Caller
    ) -> state_pb2.DeleteSnapshotResponse:
        """Forget a kept state."""
        required(request, "name")
        self._world.delete(request.name)
        return state_pb2.DeleteSnapshotResponse()

    def RestartDriver(
        self, request: state_pb2.RestartDriverRequest, caller: Caller
    ) -> state_pb2.RestartDriverResponse:
        """Stop the driver and start another one over the same cloud."""
        self._world.restart_driver(caller)
        return state_pb2.RestartDriverResponse()

    def _snapshot(self, name: str, snapshot: WorldSnapshot) -> state_pb2.Snapshot:
        taken = timestamp(self._world.runtime.epoch_seconds + snapshot.taken_seconds)
        return state_pb2.Snapshot(name=name, taken=taken)

    def _warnings(self, loaded: LoadedScenario) -> list[str]:
        """Return what is allowed but perhaps not meant; the nodes of sockets stay what they are."""
        config, endpoints = self._world.driver.config, self._world.endpoints
        known = {instance.id for instance in loaded.plan.instances}
        nodes = [endpoints.node_id, *endpoints.nodes]
        return [
            *map(str, loaded.warnings),
            *config.capabilities.broken_invariants(),
            *(
                f"the scenario has no instance {node_id!r}, whose Node service is served"
                for node_id in dict.fromkeys(nodes)
                if node_id is not None and node_id not in known
            ),
        ]


def _loaded(request: state_pb2.LoadScenarioRequest) -> LoadedScenario:
    """Return the scenario that is meant; a name is never taken for that of a file."""
    try:
        if not request.name:
            text = decode(request.yaml.encode(), "scenario")
            return loads(text, "scenario", story=False)
        if request.name not in (known := shipped.names()):
            raise InvalidRequest([("name", unknown_name("shipped scenario", request.name, known))])
        return load_shipped(request.name, story=False)
    except ScenarioMistakes as mistakes:
        raise ScenarioRefused(mistakes) from None
