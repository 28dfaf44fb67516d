"""Volumes that csi-provisioner makes when a pod needs them."""

from __future__ import annotations

import pytest

from e2e.cluster.mock_driver import MockDriver
from e2e.cluster.namespace import Namespace
from e2e.cluster.sidecars import Sidecar
from e2e.cluster.waiting import wait_until
from e2e.fixtures import StartNodes
from e2e.objects.kinds import CLAIM, POD, VOLUME, Json
from e2e.objects.volumes import claim_of_class, storage_class

SCENARIO = """
scenario: two-zones
cloud:
  region: eu-1
  zones: [eu-1a, eu-1b]
  instance_types: {t: {slots: 4}}
  instances:
    - {id: i-a, type: t, zone: eu-1a}
    - {id: i-b, type: t, zone: eu-1b}
"""

pytestmark = pytest.mark.scenario(SCENARIO)


def volume_of(namespace: Namespace, claim: str) -> Json:
    """Return the volume that a claim is bound to."""
    name = namespace.get(CLAIM, claim)["spec"]["volumeName"]
    return namespace.get(VOLUME, name)


def test_a_claim_that_waits_is_provisioned_where_its_pod_runs(
    driver: MockDriver,
    attacher: Sidecar,
    provisioner: Sidecar,
    nodes: StartNodes,
    namespace: Namespace,
) -> None:
    zone_key = f"topology.{driver.name}/zone"
    _, in_b = nodes("i-a", "i-b")
    namespace.create(storage_class(namespace.name, driver=driver.name))
    namespace.create(claim_of_class("claim", namespace.name))
    namespace.start_pod("pod", claims=["claim"], nodeSelector={zone_key: "eu-1b"})
    namespace.wait_until_ready("pod")

    assert namespace.node_of("pod") == in_b.name
    volume = volume_of(namespace, "claim")
    (term,) = volume["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert {
        "key": zone_key,
        "operator": "In",
        "values": ["eu-1b"],
    } in term["matchExpressions"]
    (created,) = driver.calls.wait_for("CreateVolume")
    topology = created.response["volume"]["accessible_topology"]
    assert topology[0]["segments"][zone_key] == "eu-1b"


def test_a_claim_and_its_pod_that_go_take_the_volume_with_them(
    driver: MockDriver,
    attacher: Sidecar,
    provisioner: Sidecar,
    nodes: StartNodes,
    namespace: Namespace,
) -> None:
    nodes("i-a")
    namespace.create(storage_class(namespace.name, driver=driver.name))
    namespace.create(claim_of_class("claim", namespace.name))
    namespace.start_pod("pod", claims=["claim"])
    namespace.wait_until_ready("pod")
    volume = volume_of(namespace, "claim")
    disk = volume["spec"]["csi"]["volumeHandle"]

    namespace.delete(POD, "pod")
    namespace.delete(CLAIM, "claim")

    wait_until(
        lambda: namespace.find(VOLUME, volume["metadata"]["name"]) is None, "the volume is gone"
    )
    assert driver.calls.order(disk, until="DeleteVolume") == [
        "CreateVolume",
        "ControllerPublishVolume",
        "NodeStageVolume",
        "NodePublishVolume",
        "NodeUnpublishVolume",
        "NodeUnstageVolume",
        "ControllerUnpublishVolume",
        "DeleteVolume",
    ]
    assert namespace.attachments() == []


def test_a_claim_that_does_not_wait_is_provisioned_at_once(
    driver: MockDriver, provisioner: Sidecar, nodes: StartNodes, namespace: Namespace
) -> None:
    nodes("i-a", "i-b")
    namespace.create(storage_class(namespace.name, driver=driver.name, wait=False))
    namespace.create(claim_of_class("claim", namespace.name))

    wait_until(
        lambda: namespace.get(CLAIM, "claim")["status"].get("phase") == "Bound",
        "the claim is bound",
    )
    assert driver.calls.of("ControllerPublishVolume") == []
