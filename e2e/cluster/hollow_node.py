"""A node: the kubelet's own code, with a container runtime that lives in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from e2e.cluster import users
from e2e.cluster.api import Api
from e2e.cluster.processes import Process, Processes
from e2e.cluster.programs import Programs
from e2e.cluster.waiting import wait_until
from e2e.objects.kinds import CSI_NODE, NODE, Json


@dataclass(frozen=True)
class Machine:
    """What a node is made of: `name` in Kubernetes, `instance` in the cloud, its own folder."""

    name: str
    instance: str
    folder: Path
    labels: Mapping[str, str]


class HollowNode:
    """A kubelet that runs. Its pods' containers never start; all else of it is real."""

    def __init__(
        self,
        machine: Machine,
        *,
        api: Api,
        entrance: users.Entrance,
        programs: Programs,
        processes: Processes,
    ) -> None:
        self.name = machine.name
        self.instance = machine.instance
        self.folder = machine.folder
        self._machine = machine
        self._api = api
        self._programs = programs
        self._processes = processes
        self._process: Process | None = None
        machine.folder.mkdir(parents=True, exist_ok=True)
        self._kubeconfig = entrance.write_kubeconfig(
            machine.folder / "kubeconfig", users.kubelet(machine.name)
        )

    def start(self) -> None:
        """Start the kubelet; nothing is waited for."""
        labels = ",".join(f"{key}={value}" for key, value in self._machine.labels.items())
        self._process = self._processes.start(
            self.name,
            self._programs.command(
                "hollownode",
                f"-name={self.name}",
                f"-kubeconfig={self._kubeconfig}",
                f"-root-dir={self.folder}",
                f"-labels={labels}",
                "-v=3",
            ),
        )

    def kill(self) -> None:
        """Kill the kubelet; it can be started again, and then knows of no mount."""
        self.process.kill()

    @property
    def process(self) -> Process:
        """The process that runs, or ran last."""
        assert self._process is not None, "not started yet"
        return self._process

    def wait_until_ready(self) -> None:
        """Return when the node is Ready; raises EndedEarly if the kubelet ends instead."""

        def is_ready() -> bool:
            self.process.require_running()
            return _is_ready(self._api.find(NODE, self.name))

        wait_until(is_ready, f"node {self.name} is Ready")

    def wait_until_registered(self, driver: str) -> Json:
        """Return what CSINode says of a driver, as soon as it does."""
        return wait_until(lambda: self.registered(driver), f"{driver} in CSINode {self.name}")

    def registered(self, driver: str) -> Json | None:
        """Return what CSINode says of a driver now, if anything."""
        found = self._api.find(CSI_NODE, self.name)
        drivers = (found or {}).get("spec", {}).get("drivers") or []
        return next((entry for entry in drivers if entry["name"] == driver), None)

    def allocatable_count(self, driver: str) -> int | None:
        """Return the limit in CSINode; nothing where there is none."""
        entry = self.registered(driver) or {}
        count: int | None = entry.get("allocatable", {}).get("count")
        return count

    def labels(self) -> dict[str, str]:
        """Return the node's labels."""
        labels: dict[str, str] = self._api.get(NODE, self.name)["metadata"]["labels"]
        return labels


def _is_ready(node: Json | None) -> bool:
    conditions = (node or {}).get("status", {}).get("conditions", [])
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)
