"""Drivers, kubelets and nodes that go away while volumes are on their way."""

from __future__ import annotations

from pathlib import Path

import pytest

from e2e.cluster.mock_driver import MockDriver
from e2e.cluster.namespace import Namespace
from e2e.cluster.sidecars import Sidecar
from e2e.cluster.waiting import wait_until
from e2e.fixtures import StartNode
from e2e.objects.kinds import NODE, POD

SCENARIO = """
scenario: one-node
cloud:
  instance_types: {t: {slots: 4}}
  instances: [{id: i-1, type: t}]
  disks: [{id: vol-1}]
"""

SLOW_ATTACH = SCENARIO + "  transitions: {attach: after 3s}\n"

OUT_OF_SERVICE = {"key": "node.kubernetes.io/out-of-service", "effect": "NoExecute"}


@pytest.mark.scenario(SCENARIO)
def test_a_volume_is_detached_although_its_node_object_is_gone(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    machine = node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"])
    namespace.wait_until_ready("pod")
    attacher.stop()
    namespace.delete(POD, "pod")
    wait_until(lambda: _is_being_deleted(namespace, "vol-1"), "the controller wants it detached")

    machine.kill()
    namespace.delete(NODE, machine.name)
    wait_until(lambda: machine.registered(driver.name) is None, "CSINode has gone with the node")
    assert driver.calls.of("ControllerUnpublishVolume") == []
    attacher.start()

    namespace.wait_until_nothing_is_attached()
    (unpublished, *_) = driver.calls.wait_for("ControllerUnpublishVolume")
    assert unpublished.request == {"volume_id": "vol-1", "node_id": "i-1"}


@pytest.mark.scenario(SCENARIO)
def test_a_node_that_is_out_of_service_is_not_waited_for(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    machine = node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"])
    namespace.wait_until_ready("pod")

    machine.kill()
    namespace.api.change(NODE, machine.name, {"spec": {"taints": [OUT_OF_SERVICE]}})
    namespace.api.delete(POD, "pod", namespace.name, at_once=True)

    namespace.wait_until_nothing_is_attached()
    assert driver.calls.of("NodeUnstageVolume") == []
    assert driver.calls.wait_for("ControllerUnpublishVolume", volume_id="vol-1")


@pytest.mark.scenario(SCENARIO)
def test_a_kubelet_that_is_killed_takes_down_what_it_published_before(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    machine = node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"])
    namespace.wait_until_ready("pod")

    machine.kill()
    machine.start()
    machine.wait_until_registered(driver.name)
    namespace.delete(POD, "pod")

    namespace.wait_until_nothing_is_attached()
    assert driver.calls.wait_for("NodeUnpublishVolume")
    assert driver.calls.wait_for("NodeUnstageVolume")


@pytest.mark.scenario(SLOW_ATTACH)
def test_a_driver_that_is_killed_in_the_middle_of_an_attach_attaches_when_it_is_back(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"])
    attacher.process.wait_for_words("Starting attach operation")

    driver.kill()
    attacher.start_again_after_its_end()
    assert driver.calls.of("ControllerPublishVolume") == []
    driver.start()

    namespace.wait_until_ready("pod")
    namespace.delete(POD, "pod")
    namespace.wait_until_nothing_is_attached()
    assert driver.calls.wait_for("ControllerUnpublishVolume")
    assert {call.code for call in driver.calls.of("ControllerPublishVolume")} == {"OK"}


@pytest.mark.scenario(SCENARIO)
def test_a_driver_that_is_killed_while_a_volume_is_in_use_takes_it_down_when_it_is_back(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"])
    namespace.wait_until_ready("pod")
    (published, *_) = driver.calls.wait_for("NodePublishVolume")

    driver.kill()
    driver.start()
    namespace.delete(POD, "pod")
    attacher.start_again_after_its_end()  # with its next call, the one to unpublish

    namespace.wait_until_nothing_is_attached()
    for rpc in ("NodeUnpublishVolume", "NodeUnstageVolume", "ControllerUnpublishVolume"):
        assert driver.calls.wait_for(rpc)
    assert not Path(published.request["target_path"]).exists()


def _is_being_deleted(namespace: Namespace, disk: str) -> bool:
    attachment = namespace.attachment_of(disk)
    return attachment is not None and "deletionTimestamp" in attachment["metadata"]
