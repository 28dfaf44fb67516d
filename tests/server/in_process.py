"""A server inside the test's process: as quick to start as a function call."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mockdriver.co.csi_client import CsiClient
from mockdriver.runtime import WallRuntime
from mockdriver.scenario.load import loads
from mockdriver.server.compose import make_cloud, make_server
from mockdriver.server.mock_server import MockServer

SCENARIO = "{scenario: small, cloud: {instances: [{id: i-1}]}}"


def make(scenario: str = SCENARIO, **settings: Any) -> MockServer:
    """Return a server that does not listen yet."""
    loaded, runtime = loads(scenario), WallRuntime()
    return make_server(loaded, make_cloud(loaded, runtime), runtime, **settings)


@contextmanager
def listening(path: Path, scenario: str = SCENARIO) -> Iterator[CsiClient]:
    """Serve a scenario on a socket while the block runs; yield a connection to it."""
    server = make(scenario)
    try:
        server.listen(path, "i-1")
        with CsiClient(path) as client:
            yield client
    finally:
        server.stop(0)
