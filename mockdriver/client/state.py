"""The whole of a running mock: scenario, reset, snapshots."""

from __future__ import annotations

from typing import Literal

from mockdriver.client.connection import Connection
from mockdriver.control.v1 import state_pb2, state_pb2_grpc

Part = Literal["cloud", "driver", "faults", "journal", "clock"]
"""What can be reset apart from the rest."""


class State:
    """Reads, loads, resets and keeps the state of a mock."""

    def __init__(self, connection: Connection) -> None:
        self._call = connection.call
        self._stub = state_pb2_grpc.StateStub(connection.channel)

    def server(self) -> state_pb2.Server:
        """Return what runs there: version, driver name, endpoints, capabilities, scenario."""
        return self._call(self._stub.GetServer, state_pb2.GetServerRequest())

    def scenario(self) -> state_pb2.Scenario:
        """Return the scenario that was loaded last, as its file said it."""
        return self._call(self._stub.GetScenario, state_pb2.GetScenarioRequest())

    def load(self, *, name: str = "", yaml: str = "") -> state_pb2.LoadScenarioResponse:
        """Load a scenario in the place of everything: a shipped one's name, or a file's text.

        Raises ControlError with all mistakes of a scenario that is not right; then nothing changes.
        """
        request = state_pb2.LoadScenarioRequest(name=name, yaml=yaml)
        return self._call(self._stub.LoadScenario, request)

    def export(self, name: str = "") -> state_pb2.Scenario:
        """Return the present state as a scenario that can be loaded again.

        Without a name it has that of the loaded one.
        """
        request = state_pb2.ExportScenarioRequest(name=name)
        return self._call(self._stub.ExportScenario, request)

    def reset(self, *parts: Part) -> None:
        """Go back to the loaded scenario, in the parts that are named; in all without any."""
        self._call(self._stub.Reset, state_pb2.ResetRequest(parts=parts))

    def snapshot(self, name: str) -> state_pb2.Snapshot:
        """Keep the present state under a name; one of that name is replaced."""
        return self._call(self._stub.SaveSnapshot, state_pb2.SaveSnapshotRequest(name=name))

    def restore(self, name: str) -> state_pb2.Snapshot:
        """Go back to a snapshot."""
        request = state_pb2.RestoreSnapshotRequest(name=name)
        return self._call(self._stub.RestoreSnapshot, request)

    def snapshots(self) -> list[state_pb2.Snapshot]:
        """Return all snapshots."""
        answer = self._call(self._stub.ListSnapshots, state_pb2.ListSnapshotsRequest())
        return list(answer.snapshots)

    def delete_snapshot(self, name: str) -> None:
        """Forget a snapshot."""
        self._call(self._stub.DeleteSnapshot, state_pb2.DeleteSnapshotRequest(name=name))

    def restart_driver(self) -> None:
        """Start the driver again over the same cloud.

        Its caches are lost, and calls in flight end with UNAVAILABLE.
        """
        self._call(self._stub.RestartDriver, state_pb2.RestartDriverRequest())
