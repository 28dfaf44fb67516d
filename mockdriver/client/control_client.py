"""The client of the whole control API."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

import grpc

from mockdriver.client.calls import Calls
from mockdriver.client.clock import Clock
from mockdriver.client.cloud import Cloud
from mockdriver.client.connection import DEADLINE_SECONDS, Connection
from mockdriver.client.faults import Faults
from mockdriver.client.state import State


class ControlClient:
    """Steers a running mock; close it, or use it in a `with` block.

    Connecting is left to the first call. Each method is one call of the API or several, has a
    deadline, and raises ControlError. Threads may share a client.
    """

    def __init__(self, endpoint: str | Path, *, deadline_seconds: float = DEADLINE_SECONDS) -> None:
        """Take the endpoint of the control API, by default that of CSI.

        `deadline_seconds` is how long a call may take, beyond what it is told to wait. Raises
        EndpointMistake.
        """
        self._connection = Connection(endpoint, deadline_seconds)
        self.cloud = Cloud(self._connection)
        """What there is in the cloud, and changes out of band."""
        self.faults = Faults(self._connection)
        """What goes wrong on purpose."""
        self.calls = Calls(self._connection)
        """What the driver was asked, and what it answered."""
        self.state = State(self._connection)
        """Scenario, reset, snapshots, the server itself."""
        self.clock = Clock(self._connection)
        """The clock that transitions, quotas and delays go by."""

    @property
    def endpoint(self) -> str:
        """Where it is connected to, as in `unix:///run/csi.sock`."""
        return self._connection.endpoint

    @property
    def channel(self) -> grpc.Channel:
        """The connection, for stubs of one's own."""
        return self._connection.channel

    def close(self) -> None:
        """Close the connection; calls in flight end with CANCELLED."""
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<ControlClient {self.endpoint}>"
