"""What a test pays for a mock: its start, and making it as new again."""

from __future__ import annotations

import time
from contextlib import closing

from mockdriver.testing.driver import Driver, start
from mockdriver.testing.options import ServeOptions
from mockdriver.testing.pool import Pool
from mockdriver.testing.scenario_source import scenario_source

TESTS = 50
LARGE = {
    "scenario": "large",
    "cloud": {
        "instance_types": {"t": {"slots": 25}},
        "instances": [{"count": 1000, "id": "i-{n}", "type": "t", "published": 3}],
    },
}
"""A scenario that is larger than most tests want: 1,000 nodes with 3 volumes each."""


def start_seconds() -> float:
    """Return how long it takes until a mock answers that `mockdriver.testing` starts."""
    began_at = time.perf_counter()
    with start():
        return time.perf_counter() - began_at


def reset_seconds(scenario: str | dict[str, object]) -> list[float]:
    """Return how long each of some resets takes, after a test that changed what it could."""
    found = []
    with start(scenario) as driver:
        for _ in range(TESTS):
            _use(driver)
            began_at = time.perf_counter()
            driver.reset()
            found.append(time.perf_counter() - began_at)
    return found


def lend_seconds() -> list[float]:
    """Return how long each of some tests waits for its fixture, the first not counted."""
    found = []
    source, options = scenario_source("kep-6011-example"), ServeOptions()
    with closing(Pool()) as pool:
        for _ in range(TESTS):
            began_at = time.perf_counter()
            driver = pool.lend(source, options)
            found.append(time.perf_counter() - began_at)
            _use(driver)
            pool.give_back(driver)
    return found[1:]


def _use(driver: Driver) -> None:
    node_id = driver.csi.node.NodeGetInfo().node_id
    driver.cloud.attach(node_id, "vol-by-hand")
    driver.fail("ControllerGetNodeInfo", code="UNAVAILABLE")
