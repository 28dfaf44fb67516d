"""Pods and their volumes: attached, staged, published, and all of it back."""

from __future__ import annotations

import pytest

from e2e.cluster.mock_driver import MockDriver
from e2e.cluster.namespace import Namespace
from e2e.cluster.sidecars import Sidecar
from e2e.fixtures import StartNode
from e2e.objects.kinds import POD

SCENARIO = """
scenario: one-node
cloud:
  instance_types: {t: {slots: 4}}
  instances: [{id: i-1, type: t, zone: region-1a}]
  disks: [{id: vol-1}]
"""

pytestmark = pytest.mark.scenario(SCENARIO)


def test_a_pod_gets_its_volume_and_gives_it_back_in_order(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"])
    namespace.wait_until_ready("pod")
    namespace.delete_and_wait(POD, "pod")
    namespace.wait_until_nothing_is_attached()

    assert driver.calls.order("vol-1", until="ControllerUnpublishVolume") == [
        "ControllerPublishVolume",
        "NodeStageVolume",
        "NodePublishVolume",
        "NodeUnpublishVolume",
        "NodeUnstageVolume",
        "ControllerUnpublishVolume",
    ]
