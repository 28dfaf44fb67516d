"""What all tests here share. Other folders may take the fixtures in the same way."""

from e2e.cluster.signals import interrupt_at_ending_signals
from e2e.fixtures import attacher, bench, cluster, driver, namespace, node, nodes, provisioner, run
from e2e.reporting import pytest_runtest_makereport, pytest_terminal_summary
from e2e.running import place, start

__all__ = [
    "attacher",
    "bench",
    "cluster",
    "driver",
    "namespace",
    "node",
    "nodes",
    "place",
    "provisioner",
    "pytest_runtest_makereport",
    "pytest_terminal_summary",
    "run",
    "start",
]


def pytest_configure() -> None:
    """Let a run that is told to end stop what it started first."""
    interrupt_at_ending_signals()
