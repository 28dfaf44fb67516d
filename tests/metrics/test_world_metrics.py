"""Gauges of the present state: slots, who uses them, limits, calls in flight."""

from __future__ import annotations

from typing import Any

import pytest
from prometheus_client import CollectorRegistry

import mockdriver
from mockdriver.metrics.world_metrics import MAX_NODES, USERS, WorldMetrics
from mockdriver.server.mock_server import MockServer
from tests.server.in_process import make

DRIVER = {"driver_name": "mock.csi.example.com"}

MIXED = """
scenario: mixed
cloud:
  instance_types:
    shared: {slots: 25, network_interfaces_share_slots: true}
    apart: {slots: 8, boot_disk_uses_slot: false}
  instances:
    - {id: i-1, type: shared, network_interfaces: 2, boot_disk: b-1, attached: 1, published: 8}
    - {id: i-2, type: apart, network_interfaces: 3, boot_disk: b-2, attached: 2}
    - {id: i-3, attached: 1}
"""


class Scraped:
    """A world that is looked at whenever somebody asks for a value."""

    def __init__(self, scenario: str) -> None:
        self.server: MockServer = make(scenario)
        self._registry = CollectorRegistry()
        self._registry.register(WorldMetrics(self.server.world))

    def value(self, name: str, **labels: str) -> float | None:
        """Return a sample's value now, or None."""
        return self._registry.get_sample_value(name, DRIVER | labels)

    def users(self, node_id: str) -> dict[str, float | None]:
        """Return who uses the slots of an instance."""
        return {
            user: self.value("csi_mock_node_slot_users", node_id=node_id, user=user)
            for user in USERS
        }

    def samples(self) -> list[Any]:
        """Return all samples."""
        return [sample for family in self._registry.collect() for sample in family.samples]


@pytest.fixture
def mixed() -> Scraped:
    return Scraped(MIXED)


def test_the_users_of_each_instance_are_told_apart(mixed: Scraped) -> None:
    assert mixed.users("i-1") == {"boot": 1, "network_interface": 2, "csi": 8, "out_of_band": 1}
    # Neither its boot disk nor its interfaces use slots.
    assert mixed.users("i-2") == {"boot": 0, "network_interface": 0, "csi": 0, "out_of_band": 2}


def test_slots_and_limits_are_those_of_the_type(mixed: Scraped) -> None:
    assert mixed.value("csi_mock_node_slots", node_id="i-1") == 25
    assert mixed.value("csi_mock_node_max_volumes", node_id="i-1") == 23
    assert mixed.value("csi_mock_node_max_volumes", node_id="i-2") == 8


def test_an_instance_without_a_limit_has_no_slots_and_an_unspecified_limit(mixed: Scraped) -> None:
    assert mixed.value("csi_mock_node_slots", node_id="i-3") is None
    assert mixed.value("csi_mock_node_max_volumes", node_id="i-3") == 0
    assert mixed.users("i-3")["out_of_band"] == 1


def test_the_sums_are_those_of_all_instances(mixed: Scraped) -> None:
    assert mixed.value("csi_mock_nodes") == mixed.value("csi_mock_nodes_shown") == 3
    assert mixed.value("csi_mock_slots") == 25 + 8
    assert mixed.value("csi_mock_slot_users", user="boot") == 1
    assert mixed.value("csi_mock_slot_users", user="network_interface") == 2
    assert mixed.value("csi_mock_slot_users", user="csi") == 8
    assert mixed.value("csi_mock_slot_users", user="out_of_band") == 1 + 2 + 1


def test_a_change_is_seen_at_the_next_look(mixed: Scraped) -> None:
    mixed.server.cloud.operator.add_network_interface("i-1")

    assert mixed.users("i-1")["network_interface"] == 3
    assert mixed.value("csi_mock_node_max_volumes", node_id="i-1") == 22


def test_looking_is_no_call_of_the_cloud_and_no_read_of_a_transition() -> None:
    world = Scraped(
        "{scenario: s, cloud: {transitions: {attach: after 1 reads},"
        " instances: [{id: i-1}], disks: [{id: v}]}}"
    )
    operator = world.server.cloud.operator
    operator.attach("v", "i-1")

    for _ in range(3):
        assert world.users("i-1")["out_of_band"] == 1

    attachment = operator.attachment("v", "i-1")
    assert attachment is not None
    assert attachment.state.value == "attaching"
    assert set(world.server.cloud.api.calls().values()) == {0}


def test_a_large_cloud_has_series_for_the_first_instances_and_sums_of_all() -> None:
    world = Scraped(
        "{scenario: s, cloud: {instance_types: {t: {slots: 2}},"
        f' instances: [{{count: {MAX_NODES + 500}, id: "i-{{n}}", type: t, attached: 1}}]}}}}'
    )

    assert world.value("csi_mock_nodes") == MAX_NODES + 500
    assert world.value("csi_mock_nodes_shown") == MAX_NODES
    assert world.value("csi_mock_slots") == 2 * (MAX_NODES + 500)
    assert world.value("csi_mock_slot_users", user="out_of_band") == MAX_NODES + 500
    assert world.value("csi_mock_node_slots", node_id=f"i-{MAX_NODES}") == 2
    assert world.value("csi_mock_node_slots", node_id=f"i-{MAX_NODES + 1}") is None
    assert len(world.samples()) < 6 * MAX_NODES + 50


def test_what_runs_is_told(mixed: Scraped) -> None:
    version = mockdriver.__version__
    assert mixed.value("csi_mock_info", version=version, scenario="mixed") == 1


def test_calls_in_flight_are_counted(mixed: Scraped) -> None:
    assert mixed.value("csi_plugin_operations_in_flight") == 0
    _begin(mixed)
    assert mixed.value("csi_plugin_operations_in_flight") == 1


def _begin(world: Scraped) -> None:
    from csi_spec import csi_pb2  # noqa: PLC0415

    world.server.journal.begin(
        service="Identity",
        rpc="Probe",
        request_type=csi_pb2.ProbeRequest,
        response_type=csi_pb2.ProbeResponse,
        request_bytes=b"",
        peer="p",
        node_id=None,
    )


def test_a_barrier_is_shown_with_the_calls_that_it_holds() -> None:
    world = Scraped(
        "{scenario: s, faults: [{name: f, rpc: ControllerGetNodeInfo, hold: gate}]}",
    )

    assert world.value("csi_mock_calls_held", barrier="gate") == 0


def test_a_cloud_without_instances_has_sums_of_nothing() -> None:
    world = Scraped("scenario: empty")

    assert world.value("csi_mock_nodes") == 0
    assert world.value("csi_mock_slots") == 0
