"""What is counted of calls, and under which labels."""

from __future__ import annotations

from prometheus_client import CollectorRegistry

from csi_spec import csi_pb2
from mockdriver.journal import CloudCall, Entry
from mockdriver.metrics.call_metrics import CallMetrics, go_name
from mockdriver.scenario.code_names import CODES

DRIVER = {"driver_name": "d"}


def ended(code: str, duration_seconds: float, *cloud_calls: CloudCall) -> Entry:
    """Return a call of ControllerGetNodeInfo that has ended."""
    entry = Entry(
        sequence=1,
        started_seconds=0.0,
        service="Controller",
        rpc="ControllerGetNodeInfo",
        request_type=csi_pb2.ControllerGetNodeInfoRequest,
        response_type=csi_pb2.ControllerGetNodeInfoResponse,
        request_bytes=b"",
        peer="p",
        node_id=None,
        calls_in_flight=0,
    )
    entry.code, entry.duration_seconds = code, duration_seconds
    for call in cloud_calls:
        entry.add_cloud_call(call)
    return entry


def recorded(*entries: Entry) -> CollectorRegistry:
    """Return a registry that has seen some calls."""
    registry = CollectorRegistry()
    metrics = CallMetrics(registry, lambda: "d")
    for entry in entries:
        metrics.record(entry)
    return registry


def test_calls_are_counted_by_method_and_code_as_other_csi_drivers_do() -> None:
    registry = recorded(ended("OK", 0.0007), ended("OK", 2), ended("NOT_FOUND", 0.2))

    ok = DRIVER | {
        "method_name": "/csi.v1.Controller/ControllerGetNodeInfo",
        "grpc_status_code": "OK",
    }
    name = "csi_plugin_operations_seconds"
    assert registry.get_sample_value(f"{name}_count", ok) == 2
    assert registry.get_sample_value(f"{name}_sum", ok) == 2.0007
    assert registry.get_sample_value(f"{name}_bucket", ok | {"le": "0.0005"}) == 0
    assert registry.get_sample_value(f"{name}_bucket", ok | {"le": "0.001"}) == 1
    assert registry.get_sample_value(f"{name}_bucket", ok | {"le": "2.5"}) == 2
    not_found = ok | {"grpc_status_code": "NotFound"}
    assert registry.get_sample_value(f"{name}_count", not_found) == 1


def test_calls_of_the_cloud_are_counted_by_api_and_outcome() -> None:
    registry = recorded(
        ended(
            "OK",
            1,
            CloudCall("attach", ("v",), 0.25, "Throttled"),
            CloudCall("attach", ("v",), 0.25, ""),
            CloudCall("describe_disks", ("v",), 0.0, ""),
        ),
        ended("OK", 1, CloudCall("attach", ("v",), 0.25, "")),
    )

    def count(api: str, outcome: str) -> float | None:
        return registry.get_sample_value(
            "csi_mock_cloud_api_calls_seconds_count", DRIVER | {"api": api, "outcome": outcome}
        )

    assert count("attach", "ok") == 2
    assert count("attach", "Throttled") == 1
    assert count("describe_disks", "ok") == 1


def test_codes_have_the_names_that_go_prints() -> None:
    assert [go_name(code) for code in CODES] == [
        "OK",
        "Canceled",
        "Unknown",
        "InvalidArgument",
        "DeadlineExceeded",
        "NotFound",
        "AlreadyExists",
        "PermissionDenied",
        "ResourceExhausted",
        "FailedPrecondition",
        "Aborted",
        "OutOfRange",
        "Unimplemented",
        "Internal",
        "Unavailable",
        "DataLoss",
        "Unauthenticated",
    ]


def test_no_series_tells_when_another_one_began() -> None:
    families = recorded(ended("OK", 1)).collect()

    assert not [
        sample.name
        for family in families
        for sample in family.samples
        if sample.name.endswith("_created")
    ]
