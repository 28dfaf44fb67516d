"""The HTTP servers beside the sockets: metrics and the page, each only if it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING, Self

from mockdriver.journal import Entry
from mockdriver.runtime import Runtime
from mockdriver.server.mock_server import MockServer
from mockdriver.web.addresses import AddressMistake, parse_address
from mockdriver.web.tokens import TokenMistake

if TYPE_CHECKING:
    # At run time only if asked for: they need packages that may not be there, and take their time.
    from mockdriver.dashboard.server import Dashboard
    from mockdriver.metrics.endpoint import MetricsEndpoint

METRICS_OPTION = "--metrics"
DASHBOARD_OPTION = "--dashboard"

EXTRAS = {"metrics": ("prometheus_client",), "dashboard": ("starlette", "uvicorn")}
"""The packages of each extra, by the names under which they are imported."""


class ExtraMissing(Exception):
    """An option that needs packages which are not installed."""

    def __init__(self, option: str, extra: str) -> None:
        super().__init__(
            f"{option} needs the extra {extra}, which is not installed: "
            f"pip install 'mockdriver[{extra}]'"
        )


class HttpServers:
    """They listen as soon as they are made, and answer while the `with` block runs."""

    def __init__(
        self,
        runtime: Runtime,
        *,
        metrics: str | None = None,
        dashboard: str | None = None,
        dashboard_token: str | None = None,
    ) -> None:
        """Listen at the addresses that options gave.

        Raises AddressMistake, TokenMistake and ExtraMissing.
        """
        self._metrics: MetricsEndpoint | None = None
        self._dashboard: Dashboard | None = None
        if metrics is not None:
            address = parse_address(METRICS_OPTION, metrics)
            with _needing("metrics", METRICS_OPTION):
                from mockdriver.metrics.endpoint import MetricsEndpoint  # noqa: PLC0415
            self._metrics = MetricsEndpoint(address, runtime)
        if dashboard is not None:
            address = parse_address(DASHBOARD_OPTION, dashboard)
            with _needing("dashboard", DASHBOARD_OPTION):
                from mockdriver.dashboard.server import Dashboard  # noqa: PLC0415
            self._dashboard = Dashboard(address, dashboard_token, runtime)
        self._running = ExitStack()

    @property
    def sinks(self) -> list[Callable[[Entry], None]]:
        """Who wants to hear of each call that has ended."""
        return [] if self._metrics is None else [self._metrics.record]

    def observe(self, server: MockServer) -> None:
        """Show what a server is like; once, before the block."""
        if self._metrics is not None:
            self._metrics.observe(server.world)
        if self._dashboard is not None:
            self._dashboard.observe(server.control)

    def urls(self) -> dict[str, str | None]:
        """Return where each is, or None."""
        return {
            "metrics": None if self._metrics is None else self._metrics.url,
            "dashboard": None if self._dashboard is None else self._dashboard.url,
        }

    def described(self) -> list[str]:
        """Say of each where it is."""
        return [str(server) for server in (self._metrics, self._dashboard) if server is not None]

    def __enter__(self) -> Self:
        for server in (self._metrics, self._dashboard):
            if server is not None:
                self._running.enter_context(server)
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()


@contextmanager
def _needing(extra: str, option: str) -> Iterator[None]:
    try:
        yield
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRAS[extra]:
            raise
        raise ExtraMissing(option, extra) from None


HTTP_MISTAKES = (AddressMistake, TokenMistake, ExtraMissing)
"""What making them raises."""
