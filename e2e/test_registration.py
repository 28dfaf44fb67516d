"""A kubelet finds the driver and writes down what its node says of itself."""

from __future__ import annotations

import pytest

from e2e.cluster.api import ApiError
from e2e.cluster.mock_driver import MockDriver
from e2e.cluster.namespace import Namespace
from e2e.cluster.waiting import wait_until
from e2e.fixtures import StartNode, StartNodes
from e2e.objects.volumes import csi_driver

SCENARIO = """
scenario: three-machines
cloud:
  region: eu-1
  instance_types:
    small: {slots: 5}
    large: {slots: 25, network_interfaces_share_slots: true}
  instances:
    - {id: i-small, type: small, zone: eu-1a, attached: 1, published: 2}
    - {id: i-large, type: large, zone: eu-1b, boot_disk: vol-boot, network_interfaces: 2}
    - {id: rack/No_Type, zone: eu-1c}
"""

pytestmark = pytest.mark.scenario(SCENARIO)


def test_csinode_has_id_topology_keys_and_limit_and_the_node_has_its_labels(
    driver: MockDriver, node: StartNode
) -> None:
    small = node("i-small")

    assert small.registered(driver.name) == {
        "name": driver.name,
        "nodeID": "i-small",
        "topologyKeys": [f"topology.{driver.name}/region", f"topology.{driver.name}/zone"],
        # 5 slots less the disk out of band; the two that Kubernetes may have published stay in.
        "allocatable": {"count": 4},
    }
    labels = small.labels()
    assert labels[f"topology.{driver.name}/zone"] == "eu-1a"
    assert labels[f"topology.{driver.name}/region"] == "eu-1"


def test_each_node_has_an_instance_a_type_and_a_zone_of_its_own(
    driver: MockDriver, nodes: StartNodes
) -> None:
    untyped = "rack/No_Type"
    machines = nodes("i-small", "i-large", untyped)

    entries = [machine.wait_until_registered(driver.name) for machine in machines]
    assert [entry["nodeID"] for entry in entries] == ["i-small", "i-large", untyped]
    assert [machine.allocatable_count(driver.name) for machine in machines] == [
        4,
        22,  # 25 slots less 2 interfaces and the boot disk
        None,  # no type, no limit
    ]
    zones = [machine.labels()[f"topology.{driver.name}/zone"] for machine in machines]
    assert zones == ["eu-1a", "eu-1b", "eu-1c"]


def test_a_driver_that_stops_leaves_csinode_and_comes_back_with_it(
    driver: MockDriver, node: StartNode
) -> None:
    small = node("i-small")

    assert driver.stop() == 0
    wait_until(lambda: small.registered(driver.name) is None, "the driver has left CSINode")
    driver.start()
    assert small.wait_until_registered(driver.name)["nodeID"] == "i-small"


def test_a_driver_that_is_killed_is_registered_anew_when_it_is_back(
    driver: MockDriver, node: StartNode
) -> None:
    small = node("i-small")
    asked = len(driver.calls.wait_for("NodeGetInfo"))

    driver.kill()
    driver.start()

    driver.calls.wait_for("NodeGetInfo", more_than=asked)
    assert small.wait_until_registered(driver.name)["nodeID"] == "i-small"


def test_a_kubelet_that_is_killed_finds_the_driver_again(
    driver: MockDriver, node: StartNode
) -> None:
    small = node("i-small")
    asked = len(driver.calls.wait_for("NodeGetInfo"))

    small.kill()
    small.start()

    driver.calls.wait_for("NodeGetInfo", more_than=asked)
    assert small.wait_until_registered(driver.name)["nodeID"] == "i-small"


def test_the_api_server_refuses_a_period_under_10_seconds(
    driver: MockDriver, namespace: Namespace
) -> None:
    with pytest.raises(ApiError, match="must be greater than or equal to 10") as refusal:
        namespace.create(csi_driver(driver.name, nodeAllocatableUpdatePeriodSeconds=9))

    assert refusal.value.code == 422


def test_the_kubelet_asks_again_in_the_period_that_csidriver_sets(
    driver: MockDriver, node: StartNode, namespace: Namespace
) -> None:
    namespace.create(csi_driver(driver.name, nodeAllocatableUpdatePeriodSeconds=10))
    node("i-small")
    asked = len(driver.calls.wait_for("NodeGetInfo"))

    driver.calls.wait_for("NodeGetInfo", more_than=asked + 1)
