"""The sidecars of a CSI driver, each in its service account with just the rights that it needs."""

from __future__ import annotations

from pathlib import Path

from e2e.cluster import users
from e2e.cluster.api import Api
from e2e.cluster.processes import Process, Processes
from e2e.cluster.programs import Programs

FLAGS: dict[str, tuple[str, ...]] = {
    "csi-attacher": (),
    "csi-provisioner": ("--feature-gates=Topology=true",),
}
"""The sidecars that there are, with the flags that they need beside those of all."""


class Sidecar:
    """One sidecar on the socket of one driver. It can be stopped, killed and started again."""

    def __init__(
        self,
        name: str,
        *,
        socket: Path,
        kubeconfig: Path,
        programs: Programs,
        processes: Processes,
    ) -> None:
        self.name = name
        self._command = programs.command(
            name, f"--csi-address={socket}", f"--kubeconfig={kubeconfig}", "--v=4", *FLAGS[name]
        )
        self._processes = processes
        self._process: Process | None = None

    @property
    def process(self) -> Process:
        """The process that runs, or ran last."""
        assert self._process is not None, "not started yet"
        return self._process

    def start(self) -> None:
        """Start it; nothing is waited for."""
        self._process = self._processes.start(self.name, self._command)

    def start_again_after_its_end(self) -> None:
        """Wait until it ends, as it does when it loses its driver, and start it again.

        A kubelet does so with the container of a sidecar.
        """
        self.process.wait_for_its_end()
        self.start()

    def stop(self) -> int:
        """Stop it by SIGTERM, and return its exit code."""
        return self.process.stop()

    def kill(self) -> None:
        """Kill it."""
        self.process.kill()


def allow_sidecars(api: Api, entrance: users.Entrance, folder: Path) -> dict[str, Path]:
    """Give every sidecar its rights in a new cluster; return the kubeconfig of each."""
    kubeconfigs = {}
    for name in FLAGS:
        for manifest in users.sidecar_role(name):
            api.create(manifest)
        user = users.service_account(users.SIDECAR_NAMESPACE, name)
        kubeconfigs[name] = entrance.write_kubeconfig(folder / f"{name}.kubeconfig", user)
    return kubeconfigs
