"""A bench: one driver under test, with nodes, sidecars, objects and names of its own.

Benches share the control plane and nothing else, so that tests cannot disturb each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from e2e.cluster import users
from e2e.cluster.api import Api
from e2e.cluster.hollow_node import HollowNode, Machine
from e2e.cluster.mock_driver import MockDriver
from e2e.cluster.namespace import BENCH_LABEL, Namespace
from e2e.cluster.processes import Processes
from e2e.cluster.programs import Programs
from e2e.cluster.sidecars import Sidecar

DOMAIN = "csi.example.com"


class Bench:
    """What has been started for one driver. `name` is also that of the namespace."""

    def __init__(
        self,
        name: str,
        *,
        folder: Path,
        logs: Path,
        api: Api,
        entrance: users.Entrance,
        sidecar_kubeconfigs: dict[str, Path],
        programs: Programs,
        driver_name: str | None = None,
    ) -> None:
        self.name = name
        self.driver_name = driver_name or f"{name}.{DOMAIN}"
        self.folder = folder
        self.processes = Processes(logs)
        self.namespace = Namespace(api, name, self.driver_name)
        self._api = api
        self._entrance = entrance
        self._sidecar_kubeconfigs = sidecar_kubeconfigs
        self._programs = programs
        self._driver: MockDriver | None = None
        folder.mkdir()

    @property
    def has_driver(self) -> bool:
        """Whether a driver was started, and has a log."""
        return self._driver is not None and self._driver.log.exists()

    @property
    def driver(self) -> MockDriver:
        """The driver; it has been started."""
        assert self._driver is not None, "no driver was started"
        return self._driver

    def start_driver(self, scenario: Path | str, flags: Sequence[str] = ()) -> MockDriver:
        """Start mockdriver on a scenario: a file, or the name of a shipped one."""
        self._driver = MockDriver(
            name=self.driver_name,
            scenario=scenario,
            flags=flags,
            folder=self.folder,
            processes=self.processes,
        )
        self._driver.start()
        return self._driver

    def start_sidecar(self, name: str) -> Sidecar:
        """Start a sidecar on the driver's socket."""
        sidecar = Sidecar(
            name,
            socket=self.driver.socket,
            kubeconfig=self._sidecar_kubeconfigs[name],
            programs=self._programs,
            processes=self.processes,
        )
        sidecar.start()
        return sidecar

    def start_nodes(self, instances: Sequence[str]) -> list[HollowNode]:
        """Start a node for each instance of the scenario; return them when all are registered."""
        nodes = [self._node(instance) for instance in instances]
        for node in nodes:
            node.start()
        for node in nodes:
            node.wait_until_ready()
            node.wait_until_registered(self.driver_name)
        return nodes

    def stop(self) -> None:
        """Stop its processes, newest first."""
        if self._driver is not None:
            self._driver.close_control()
        self.processes.stop()

    def _node(self, instance: str) -> HollowNode:
        # The name must not be the instance's id: who mixes them up is to be found out.
        letters = "".join(c if c.isalnum() and c.isascii() else "-" for c in instance.lower())
        machine = Machine(
            name=f"{self.name}-on-{letters}".rstrip("-"),
            instance=instance,
            folder=self.driver.kubelet_folder(instance),
            labels={BENCH_LABEL: self.name},
        )
        return HollowNode(
            machine,
            api=self._api,
            entrance=self._entrance,
            programs=self._programs,
            processes=self.processes,
        )
