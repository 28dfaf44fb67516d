"""A server with a page, and asking it over HTTP as a program does."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPResponse
from typing import Any
from urllib.parse import quote, urlsplit

from tests.serving import Serving, serving
from tests.waiting import PATIENCE_SECONDS

PACKAGE = "mockdriver.control.v1"

SCENARIO = """
scenario: small
cloud:
  instance_types: {shared: {slots: 4, network_interfaces_share_slots: true}}
  instances:
    - {id: i-1, type: shared, boot_disk: boot-1, published: 1}
    - {id: i-2, type: shared, attached: [vol-2]}
  disks: [{id: vol-free}]
faults:
  - {name: flaky, rpc: ControllerGetNodeInfo, node_id: i-2, code: UNAVAILABLE, times: 2}
  - {name: gate, rpc: ControllerGetNodeInfo, node_id: i-1, hold: lookup, enabled: false}
"""


@dataclass(frozen=True)
class Answer:
    """An answer, its body read."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.body)


@dataclass(frozen=True)
class Site:
    """A page that is served."""

    server: Serving
    url: str

    @property
    def port(self) -> int:
        """Its port on 127.0.0.1."""
        port = urlsplit(self.url).port
        assert port is not None
        return port

    @property
    def host(self) -> str:
        """What a browser sends as Host."""
        return f"127.0.0.1:{self.port}"

    def ask(
        self, method: str, path: str, body: str | bytes | None = None, **headers: str
    ) -> Answer:
        """Send a request; `_` in the name of a header stands for `-`."""
        with closing(self.connect()) as connection:
            named = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.request(method, path, body=body, headers=named)
            response = connection.getresponse()
            return Answer(response.status, response.headers, response.read())

    def call(self, rpc: str, request: object = None, **headers: str) -> Answer:
        """Make a call: `call("Cloud/Attach", {...})`."""
        body = json.dumps({} if request is None else request)
        headers = {"Content_Type": "application/json", **headers}
        return self.ask("POST", f"/api/{PACKAGE}.{rpc}", body, **headers)

    def connect(self) -> http.client.HTTPConnection:
        """Return a connection."""
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_SECONDS)

    @contextmanager
    def stream(self, rpc: str, request: object = None) -> Iterator[Iterator[tuple[str, Any]]]:
        """Follow a stream; yields its events, each a name and data."""
        with closing(self.connect()) as connection:
            query = quote(json.dumps(request or {}))
            connection.request("GET", f"/api/{PACKAGE}.{rpc}?request={query}")
            response = connection.getresponse()
            assert response.status == 200, response.read()
            assert response.headers["Content-Type"].startswith("text/event-stream")
            events = _events(response)
            assert next(events) == ("open", None)
            yield events


def _events(response: HTTPResponse) -> Iterator[tuple[str, Any]]:
    name, data = "message", None
    for raw in response:
        line = raw.decode().rstrip("\n")
        if line.startswith(": "):
            yield line.removeprefix(": "), None
        elif line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            data = json.loads(line.removeprefix("data: "))
        elif not line and data is not None:
            yield name, data
            name, data = "message", None


@contextmanager
def site(*flags: str, scenario: str = SCENARIO, **settings: Any) -> Iterator[Site]:
    """Serve a scenario with a page while the block runs."""
    page = ("--dashboard", "127.0.0.1:0") if "--dashboard" not in flags else ()
    with serving(*page, *flags, "--ready-file", "r.json", scenario=scenario, **settings) as server:
        said = json.loads((server.folder / "r.json").read_text(encoding="utf-8"))
        yield Site(server, said["dashboard"])
