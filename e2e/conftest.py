"""What all tests here share."""

from e2e.fixtures import attacher, bench, cluster, driver, namespace, node, nodes, provisioner, run

__all__ = [
    "attacher",
    "bench",
    "cluster",
    "driver",
    "namespace",
    "node",
    "nodes",
    "provisioner",
    "run",
]
