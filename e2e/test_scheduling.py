"""The scheduler believes what CSINode and volumes say: limits and zones."""

from __future__ import annotations

import pytest

from e2e.cluster.mock_driver import MockDriver
from e2e.cluster.namespace import Namespace
from e2e.cluster.sidecars import Sidecar
from e2e.cluster.waiting import wait_until
from e2e.fixtures import StartNode, StartNodes
from e2e.objects.kinds import POD
from e2e.objects.volumes import node_affinity

ONE_SLOT = """
scenario: one-slot
cloud:
  instance_types: {t: {slots: 1}}
  instances: [{id: i-1, type: t}]
  disks: [{id: vol-1}, {id: vol-2}]
"""

TWO_ZONES = """
scenario: two-zones
cloud:
  region: eu-1
  instance_types: {t: {slots: 4}}
  instances:
    - {id: i-a, type: t, zone: eu-1a}
    - {id: i-b, type: t, zone: eu-1b}
  disks:
    - {id: vol-a, zone: eu-1a}
    - {id: vol-b, zone: eu-1b}
"""


def refusal(namespace: Namespace, pod: str) -> str | None:
    """Return why the scheduler has no node for a pod, if it said so."""
    scheduled = namespace.pod_conditions(pod).get("PodScheduled", {})
    message: str | None = scheduled.get("message") if scheduled.get("status") == "False" else None
    return message


@pytest.mark.scenario(ONE_SLOT)
def test_a_pod_past_the_limit_waits_and_runs_when_a_slot_is_free(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    assert node("i-1").allocatable_count(driver.name) == 1
    for disk in ("vol-1", "vol-2"):
        namespace.claim_disk(disk)
    namespace.start_pod("first", claims=["vol-1"])
    namespace.wait_until_ready("first")
    namespace.start_pod("second", claims=["vol-2"])

    message = wait_until(lambda: refusal(namespace, "second"), "the scheduler's refusal")
    assert "exceed max volume count" in message
    assert driver.calls.of("ControllerPublishVolume", volume_id="vol-2") == []

    namespace.delete(POD, "first")
    namespace.wait_until_ready("second")
    assert driver.calls.of("ControllerPublishVolume", code="RESOURCE_EXHAUSTED") == []


@pytest.mark.scenario(TWO_ZONES)
def test_a_pod_runs_in_the_zone_of_its_volume(
    driver: MockDriver, attacher: Sidecar, nodes: StartNodes, namespace: Namespace
) -> None:
    in_a, in_b = nodes("i-a", "i-b")
    zone_key = f"topology.{driver.name}/zone"
    for disk, zone in (("vol-a", "eu-1a"), ("vol-b", "eu-1b")):
        namespace.claim_disk(disk, nodeAffinity=node_affinity(zone_key, zone))
        namespace.start_pod(f"with-{disk}", claims=[disk])

    namespace.wait_until_ready("with-vol-a", "with-vol-b")

    assert namespace.node_of("with-vol-a") == in_a.name
    assert namespace.node_of("with-vol-b") == in_b.name
    for disk, instance in (("vol-a", "i-a"), ("vol-b", "i-b")):
        (published, *_) = driver.calls.wait_for("ControllerPublishVolume", volume_id=disk)
        assert published.request["node_id"] == instance


@pytest.mark.scenario(TWO_ZONES)
def test_a_pod_with_volumes_of_two_zones_runs_nowhere(
    driver: MockDriver, attacher: Sidecar, nodes: StartNodes, namespace: Namespace
) -> None:
    nodes("i-a", "i-b")
    zone_key = f"topology.{driver.name}/zone"
    for disk, zone in (("vol-a", "eu-1a"), ("vol-b", "eu-1b")):
        namespace.claim_disk(disk, nodeAffinity=node_affinity(zone_key, zone))
    namespace.start_pod("torn", claims=["vol-a", "vol-b"])

    message = wait_until(lambda: refusal(namespace, "torn"), "the scheduler's refusal")

    assert "didn't match PersistentVolume's node affinity" in message
