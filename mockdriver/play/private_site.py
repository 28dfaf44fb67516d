"""A server of the story's own, in this process, on a virtual clock."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from mockdriver.client import ControlClient
from mockdriver.client.endpoint import temporary_place
from mockdriver.co.csi_client import CsiClient
from mockdriver.journal.entry import RUNNING
from mockdriver.runtime import VirtualRuntime
from mockdriver.scenario.load import LoadedScenario
from mockdriver.server.compose import make_cloud, make_server

_GRACE_SECONDS = 5.0

_DEADLINE_SECONDS = 60.0
"""Of the control API: a machine that is busy takes its time, and nothing else is to blame."""

_LONGEST_FOLDER_BYTES = 64
"""A socket's path has 107 bytes at most, and 33 or so of them are ours."""


class PrivateSite:
    """A scenario's server on a virtual clock, with its sockets in a temporary folder."""

    is_fresh = True

    def __init__(self, loaded: LoadedScenario) -> None:
        self.runtime = VirtualRuntime()
        self._call_ended = self.runtime.event()
        self._server = make_server(
            loaded,
            make_cloud(loaded, self.runtime),
            self.runtime,
            on_call=lambda entry: self._call_ended.set(),
        )
        self._folder = tempfile.TemporaryDirectory(
            prefix="mockdriver-", dir=temporary_place(_LONGEST_FOLDER_BYTES)
        )
        self._sockets: dict[str | None, Path] = {}
        self.control = ControlClient(self._socket(None), deadline_seconds=_DEADLINE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.control.close()
        self._server.stop(_GRACE_SECONDS)
        self._folder.cleanup()

    def controller(self) -> CsiClient:
        """Return a connection to the controller."""
        return CsiClient(self._socket(None))

    def node(self, node_id: str) -> CsiClient:
        """Return a connection to a node; its socket is there from the first time on."""
        return CsiClient(self._socket(node_id))

    def settle(self, in_flight: Callable[[], int]) -> None:
        """Wait until all that is under way waits or has ended; the clock stands still."""
        self.runtime.settle()

    def wait_until_in_flight(self, most: int) -> None:
        """Wait until the driver has ended the calls that the CO gave up.

        A moment later it does so anyway. Until then the next step could meet them: its calls would
        be ABORTED, or the clock, which counts them, would jump too early.
        """
        # The story goes on working: nobody waits for the clock here.
        with self.runtime.working():
            while True:
                self._call_ended.clear()
                entries = self._server.journal.entries()
                if sum(entry.code == RUNNING for entry in entries) <= most:
                    return
                self.runtime.wait(self._call_ended)

    def _socket(self, node_id: str | None) -> Path:
        path = self._sockets.get(node_id)
        if path is None:
            path = Path(self._folder.name) / f"{len(self._sockets)}.sock"
            self._server.listen(path, node_id)
            self._sockets[node_id] = path
        return path
