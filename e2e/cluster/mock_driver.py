"""mockdriver as a process beside the cluster: a controller, and a node plugin for each node."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from e2e.cluster.calls import Calls
from e2e.cluster.processes import Process, Processes
from e2e.cluster.waiting import wait_until
from mockdriver.client import ControlClient
from mockdriver.server.registration_plan import path_component
from mockdriver.testing.process import environment_without_settings

_READY = " is ready: "


class MockDriver:
    """One driver with a name of its own. It can be stopped, killed and started again."""

    def __init__(
        self,
        *,
        name: str,
        scenario: Path | str,
        flags: Sequence[str],
        folder: Path,
        processes: Processes,
    ) -> None:
        self.name = name
        self.socket = folder / "csi.sock"
        self._folder = folder
        self._flags = ["--scenario", str(scenario), *flags]
        self._processes = processes
        self._process: Process | None = None
        self.log = processes.logs / "mockdriver.log"
        self.calls = Calls(self.log)
        self._control: ControlClient | None = None

    def kubelet_folder(self, instance: str) -> Path:
        """Return the root folder of the kubelet that this driver registers an instance with."""
        return self._folder / "k" / path_component(instance)

    @property
    def process(self) -> Process:
        """The process that runs, or ran last."""
        assert self._process is not None, "not started yet"
        return self._process

    @property
    def control(self) -> ControlClient:
        """A client of the process that runs: it changes the cloud and adds faults.

        Its record of calls begins with that process; `calls` has those of all.
        """
        if self._control is None:
            self._control = ControlClient(self.socket)
        return self._control

    def close_control(self) -> None:
        """Close the client if there is one; whoever wants one later gets a new one."""
        if self._control is not None:
            self._control.close()
            self._control = None

    def start(self) -> None:
        """Start it and wait until it is ready; raises EndedEarly if it ends instead."""
        seen = self.log.stat().st_size if self.log.exists() else 0
        process = self._processes.start(
            "mockdriver", self._command(), environment_without_settings()
        )
        self._process = process

        def is_ready() -> bool:
            process.require_running()
            return _READY in self.log.read_bytes()[seen:].decode("utf-8", "replace")

        wait_until(is_ready, "mockdriver's ready line")

    def stop(self) -> int:
        """Stop it by SIGTERM, and return its exit code."""
        self.close_control()
        return self.process.stop()

    def kill(self) -> None:
        """Kill it: calls in flight end nowhere, sockets stay."""
        self.close_control()
        self.process.kill()

    def _command(self) -> list[str]:
        return [
            *(sys.executable, "-m", "mockdriver", "serve"),
            *("--driver-name", self.name),
            *("--endpoint", str(self.socket), "--role", "controller"),
            *("--node-socket-dir", str(self._folder / "nodes")),
            "--kubelet-registration-dir",
            str(self._folder / "k" / "{node}" / "plugins_registry"),
            *("--log-format", "json"),
            *("--grace-seconds", "1"),  # calls that a test holds would not finish anyway
            *self._flags,
        ]
