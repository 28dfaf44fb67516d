"""What all tests here share. Other folders may take the fixtures in the same way."""

import pytest

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put tests that begin a long wait first, and those that look at its end last."""
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    if item.get_closest_marker("early"):
        return 0
    return 2 if item.get_closest_marker("slow") else 1
