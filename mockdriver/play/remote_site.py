"""A server that runs anywhere: the story is played against it over its sockets."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from mockdriver.client import ControlClient
from mockdriver.client.endpoint import socket_path
from mockdriver.co.csi_client import CsiClient
from mockdriver.control.v1 import state_pb2
from mockdriver.play.named_node import NamedNode
from mockdriver.play.site import NotServed
from mockdriver.runtime import WallRuntime
from mockdriver.scenario.load import LoadedScenario

_DEADLINE_SECONDS = 60.0
"""Of the control API: a large scenario takes a while to load."""

_PAUSE_SECONDS = 0.02
"""Between two looks at which calls are in flight there."""

_PATIENCE_SECONDS = 5.0
"""Other clients may have calls in flight there, for as long as they like."""


class RemoteSite:
    """The server at an endpoint. The story's scenario is loaded into it, unless it keeps its state.

    Time passes there as its own clock says, a wall's for one; the CO's pauses are real.
    """

    def __init__(self, endpoint: str, loaded: LoadedScenario, *, keep_state: bool) -> None:
        """Take where the control API is; raises EndpointMistake."""
        self.runtime = WallRuntime()
        self.control = ControlClient(endpoint, deadline_seconds=_DEADLINE_SECONDS)
        self._loaded = loaded
        self.is_fresh = not keep_state
        self._server = state_pb2.Server()

    def __enter__(self) -> Self:
        """Load the scenario; raises ControlError."""
        with ExitStack() as stack:
            stack.enter_context(self.control)
            if self.is_fresh:
                self.control.state.load(yaml=self._loaded.text)
            self._server = self.control.state.server()
            stack.pop_all()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.control.close()

    def controller(self) -> CsiClient:
        """Return a connection to the Controller service; raises NotServed."""
        if not self._server.endpoint:
            raise NotServed(f"the server at {self.control.endpoint} has no controller's socket")
        return CsiClient(socket_path(self._server.endpoint))

    def node(self, node_id: str) -> CsiClient:
        """Return a connection to the Node service of a node; raises NotServed.

        A node without a socket of its own is asked at another one's, by its name.
        """
        server = self._server
        own = server.node_endpoints.get(node_id)
        if own is not None:
            return CsiClient(socket_path(own))
        others = [server.endpoint] if server.node_id else list(server.node_endpoints.values())
        if not others:
            raise NotServed(f"the server at {self.control.endpoint} serves no node")
        return NamedNode(socket_path(others[0]), node_id)

    def settle(self, in_flight: Callable[[], int]) -> None:
        """Wait until the story's calls have arrived; there is no telling how far they have come."""
        self._wait(lambda: self._running() >= in_flight())

    def wait_until_in_flight(self, most: int) -> None:
        """Wait until so many calls are in flight at most, or for a few seconds."""
        self._wait(lambda: self._running() <= most)

    def _running(self) -> int:
        return self.control.calls.count(code="RUNNING")

    def _wait(self, is_so: Callable[[], bool]) -> None:
        never = self.runtime.event()
        until = self.runtime.now() + _PATIENCE_SECONDS
        while not is_so() and self.runtime.now() < until:
            self.runtime.wait(never, self.runtime.now() + _PAUSE_SECONDS)
