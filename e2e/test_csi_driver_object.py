"""What the CSIDriver object says changes what kubelet and controllers do."""

from __future__ import annotations

import pytest

from e2e.cluster.mock_driver import MockDriver
from e2e.cluster.namespace import Namespace
from e2e.cluster.sidecars import Sidecar
from e2e.fixtures import StartNode
from e2e.objects.kinds import POD
from e2e.objects.volumes import csi_driver

SCENARIO = """
scenario: one-node
cloud:
  instance_types: {t: {slots: 4}}
  instances: [{id: i-1, type: t}]
  disks: [{id: vol-1}]
"""

NO_ATTACHING = "--capability=PUBLISH_UNPUBLISH_VOLUME=off"


@pytest.mark.scenario(SCENARIO, NO_ATTACHING)
def test_without_attach_required_a_pod_runs_and_nothing_is_attached(
    driver: MockDriver, node: StartNode, namespace: Namespace
) -> None:
    namespace.create(csi_driver(driver.name, attachRequired=False))
    node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"])
    namespace.wait_until_ready("pod")

    assert namespace.attachments() == []
    namespace.delete(POD, "pod")
    assert driver.calls.order("vol-1", until="NodeUnstageVolume") == [
        "NodeStageVolume",
        "NodePublishVolume",
        "NodeUnpublishVolume",
        "NodeUnstageVolume",
    ]


@pytest.mark.scenario(SCENARIO)
def test_with_pod_info_on_mount_the_driver_is_told_which_pod_it_is_for(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    namespace.create(csi_driver(driver.name, podInfoOnMount=True))
    node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"])
    namespace.wait_until_ready("pod")

    (published, *_) = driver.calls.wait_for("NodePublishVolume")
    assert published.request["volume_context"] == {
        "csi.storage.k8s.io/pod.name": "pod",
        "csi.storage.k8s.io/pod.namespace": namespace.name,
        "csi.storage.k8s.io/pod.uid": namespace.get(POD, "pod")["metadata"]["uid"],
        "csi.storage.k8s.io/serviceAccount.name": "",
        "csi.storage.k8s.io/ephemeral": "false",
    }
