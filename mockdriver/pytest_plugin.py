"""Fixtures for pytest: a mock CSI driver that each test finds as new.

* `mockdriver`: a driver, as `@pytest.mark.mockdriver(...)` says.
* `mockdriver_factory`: as many as a test needs.

Every test session imports this file, whether or not it uses a fixture; so it imports nothing but
pytest, and the rest when a fixture is used. PYTEST_DONT_REWRITE: it has no assertions.
"""

# ruff: noqa: PLC0415

from __future__ import annotations

import sys
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import pytest

if TYPE_CHECKING:
    from mockdriver.testing.driver import Driver
    from mockdriver.testing.options import ServeOptions
    from mockdriver.testing.pool import Pool
    from mockdriver.testing.scenario_source import Scenario

MARKER = "mockdriver"
_MARKER_HELP = (
    "mockdriver(scenario, capabilities=..., driver_name=..., nodes=..., ...): the scenario (a "
    "shipped one's name, a file beside the test, a text, a dict) and the options of the fixture "
    "`mockdriver`; see mockdriver.testing.start"
)


def pytest_configure(config: pytest.Config) -> None:
    """Make the marker known, for `--strict-markers` and `--markers`."""
    config.addinivalue_line("markers", _MARKER_HELP)


# ---------------------------------------------------------------------------------------- fixtures


class MockdriverFactory:
    """Lends drivers to one test; see the fixture `mockdriver_factory`."""

    def __init__(self, pool: Pool, folder: Path) -> None:
        self._pool = pool
        self._folder = folder
        self._lent: list[Driver] = []
        self._log_starts: dict[Driver, int] = {}

    def __call__(self, scenario: Scenario | None = None, **options: Unpack[ServeOptions]) -> Driver:
        """Return another driver, in a process of its own that is ready.

        Arguments are those of `mockdriver.testing.start`; a scenario's file is one in the folder of
        the test.
        """
        from mockdriver.testing.options import known_options
        from mockdriver.testing.scenario_source import DEFAULT_SCENARIO, scenario_source

        chosen = DEFAULT_SCENARIO if scenario is None else scenario
        source = scenario_source(chosen, self._folder)
        driver = self._pool.lend(source, known_options(options))
        self._lent.append(driver)
        self._log_starts[driver] = driver.log_size
        return driver

    @property
    def used(self) -> Mapping[Driver, int]:
        """All drivers that the test has used, each with the size of its log before."""
        return self._log_starts

    def give_back(self) -> None:
        """Give all drivers back."""
        while self._lent:
            self._pool.give_back(self._lent.pop())


_FACTORIES = pytest.StashKey[list[MockdriverFactory]]()


@pytest.fixture(scope="session")
def _mockdriver_pool(pytestconfig: pytest.Config) -> Pool:
    from mockdriver.testing.pool import Pool

    pool = Pool()
    # Not at the end of this fixture: that comes before the report of the last test.
    pytestconfig.add_cleanup(pool.close)
    return pool


@contextmanager
def _lending(request: pytest.FixtureRequest, pool: Pool) -> Iterator[MockdriverFactory]:
    factory = MockdriverFactory(pool, request.path.parent)
    request.node.stash.setdefault(_FACTORIES, []).append(factory)
    try:
        yield factory
    finally:
        factory.give_back()


@pytest.fixture
def mockdriver_factory(
    request: pytest.FixtureRequest, _mockdriver_pool: Pool
) -> Iterator[MockdriverFactory]:
    """Start as many mock drivers as a test needs, `mockdriver_factory(driver_name="a.example")`.

    Arguments are those of `mockdriver.testing.start`. When the test has ended, the drivers are
    kept for other tests that want the same.
    """
    with _lending(request, _mockdriver_pool) as factory:
        yield factory


@pytest.fixture
def mockdriver(request: pytest.FixtureRequest, _mockdriver_pool: Pool) -> Iterator[Driver]:
    """Return a mock CSI driver in the state in which its scenario begins.

    It runs in a process of its own, which tests share one after the other. Which scenario it is and
    with which options: `@pytest.mark.mockdriver(scenario="three-zones", nodes="*")`, on the test,
    its class or its module, the nearest winning.
    """
    with _lending(request, _mockdriver_pool) as factory:
        yield factory(**_marked(request.node))


def _marked(item: pytest.Item) -> dict[str, Any]:
    """Return what the markers of a test say, those that are nearer winning."""
    said: dict[str, Any] = {}
    for marker in item.iter_markers(MARKER):
        if len(marker.args) > 1:
            raise TypeError(f"the marker {MARKER} takes one scenario, not {len(marker.args)}")
        said = {**({"scenario": marker.args[0]} if marker.args else {}), **marker.kwargs, **said}
    return said


# ----------------------------------------------------------------------------------------- reports


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show calls and log of the drivers that a failed test has used."""
    report = yield
    # Nobody can have used a driver without this module.
    if report.failed and "mockdriver.testing.driver" in sys.modules:
        from mockdriver.testing.report import sections

        for driver, log_start in _used(item).items():
            report.sections += sections(driver, log_start)
    if report.when == "teardown" and _FACTORIES in item.stash:
        # Items live as long as the session.
        del item.stash[_FACTORIES]
    return report


def _used(item: pytest.Item) -> dict[Driver, int]:
    """Return the drivers of our fixtures, and those that fixtures of others have started."""
    from mockdriver.testing.driver import Driver

    arguments: Mapping[str, object] = getattr(item, "funcargs", {})
    used = {value: 0 for value in arguments.values() if isinstance(value, Driver)}
    for factory in item.stash.get(_FACTORIES, []):
        used |= factory.used
    return used
