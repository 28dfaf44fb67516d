"""``serve --metrics``: the endpoint as Prometheus finds it."""

from __future__ import annotations

import http.client
import json
import socket
import subprocess
import sys
from contextlib import closing
from dataclasses import dataclass
from urllib.parse import urlsplit

import pytest
from prometheus_client.parser import text_string_to_metric_families

from csi_spec import csi_pb2
from mockdriver.co.calling import call
from tests.conftest import Serve
from tests.requests import begin_publish, published_ids
from tests.serving import Serving, environment
from tests.waiting import PATIENCE_SECONDS, wait_until

ANY_PORT = ("--metrics", "127.0.0.1:0", "--ready-file", "ready.json")


@dataclass(frozen=True)
class Answer:
    """An answer of the endpoint."""

    status: int
    content_type: str
    text: str

    def value(self, name: str, **labels: str) -> float | None:
        """Return a sample's value, or None; other labels may have any value."""
        for family in text_string_to_metric_families(self.text):
            for sample in family.samples:
                if sample.name == name and labels.items() <= sample.labels.items():
                    return sample.value
        return None


def get(server: Serving, path: str = "/metrics", method: str = "GET", **headers: str) -> Answer:
    """Ask a server's endpoint."""
    url = urlsplit(json.loads((server.folder / "ready.json").read_text())["metrics"])
    assert url.hostname is not None
    connection = http.client.HTTPConnection(url.hostname, url.port, timeout=PATIENCE_SECONDS)
    with closing(connection):
        connection.request(method, path, headers=headers)
        response = connection.getresponse()
        content_type = response.headers["Content-Type"]
        return Answer(response.status, content_type, response.read().decode())


def test_calls_are_counted_as_they_end(serve: Serve) -> None:
    server = serve(*ANY_PORT)
    with server.connect() as client:
        for node_id in ("i-worker-1", "i-worker-1", "i-none"):
            request = csi_pb2.ControllerGetNodeInfoRequest(node_id=node_id)
            call(client.controller.ControllerGetNodeInfo, request)

    answer = get(server)

    assert answer.status == 200
    method = "/csi.v1.Controller/ControllerGetNodeInfo"
    name = "csi_plugin_operations_seconds_count"
    assert answer.value(name, method_name=method, grpc_status_code="OK") == 2
    assert answer.value(name, method_name=method, grpc_status_code="NotFound") == 1
    api = "csi_mock_cloud_api_calls_seconds_count"
    assert answer.value(api, api="describe_instances", outcome="ok") == 2
    assert answer.value(api, api="describe_instances", outcome="InstanceNotFound") == 1
    assert answer.value("csi_mock_node_max_volumes", node_id="i-worker-1") == 23


def test_a_call_in_flight_is_seen(serve: Serve) -> None:
    server = serve(
        *ANY_PORT,
        scenario="{scenario: held, cloud: {transitions: {attach: held}, instances: [{id: i-1}],"
        " disks: [{id: v}]}}",
    )
    with server.connect() as client:
        publishing = begin_publish(client, "v", "i-1")
        wait_until(lambda: published_ids(client, "i-1"), "the publish has begun")

        assert get(server).value("csi_plugin_operations_in_flight") == 1
        publishing.cancel()


def test_the_ready_line_tells_where_metrics_are(serve: Serve) -> None:
    server = serve(*ANY_PORT)

    url = json.loads((server.folder / "ready.json").read_text())["metrics"]
    assert f", metrics on {url}, " in server.printed().splitlines()[0]


def test_the_forms_that_prometheus_asks_for_are_known(serve: Serve) -> None:
    server = serve(*ANY_PORT)

    assert get(server).content_type == "text/plain; version=0.0.4; charset=utf-8"
    open_metrics = get(server, Accept="application/openmetrics-text; version=1.0.0")
    assert open_metrics.content_type.startswith("application/openmetrics-text; version=1.0.0")
    assert open_metrics.text.endswith("# EOF\n")
    assert get(server, Accept="application/openmetrics-text; version=x").status == 200


def test_no_other_path_and_no_other_method_is_served(serve: Serve) -> None:
    server = serve(*ANY_PORT)

    missing = get(server, "/")
    assert (missing.status, missing.text) == (404, "metrics are at /metrics\n")
    assert get(server, "/metrics?name=x").status == 200
    assert get(server, method="HEAD").text == ""
    assert get(server, method="POST").status == 501


def test_a_name_of_another_site_that_leads_here_is_refused(serve: Serve) -> None:
    assert get(serve(*ANY_PORT), Host="evil.example.com").status == 421


def test_an_address_that_others_can_reach_is_warned_of(serve: Serve) -> None:
    server = serve("--metrics", "0.0.0.0:0")
    assert server.stop() == 0

    assert "WARNING metrics on http://0.0.0.0:" in server.log()
    assert "whoever reaches this address" in server.log()


def test_a_server_stops_while_somebody_is_connected(serve: Serve) -> None:
    server = serve(*ANY_PORT)
    url = urlsplit(json.loads((server.folder / "ready.json").read_text())["metrics"])
    with socket.create_connection((url.hostname, url.port)):
        assert server.stop() == 0


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("9808", "--metrics '9808': want HOST:PORT"),
        ("127.0.0.1:http", "the port must be a number"),
        ("no-such-host.invalid:1", "is no host that is known here"),
    ],
)
def test_mistakes_are_told_in_one_line(address: str, reason: str, serve: Serve) -> None:
    server = serve("--metrics", address, ready=False)

    assert server.exit_code() == 1
    assert reason in server.log()
    assert server.log().count("\n") == 1
    assert not server.path.exists()


def test_a_port_in_use_is_told(serve: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        server = serve("--metrics", f"127.0.0.1:{port}", ready=False)

        assert server.exit_code() == 1
        assert f"Error: --metrics '127.0.0.1:{port}': in use" in server.log()


def without(package: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run mockdriver as if a package were not installed."""
    code = (
        f"import sys; sys.modules[{package!r}] = None; "
        f"import mockdriver.cli; sys.argv = ['mockdriver', *{list(arguments)!r}]; "
        "mockdriver.cli.main()"
    )
    return subprocess.run(
        [sys.executable, "-c", code],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
    )


def test_without_the_extra_it_is_told_what_to_install() -> None:
    done = without("prometheus_client", "serve", "--metrics", "127.0.0.1:0")

    assert done.returncode == 1
    assert done.stderr == (
        "Error: --metrics needs the extra metrics, which is not installed: "
        "pip install 'mockdriver[metrics]'\n"
    )


def test_without_the_option_the_packages_are_not_even_looked_for() -> None:
    code = "import sys, mockdriver.cli.serve; print('prometheus_client' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
