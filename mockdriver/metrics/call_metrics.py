"""Histograms of calls, recorded as each call ends."""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Histogram, disable_created_metrics

from mockdriver.journal import Entry
from mockdriver.metrics.names import CLOUD_CALLS, OPERATIONS, Metric

# Series of when each series began: a third more of everything, and nobody looks at them.
disable_created_metrics()  # type: ignore[no-untyped-call]

BUCKETS_SECONDS = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05),
    # From here on those of csi-lib-utils; a simulated cloud is quicker than a real one.
    *(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15, 25, 50, 120, 300, 600),
)

OK = "ok"

_GO_NAMES = {"OK": "OK", "CANCELLED": "Canceled"}


class CallMetrics:
    """What is counted of calls. A call costs some microseconds here."""

    def __init__(self, registry: CollectorRegistry, driver_name: Callable[[], str]) -> None:
        """`driver_name` is asked at each call: another scenario can have another one."""
        self._driver_name = driver_name
        self._operations = _histogram(OPERATIONS, registry)
        self._cloud_calls = _histogram(CLOUD_CALLS, registry)
        # labels() takes a lock and makes a key of text each time.
        self._of_rpc: dict[tuple[str, ...], Histogram] = {}
        self._of_api: dict[tuple[str, ...], Histogram] = {}

    def record(self, entry: Entry) -> None:
        """Record a call that has ended."""
        driver_name = self._driver_name()
        key: tuple[str, ...] = driver_name, entry.service, entry.rpc, entry.code
        operations = self._of_rpc.get(key)
        if operations is None:
            method, code = method_name(entry), go_name(entry.code)
            operations = self._operations.labels(driver_name, method, code)
            self._of_rpc[key] = operations
        operations.observe(entry.duration_seconds)
        for call in entry.cloud_calls:
            key = driver_name, call.api, call.error or OK
            calls = self._of_api.get(key)
            if calls is None:
                calls = self._of_api[key] = self._cloud_calls.labels(*key)
            calls.observe(call.duration_seconds)


def method_name(entry: Entry) -> str:
    """Return the RPC as gRPC writes it: /csi.v1.Controller/ControllerGetNodeInfo."""
    return f"/{entry.request_type.DESCRIPTOR.file.package}.{entry.service}/{entry.rpc}"


def go_name(code: str) -> str:
    """Return a code's name as Go prints it, which is what dashboards look for: NotFound."""
    return _GO_NAMES.get(code) or code.title().replace("_", "")


def _histogram(metric: Metric, registry: CollectorRegistry) -> Histogram:
    return Histogram(
        metric.name,
        metric.help,
        metric.all_labels,
        buckets=BUCKETS_SECONDS,
        registry=registry,
    )
