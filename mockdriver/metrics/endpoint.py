"""The HTTP endpoint that Prometheus asks, GET /metrics."""

from __future__ import annotations

import contextlib
import logging
import socket
import socketserver
import sys
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, choose_encoder, generate_latest

from mockdriver.control.world import World
from mockdriver.journal import Entry
from mockdriver.metrics.call_metrics import CallMetrics
from mockdriver.metrics.world_metrics import WorldMetrics
from mockdriver.runtime import Runtime, Thread
from mockdriver.web.addresses import Address, Bound, listen
from mockdriver.web.hosts import allowed_host

PATH = "/metrics"

CLIENT_PATIENCE_SECONDS = 30.0
"""A connection on which nothing comes for so long is closed."""

_log = logging.getLogger("mockdriver")


class MetricsEndpoint:
    """Listens as soon as it is made, answers while its `with` block runs."""

    def __init__(self, address: Address, runtime: Runtime) -> None:
        """Bind the address; raises AddressMistake."""
        self._bound = listen(address)
        self._runtime = runtime
        self._registry = CollectorRegistry(auto_describe=False)
        self._world: World | None = None
        self._calls = CallMetrics(self._registry, self._driver_name)
        ProcessCollector(registry=self._registry)
        self._thread: Thread | None = None
        self._server: _Server | None = None

    def __str__(self) -> str:
        return f"metrics on {self.url}"

    @property
    def url(self) -> str:
        """Where they are."""
        return self._bound.url(PATH)

    def record(self, entry: Entry) -> None:
        """Record a call that has ended."""
        self._calls.record(entry)

    def observe(self, world: World) -> None:
        """Show the state of a world; once, before its first call."""
        self._world = world
        self._registry.register(WorldMetrics(world))

    def __enter__(self) -> Self:
        if not self._bound.is_loopback:
            _log.warning(
                "metrics on %s: whoever reaches this address reads ids of instances and counts of "
                "calls; they hold no secrets, and nothing can be changed there",
                self.url,
            )
        self._server = _Server(self._bound, self._answer)
        self._thread = self._runtime.start(self._server.serve, "metrics")
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None and self._thread is not None:
            self._server.end()
            self._thread.join()

    def _driver_name(self) -> str:
        assert self._world is not None, "observe() comes first"
        return self._world.driver.config.name

    def _answer(self, accept: str) -> tuple[bytes, str]:
        try:
            encode, content_type = choose_encoder(accept)
        except (TypeError, ValueError):  # a version that is no number
            encode, content_type = generate_latest, CONTENT_TYPE_PLAIN_0_0_4
        return encode(self._registry), content_type


class _Server(ThreadingHTTPServer):
    """An HTTP server on a socket that listens already."""

    daemon_threads = True

    def __init__(self, bound: Bound, answer: Callable[[str], tuple[bytes, str]]) -> None:
        # Not HTTPServer's, which looks its own name up in the DNS.
        socketserver.BaseServer.__init__(self, bound.socket.getsockname()[:2], _Handler)
        self.socket = bound.socket
        self.bound = bound
        self.answer = answer
        self._ending = False

    def serve(self) -> None:
        """Answer until `end` is called. Not serve_forever(), which looks twice a second."""
        while not self._ending:
            self.handle_request()
        self.server_close()

    def end(self) -> None:
        """Let `serve` return."""
        self._ending = True
        with contextlib.suppress(OSError):
            # It waits for a connection: this is one.
            socket.create_connection(self.bound.socket.getsockname()[:2], timeout=1).close()

    def verify_request(self, request: Any, client_address: Any) -> bool:
        """Take no connection when ending."""
        return not self._ending

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that hangs up; all else is a mistake of ours."""
        error = sys.exception()
        if not isinstance(error, OSError):
            _log.error("a request for metrics failed", exc_info=error)


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: _Server
    protocol_version = "HTTP/1.1"
    timeout = CLIENT_PATIENCE_SECONDS

    def do_GET(self) -> None:
        """Answer with the metrics."""
        if not allowed_host(self.headers.get("Host"), self.server.bound):
            self._send(HTTPStatus.MISDIRECTED_REQUEST, b"this host is not served here\n")
        elif self.path.partition("?")[0] != PATH:
            self._send(HTTPStatus.NOT_FOUND, f"metrics are at {PATH}\n".encode())
        else:
            body, content_type = self.server.answer(self.headers.get("Accept", ""))
            self._send(HTTPStatus.OK, body, content_type)

    do_HEAD = do_GET  # noqa: N815 - http.server's

    def version_string(self) -> str:
        """Name no versions to whoever asks."""
        return "mockdriver"

    def log_message(self, format: str, *arguments: Any) -> None:
        """Log nothing: a scrape every few seconds is no news."""

    def _send(
        self, status: HTTPStatus, body: bytes, content_type: str = "text/plain; charset=utf-8"
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
