"""What is shown of a test that fails, and where its logs are."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from e2e.cluster.api import ApiError
from e2e.cluster.bench import Bench
from e2e.cluster.cluster import Cluster
from e2e.cluster.processes import Process
from e2e.cluster.run_folder import RunFolder

RUN = pytest.StashKey[RunFolder]()
"""The folder of this run."""

LOGS = pytest.StashKey[Path]()
"""Where the logs of this run are kept, if they are."""

_SHOWN_CALLS = 60


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add calls, events and dead programs to the report of a failure, and keep the logs."""
    report = yield
    if report.failed:
        if RUN in item.config.stash:
            item.config.stash[RUN].keep_logs()
        fixtures = getattr(item, "funcargs", {})
        for fixture in fixtures.values():
            if isinstance(fixture, Bench):
                report.sections += _of_bench(fixture)
        cluster = fixtures.get("cluster")
        if isinstance(cluster, Cluster):
            report.sections += _of_dead(cluster.processes.ended_by_themselves())
    return report


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Say where the logs of a run that failed are."""
    if LOGS in config.stash:
        terminalreporter.write_line(f"logs of all programs: {config.stash[LOGS]}")


def _of_bench(bench: Bench) -> list[tuple[str, str]]:
    sections = []
    if bench.has_driver:
        calls = [
            f"{call.rpc} {call.volume_id or ''} {call.node_id or ''} {call.code}"
            for call in bench.driver.calls.all()[-_SHOWN_CALLS:]
        ]
        sections.append(("the last calls that the driver answered", "\n".join(calls)))
    try:
        sections.append(("events", "\n".join(bench.namespace.events())))
    except (ApiError, OSError) as error:
        sections.append(("events", f"none to be had: {error}"))
    return sections + _of_dead(bench.processes.ended_by_themselves())


def _of_dead(processes: list[Process]) -> list[tuple[str, str]]:
    return [
        (f"{process.name} has ended by itself; the end of its log", process.last_words())
        for process in processes
    ]
