"""Fixtures: a cluster for the session, and for each test a driver with nodes of its own.

    SCENARIO = '''
    scenario: two-slots
    cloud:
      instance_types: {t: {slots: 2}}
      instances: [{id: i-1, type: t}]
      disks: [{id: vol-1}]
    '''

    @pytest.mark.scenario(SCENARIO)
    def test_a_pod_runs(driver, attacher, node, namespace):
        node("i-1")
        namespace.claim_disk("vol-1")
        namespace.start_pod("pod", claims=["vol-1"])
        namespace.wait_until_ready("pod")

The mark takes the text of a scenario, and further options of `mockdriver serve`. It may stand at a
module or class; the nearest one counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

import pytest

from e2e.cluster.bench import Bench
from e2e.cluster.cluster import Cluster, running_cluster
from e2e.cluster.hollow_node import HollowNode
from e2e.cluster.mock_driver import MockDriver
from e2e.cluster.namespace import Namespace
from e2e.cluster.programs import Programs
from e2e.cluster.run_folder import RunFolder, run_folder
from e2e.cluster.sidecars import Sidecar
from e2e.reporting import LOGS, RUN


class StartNode(Protocol):
    """Starts a node on an instance of the scenario; it is registered when this returns."""

    def __call__(self, instance: str) -> HollowNode: ...


class StartNodes(Protocol):
    """Starts several nodes at once."""

    def __call__(self, *instances: str) -> list[HollowNode]: ...


@pytest.fixture(scope="session")
def run(pytestconfig: pytest.Config) -> Iterator[RunFolder]:
    """The folder of this run."""
    with run_folder() as folder:
        pytestconfig.stash[RUN] = folder
        yield folder
        kept = folder.move_logs()
        if kept is not None:
            pytestconfig.stash[LOGS] = kept


@pytest.fixture(scope="session")
def cluster(run: RunFolder) -> Iterator[Cluster]:
    """A control plane: etcd, API server, controllers, scheduler."""
    with running_cluster(run, Programs.from_environment()) as cluster:
        yield cluster


@pytest.fixture
def bench(cluster: Cluster) -> Iterator[Bench]:
    """What the test's driver, sidecars, nodes and objects have in common; all go with it."""
    with cluster.bench() as bench:
        yield bench


@pytest.fixture
def driver(bench: Bench, request: pytest.FixtureRequest) -> MockDriver:
    """A mockdriver on the scenario of the test's mark, with a name of its own."""
    mark = request.node.get_closest_marker("scenario")
    if mark is None:
        raise pytest.UsageError(f"{request.node.nodeid}: `driver` needs a mark `scenario`")
    text, *flags = mark.args
    file = bench.folder / "scenario.yaml"
    file.write_text(text, encoding="utf-8")
    return bench.start_driver(file, flags)


@pytest.fixture
def attacher(bench: Bench, driver: MockDriver) -> Sidecar:
    """csi-attacher on the driver's socket."""
    return bench.start_sidecar("csi-attacher")


@pytest.fixture
def provisioner(bench: Bench, driver: MockDriver) -> Sidecar:
    """csi-provisioner on the driver's socket."""
    return bench.start_sidecar("csi-provisioner")


@pytest.fixture
def nodes(bench: Bench, driver: MockDriver) -> StartNodes:
    """Nodes for instances of the scenario, started at once."""
    return lambda *instances: bench.start_nodes(instances)


@pytest.fixture
def node(bench: Bench, driver: MockDriver) -> StartNode:
    """A node for an instance of the scenario."""
    return lambda instance: bench.start_nodes([instance])[0]


@pytest.fixture
def namespace(bench: Bench) -> Namespace:
    """A namespace of the test's own, and what belongs to its driver."""
    return bench.namespace
