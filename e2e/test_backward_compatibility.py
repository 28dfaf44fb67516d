"""Kubelet, attacher and provisioner that do not know KEP-6011 work with a driver that has it.

The KEP demands it ("Version Skew Strategy"): a driver may advertise GET_NODE_INFO and
NODE_INFO_FROM_CONTROLLER before any CO knows them.
"""

from __future__ import annotations

import pytest

from e2e.cluster.hollow_node import HollowNode
from e2e.cluster.mock_driver import MockDriver
from e2e.cluster.namespace import Namespace
from e2e.cluster.sidecars import Sidecar
from e2e.cluster.waiting import wait_until
from e2e.fixtures import StartNode
from e2e.objects.kinds import CLAIM, POD, VOLUME
from e2e.objects.volumes import claim_of_class, storage_class

SCENARIO = """
scenario: one-node
cloud:
  instance_types: {t: {slots: 25, network_interfaces_share_slots: true}}
  instances:
    - {id: i-1, type: t, network_interfaces: 2, boot_disk: vol-boot, attached: 1, published: 8}
"""

BEFORE_THE_KEP = ("--capability=GET_NODE_INFO=off", "--capability=NODE_INFO_FROM_CONTROLLER=off")
MISLEADING = ("--node-info-reply=misleading",)


def advertised(driver: MockDriver, rpc: str) -> set[str]:
    """Return the names of the capabilities that a client got from this RPC."""
    answer = driver.calls.of(rpc, code="OK")[0].response
    return {item["rpc"]["type"] for item in answer["capabilities"]}


def live_and_die(driver: MockDriver, machine: HollowNode, namespace: Namespace) -> list[str]:
    """Let a pod with a new volume run and go; return the RPCs that were called for the volume."""
    namespace.create(storage_class(namespace.name, driver=driver.name))
    namespace.create(claim_of_class("claim", namespace.name))
    namespace.start_pod("pod", claims=["claim"])
    namespace.wait_until_ready("pod")
    volume = namespace.get(CLAIM, "claim")["spec"]["volumeName"]
    disk = namespace.get(VOLUME, volume)["spec"]["csi"]["volumeHandle"]
    namespace.delete_and_wait(POD, "pod")
    namespace.delete(CLAIM, "claim")
    wait_until(lambda: namespace.find(VOLUME, volume) is None, "the volume is gone")
    assert machine.allocatable_count(driver.name) == 21  # 23 less vol-boot and one out of band
    return driver.calls.order(disk, until="DeleteVolume")


@pytest.mark.parametrize(
    "options",
    [
        pytest.param((), marks=pytest.mark.scenario(SCENARIO), id="with-the-kep"),
        pytest.param(
            BEFORE_THE_KEP, marks=pytest.mark.scenario(SCENARIO, *BEFORE_THE_KEP), id="before-it"
        ),
        # An answer that only a flagged NodeGetInfo gets must not reach anybody here.
        pytest.param(
            MISLEADING, marks=pytest.mark.scenario(SCENARIO, *MISLEADING), id="misleading"
        ),
    ],
)
def test_the_life_of_a_pod_is_the_same_with_and_without_the_kep_s_capabilities(
    driver: MockDriver,
    attacher: Sidecar,
    provisioner: Sidecar,
    node: StartNode,
    namespace: Namespace,
    options: tuple[str, ...],
) -> None:
    machine = node("i-1")

    called = live_and_die(driver, machine, namespace)

    assert called == [
        "CreateVolume",
        "ControllerPublishVolume",
        "NodeStageVolume",
        "NodePublishVolume",
        "NodeUnpublishVolume",
        "NodeUnstageVolume",
        "ControllerUnpublishVolume",
        "DeleteVolume",
    ]
    has_them = options is not BEFORE_THE_KEP
    assert ("GET_NODE_INFO" in advertised(driver, "ControllerGetCapabilities")) is has_them
    assert ("NODE_INFO_FROM_CONTROLLER" in advertised(driver, "NodeGetCapabilities")) is has_them
    assert driver.calls.of("ControllerGetNodeInfo") == []
    asked = driver.calls.of("NodeGetInfo")
    assert asked
    assert [call.request for call in asked] == [{}] * len(asked)
    assert {entry.code for entry in driver.calls.all()} == {"OK"}
