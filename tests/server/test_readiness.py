"""The ready line: when it is there, the server answers."""

from __future__ import annotations

import re

import pytest

import mockdriver
from tests.conftest import Serve
from tests.requests import is_ready


@pytest.mark.parametrize("attempt", [1, 2, 3])
def test_the_first_call_after_the_ready_line_is_answered(attempt: int, serve: Serve) -> None:
    server = serve()

    with server.connect() as client:
        # not wait_for_ready: a server that does not listen yet would fail this call
        assert is_ready(client)


def test_the_ready_line_tells_version_scenario_node_and_endpoint(serve: Serve) -> None:
    server = serve("--scenario", "three-zones", "--node", "i-b")

    assert server.printed().splitlines()[0] == (
        f"mockdriver {mockdriver.__version__} is ready: scenario three-zones, node i-b, "
        f"listening on unix://{server.path}"
    )


def test_the_server_asks_itself_before_it_says_that_it_is_ready(serve: Serve) -> None:
    server = serve()
    assert server.stop() == 0

    assert re.search(r"^\S+ Probe OK ", server.log())


def test_a_cloud_without_instances_is_served_too(serve: Serve) -> None:
    server = serve(scenario="scenario: empty")

    assert "node none" in server.printed().splitlines()[0]
    with server.connect() as client:
        assert is_ready(client)
