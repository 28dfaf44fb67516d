"""All metrics: their names, labels, and what they mean.

`csi_plugin_operations_seconds`, its labels and the form of their values are those of
kubernetes-csi/csi-lib-utils, so that dashboards made for other drivers show this one too. A node is
`node_id`, as in CSI: the label `instance` is Prometheus' own.
"""

from __future__ import annotations

from dataclasses import dataclass

DRIVER_NAME = "driver_name"


@dataclass(frozen=True)
class Metric:
    """One metric, with the labels that it has besides `driver_name`."""

    name: str
    kind: str
    labels: tuple[str, ...]
    help: str

    @property
    def all_labels(self) -> tuple[str, ...]:
        """The labels with `driver_name`, which all have."""
        return (DRIVER_NAME, *self.labels)


INFO = Metric(
    "csi_mock_info", "gauge", ("version", "scenario"), "1, with what runs here as its labels."
)
OPERATIONS = Metric(
    "csi_plugin_operations_seconds",
    "histogram",
    ("method_name", "grpc_status_code"),
    "Calls of CSI that have ended: how long they took, by method and gRPC code.",
)
IN_FLIGHT = Metric(
    "csi_plugin_operations_in_flight", "gauge", (), "Calls of CSI that have not been answered yet."
)
HELD = Metric(
    "csi_mock_calls_held", "gauge", ("barrier",), "Calls that a fault holds at a barrier now."
)
CLOUD_CALLS = Metric(
    "csi_mock_cloud_api_calls_seconds",
    "histogram",
    ("api", "outcome"),
    "Calls of the cloud's API that CSI calls have made: how long they took, by API and outcome, "
    "which is ok or the name of the cloud's error. Counted when the CSI call ends.",
)
NODES = Metric("csi_mock_nodes", "gauge", (), "Instances of the cloud.")
NODES_SHOWN = Metric(
    "csi_mock_nodes_shown", "gauge", (), "Instances that have metrics of their own, by node_id."
)
SLOTS = Metric(
    "csi_mock_slots", "gauge", (), "Slots of all instances together, of those that have a limit."
)
SLOT_USERS = Metric(
    "csi_mock_slot_users",
    "gauge",
    ("user",),
    "What uses slots on all instances together: boot, network_interface, csi or out_of_band.",
)
NODE_SLOTS = Metric(
    "csi_mock_node_slots", "gauge", ("node_id",), "Slots of an instance; absent without a limit."
)
NODE_SLOT_USERS = Metric(
    "csi_mock_node_slot_users",
    "gauge",
    ("node_id", "user"),
    "What uses an instance's slots: boot, network_interface, csi or out_of_band.",
)
NODE_MAX_VOLUMES = Metric(
    "csi_mock_node_max_volumes",
    "gauge",
    ("node_id",),
    "max_volumes_per_node as ControllerGetNodeInfo reports it; 0 means unspecified.",
)

METRICS = (
    INFO,
    OPERATIONS,
    IN_FLIGHT,
    HELD,
    CLOUD_CALLS,
    NODES,
    NODES_SHOWN,
    SLOTS,
    SLOT_USERS,
    NODE_SLOTS,
    NODE_SLOT_USERS,
    NODE_MAX_VOLUMES,
)
"""In the order in which they are documented."""
