"""What the CSIDriver object says changes what kubelet and controllers do."""

from __future__ import annotations

import os
from pathlib import Path

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


GROUP = 4711 if os.geteuid() == 0 else os.getgid()
"""Who is not root can give files to its own groups only."""


@pytest.mark.scenario(SCENARIO)
def test_with_volume_mount_group_the_driver_gets_the_pod_s_group(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    namespace.create(csi_driver(driver.name, fsGroupPolicy="File"))
    machine = node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"], securityContext={"fsGroup": GROUP})
    namespace.wait_until_ready("pod")

    for rpc in ("NodeStageVolume", "NodePublishVolume"):
        (call, *_) = driver.calls.wait_for(rpc, volume_id="vol-1")
        assert call.request["volume_capability"]["mount"]["volume_mount_group"] == str(GROUP)
    target = Path(driver.calls.of("NodePublishVolume")[0].request["target_path"])
    assert target.is_relative_to(machine.folder)
    assert target.stat().st_gid == GROUP


@pytest.mark.scenario(SCENARIO, "--capability=VOLUME_MOUNT_GROUP=off")
def test_without_volume_mount_group_the_kubelet_itself_changes_the_group(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    namespace.create(csi_driver(driver.name, fsGroupPolicy="File"))
    node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"], securityContext={"fsGroup": GROUP})
    namespace.wait_until_ready("pod")

    (published, *_) = driver.calls.wait_for("NodePublishVolume", volume_id="vol-1")
    assert "volume_mount_group" not in published.request["volume_capability"].get("mount", {})
    assert Path(published.request["target_path"]).stat().st_gid == GROUP


@pytest.mark.scenario(SCENARIO)
def test_a_driver_with_volume_mount_group_gets_the_group_whatever_the_policy_says(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    namespace.create(csi_driver(driver.name, fsGroupPolicy="None"))
    node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"], securityContext={"fsGroup": GROUP})
    namespace.wait_until_ready("pod")

    for rpc in ("NodeStageVolume", "NodePublishVolume"):
        driver.control.calls.expect(
            rpc=rpc,
            request={"volume_capability.mount.volume_mount_group": GROUP},
            at_least=1,
        ).require()


@pytest.mark.scenario(SCENARIO, "--capability=VOLUME_MOUNT_GROUP=off")
def test_with_the_policy_none_nobody_changes_the_group(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    namespace.create(csi_driver(driver.name, fsGroupPolicy="None"))
    node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"], securityContext={"fsGroup": os.getgid() + 4711})
    namespace.wait_until_ready("pod")

    (published, *_) = driver.control.calls.list(rpc="NodePublishVolume", code="OK")
    assert "volume_mount_group" not in published.request["volume_capability"].get("mount", {})
    assert Path(published.request["target_path"]).stat().st_gid == os.getgid()
