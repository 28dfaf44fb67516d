"""A whole cluster of one run: the control plane, and benches for drivers and their nodes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from e2e.cluster.api import Api
from e2e.cluster.bench import Bench
from e2e.cluster.control_plane import ControlPlane, control_plane
from e2e.cluster.processes import Processes
from e2e.cluster.programs import Programs
from e2e.cluster.run_folder import RunFolder
from e2e.cluster.sidecars import allow_sidecars


class Cluster:
    """A control plane that runs."""

    def __init__(
        self, folder: RunFolder, programs: Programs, processes: Processes, plane: ControlPlane
    ) -> None:
        self.programs = programs
        self.processes = processes
        self._folder = folder
        self._plane = plane
        self._numbers = itertools.count(1)
        plane.start_etcd()
        self.api: Api = plane.start_api_server()
        plane.start_controllers()
        plane.start_scheduler()
        self._sidecars = allow_sidecars(self.api, plane.entrance, folder.path)

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self._plane.kubeconfig

    @contextmanager
    def bench(
        self,
        name: str | None = None,
        *,
        driver_name: str | None = None,
        programs: Programs | None = None,
    ) -> Iterator[Bench]:
        """Make a bench while the block runs; its processes and objects go when it ends.

        `programs` are those of its nodes and sidecars, the cluster's if nothing is said.
        """
        name = name or f"mock-{next(self._numbers)}"
        bench = Bench(
            name,
            folder=self._folder.path / name,
            logs=self._folder.logs / name,
            api=self.api,
            entrance=self._plane.entrance,
            sidecar_kubeconfigs=self._sidecars,
            programs=programs or self.programs,
            driver_name=driver_name,
        )
        try:
            yield bench
        finally:
            bench.stop()
        bench.namespace.clean_up()


@contextmanager
def running_cluster(folder: RunFolder, programs: Programs) -> Iterator[Cluster]:
    """Start a cluster, and stop it when the block ends; raises EndedEarly if it does not start."""
    processes = Processes(folder.logs)
    with ExitStack() as stack:
        stack.callback(processes.stop)
        plane = stack.enter_context(control_plane(folder.path, programs, processes))
        yield Cluster(folder, programs, processes, plane)
