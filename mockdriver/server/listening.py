"""Which sockets a server listens on, with what on each."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from mockdriver.driver.driver import Role
from mockdriver.runtime import Runtime
from mockdriver.server.mock_server import MockServer
from mockdriver.server.node_sockets import Index, make_folder, socket_paths
from mockdriver.server.sockets import DEFAULT_ENDPOINT, parse_endpoint

LOOK_SECONDS = 1.0
"""The pause between two looks at whether the sockets are still there."""

CONTROL_OFF = "off"
"""Says in the place of an endpoint that the control API is not served."""


@dataclass(frozen=True)
class ListeningPlan:
    """The endpoint with its role and node, and the sockets of other nodes in a folder.

    `control` is where the control API is: at the endpoint, on a socket of its own, or nowhere.
    With `follow` the endpoint's node is the first one of whatever scenario is loaded.
    """

    endpoint: Path | None
    role: Role
    node_id: str | None
    node_sockets: Mapping[str, Path] = field(default_factory=dict)
    folder: Path | None = None
    control: Path | None = None
    follow: bool = False

    def __str__(self) -> str:
        parts = []
        if self.endpoint is not None:
            what = (
                "controller" if self.role is Role.CONTROLLER else f"node {self.node_id or 'none'}"
            )
            parts.append(f"{what}, listening on unix://{self.endpoint}")
        if self.folder is not None:
            count = len(self.node_sockets)
            nodes = "1 node" if count == 1 else f"{count} nodes"
            parts.append(f"{nodes} in {self.folder}, see index.json")
        if self.control is not None and self.control != self.endpoint:
            parts.append(f"control API on unix://{self.control}")
        return ", ".join(parts)


def plan_listening(
    *,
    endpoint: str | None,
    role: Role,
    node_id: str | None,
    node_socket_dir: Path | None,
    node_ids: Sequence[str],
    control_endpoint: str | None = None,
    follow: bool = False,
) -> ListeningPlan:
    """Return the plan for what the command line says; raises EndpointMistake.

    Without an endpoint there is the default one, unless only nodes are served and have a folder.
    The control API is at the endpoint unless `control_endpoint` says where else, or `off`. With
    `follow` the node is that of whatever scenario is loaded.
    """
    sockets: Mapping[str, Path] = {}
    if node_socket_dir is not None:
        node_socket_dir = node_socket_dir.absolute()
        sockets = socket_paths(node_socket_dir, node_ids)
    path = None
    if endpoint is not None or role is not Role.NODE or node_socket_dir is None:
        path = parse_endpoint(endpoint if endpoint is not None else DEFAULT_ENDPOINT)
    control = path
    if control_endpoint is not None:
        control = None if control_endpoint == CONTROL_OFF else parse_endpoint(control_endpoint)
    return ListeningPlan(path, role, node_id, sockets, node_socket_dir, control, follow)


class Announcement(Protocol):
    """Tells others of the sockets: made when they answer, taken back before they go."""

    def open(self) -> None:
        """Make what others find; raises EndpointMistake."""

    def look(self) -> None:
        """Make again what somebody has taken away."""

    def close(self) -> None:
        """Take back what was made."""

    def remove_files(self) -> None:
        """Remove what was made, for a process that ends at once."""


class Listening:
    """A server that listens as planned, from `open` to `close`."""

    def __init__(
        self,
        server: MockServer,
        plan: ListeningPlan,
        runtime: Runtime,
        announcements: Sequence[Announcement] = (),
    ) -> None:
        """`announcements` are made in their order, and taken back in the opposite one."""
        self._server = server
        self._plan = plan
        self._runtime = runtime
        self._announcements = tuple(announcements)
        self._index: Index | None = None
        self._closing = runtime.event()
        self._lock = runtime.lock()

    def open(self) -> None:
        """Open all sockets; raises EndpointMistake, NotReady.

        Returns when Probe answers on each. The index is written when all do, the health service
        says so then, and what is announced is announced then: who reads of a socket can connect.
        """
        plan = self._plan
        told = self._server.endpoints
        told.endpoint, told.control = _endpoint(plan.endpoint), _endpoint(plan.control)
        if plan.endpoint is not None and plan.role is not Role.CONTROLLER:
            told.node_id = plan.node_id
        told.nodes.update({id: _endpoint(path) for id, path in plan.node_sockets.items()})
        if plan.endpoint is not None:
            self._server.listen(
                plan.endpoint,
                plan.node_id,
                plan.role,
                control=plan.control == plan.endpoint,
                follow=plan.follow,
            )
        if plan.control is not None and plan.control != plan.endpoint:
            self._server.listen_for_control(plan.control)
        if plan.folder is not None:
            make_folder(plan.folder)
            for node_id, path in plan.node_sockets.items():
                self._server.listen(path, node_id, Role.NODE, control=False)
            self._index = Index(plan.folder, plan.node_sockets)
        self._server.health.serve()
        for announcement in self._announcements:
            announcement.open()

    def watch(self, on_loss: Callable[[list[Path]], None]) -> None:
        """Call `on_loss` once, on another thread, when somebody takes a socket away.

        No client could find the server any more, and it would live on unseen. What is announced
        is looked after besides.
        """

        def look_again_and_again() -> None:
            while not self._runtime.wait(self._closing, self._runtime.now() + LOOK_SECONDS):
                # Under the lock: what close() removes is not lost.
                with self._lock:
                    lost = [] if self._closing.is_set() else self._server.lost_sockets()
                    if lost:
                        on_loss(lost)
                        return
                    if not self._closing.is_set():
                        for announcement in self._announcements:
                            announcement.look()

        self._runtime.start(look_again_and_again, "socket-watch")

    def close(self, grace_seconds: float) -> None:
        """Take back what was announced, take no new calls, let those in flight finish, clean up."""
        with self._lock:
            self._closing.set()
        for announcement in reversed(self._announcements):
            announcement.close()
        self.remove_index()
        self._server.stop(grace_seconds)

    def remove_files(self) -> None:
        """Remove sockets and index without stopping, for a process that ends at once."""
        self._closing.set()
        for announcement in reversed(self._announcements):
            announcement.remove_files()
        self.remove_index()
        self._server.remove_sockets()

    def remove_index(self) -> None:
        """Remove the index, if it is this server's."""
        if self._index is not None:
            self._index.remove()
            self._index = None


def _endpoint(path: Path | None) -> str:
    return "" if path is None else f"unix://{os.fsencode(path).decode(errors='replace')}"
