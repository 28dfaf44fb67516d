"""Calls of the driver that fail, lose their answer or hang: nothing is done twice or left behind.

The driver has the capabilities of KEP-6011, as it has by default; the first test is also without.
"""

from __future__ import annotations

import pytest

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
  instance_types: {t: {slots: 4}}
  instances: [{id: i-1, type: t}]
  disks: [{id: vol-1}]
"""

BEFORE_THE_KEP = ("--capability=GET_NODE_INFO=off", "--capability=NODE_INFO_FROM_CONTROLLER=off")

pytestmark = pytest.mark.scenario(SCENARIO)


def attached_disks(driver: MockDriver) -> list[str]:
    """Return what is attached in the cloud."""
    return [attachment.disk for attachment in driver.control.cloud.attachments()]


def disks(driver: MockDriver) -> list[str]:
    """Return the disks that the cloud has beside the one of the scenario."""
    return [disk.id for disk in driver.control.cloud.disks() if disk.id != "vol-1"]


def attachments_made(driver: MockDriver) -> int:
    """Return how many attachments there have ever been in the cloud, by making one more.

    The cloud gives each the next number. Calls of its API to attach count for nothing: the driver
    may repeat them, and the cloud takes the second for the first.
    """
    return driver.control.cloud.attach("i-1", "vol-to-count").number - 1


@pytest.mark.parametrize(
    "kep",
    [
        pytest.param(True, marks=pytest.mark.scenario(SCENARIO), id="with-the-kep"),
        pytest.param(
            False, marks=pytest.mark.scenario(SCENARIO, *BEFORE_THE_KEP), id="before-the-kep"
        ),
    ],
)
def test_an_attach_that_fails_twice_works_at_the_third_time(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace, kep: bool
) -> None:
    driver.control.faults.add(
        name="twice", rpc="ControllerPublishVolume", times=2, code="INTERNAL", message="no luck"
    )
    node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"])
    error = wait_until(lambda: attach_error(namespace, "vol-1"), "the attach has failed")
    namespace.wait_until_ready("pod")

    assert "no luck" in error
    driver.control.calls.expect(rpc="ControllerPublishVolume", fault="twice", exactly=2).require()
    assert attached_disks(driver) == ["vol-1"]
    assert attach_error(namespace, "vol-1") is None
    namespace.delete(POD, "pod")
    namespace.wait_until_nothing_is_attached()
    assert attached_disks(driver) == []
    assert attachments_made(driver) == 1
    assert has_get_node_info(driver) is kep
    driver.control.calls.expect(rpc="ControllerGetNodeInfo", never=True).require()


def test_an_attach_whose_answer_is_lost_is_not_made_twice(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    driver.control.faults.add(
        name="lost", rpc="ControllerPublishVolume", when="after", times=1, code="UNAVAILABLE"
    )
    node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"])
    namespace.wait_until_ready("pod")

    driver.control.calls.expect(
        in_this_order=[
            {"rpc": "ControllerPublishVolume", "code": "UNAVAILABLE", "fault": "lost"},
            {"rpc": "ControllerPublishVolume", "code": "OK"},
            "NodeStageVolume",
        ]
    ).require()
    assert attached_disks(driver) == ["vol-1"]
    namespace.delete(POD, "pod")
    namespace.wait_until_nothing_is_attached()
    assert attached_disks(driver) == []
    assert attachments_made(driver) == 1


def test_a_volume_whose_answer_is_lost_is_made_once(
    driver: MockDriver,
    attacher: Sidecar,
    provisioner: Sidecar,
    node: StartNode,
    namespace: Namespace,
) -> None:
    driver.control.faults.add(
        name="lost", rpc="CreateVolume", when="after", times=1, code="UNAVAILABLE"
    )
    node("i-1")
    namespace.create(storage_class(namespace.name, driver=driver.name))
    namespace.create(claim_of_class("claim", namespace.name))
    namespace.start_pod("pod", claims=["claim"])
    namespace.wait_until_ready("pod")

    driver.control.calls.expect(rpc="CreateVolume", fault="lost", exactly=1).require()
    (disk,) = disks(driver)
    volume = namespace.get(CLAIM, "claim")["spec"]["volumeName"]
    assert namespace.get(VOLUME, volume)["spec"]["csi"]["volumeHandle"] == disk
    namespace.delete(POD, "pod")
    namespace.delete(CLAIM, "claim")
    wait_until(lambda: namespace.find(VOLUME, volume) is None, "the volume is gone")
    assert disks(driver) == []


def test_a_claim_that_goes_before_its_volume_is_known_leaves_no_disk(
    driver: MockDriver, provisioner: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    driver.control.faults.add(
        name="lost", rpc="CreateVolume", when="after", calls=1, code="DEADLINE_EXCEEDED"
    )
    node("i-1")
    namespace.create(storage_class(namespace.name, driver=driver.name, wait=False))
    namespace.create(claim_of_class("claim", namespace.name))
    driver.control.calls.wait(rpc="CreateVolume", fault="lost", timeout_seconds=60)
    assert len(disks(driver)) == 1

    namespace.delete_and_wait(CLAIM, "claim")

    wait_until(lambda: not disks(driver), "no disk is left")
    driver.control.calls.expect(
        in_this_order=["CreateVolume", "CreateVolume", "DeleteVolume"]
    ).require()


def test_an_attach_that_hangs_while_pod_and_claim_go_is_undone(
    driver: MockDriver,
    attacher: Sidecar,
    provisioner: Sidecar,
    node: StartNode,
    namespace: Namespace,
) -> None:
    driver.control.faults.add(rpc="ControllerPublishVolume", hold="attaching")
    node("i-1")
    namespace.create(storage_class(namespace.name, driver=driver.name))
    namespace.create(claim_of_class("claim", namespace.name))
    namespace.start_pod("pod", claims=["claim"])
    driver.control.faults.wait_for_held("attaching", timeout_seconds=60)
    volume = namespace.get(CLAIM, "claim")["spec"]["volumeName"]

    namespace.delete(CLAIM, "claim")
    namespace.delete_and_wait(POD, "pod")
    driver.control.faults.clear()

    namespace.wait_until_nothing_is_attached()
    wait_until(lambda: namespace.find(VOLUME, volume) is None, "the volume is gone")
    assert attached_disks(driver) == []
    assert disks(driver) == []
    assert attachments_made(driver) == 1
    driver.control.calls.expect(
        in_this_order=[
            "ControllerPublishVolume",
            {"rpc": "ControllerUnpublishVolume", "code": "OK"},
            {"rpc": "DeleteVolume", "code": "OK"},
        ]
    ).require()
    driver.control.calls.expect(rpc="NodeStageVolume", never=True).require()


def test_a_driver_that_starts_again_in_the_middle_of_an_attach_goes_on_with_it(
    driver: MockDriver, attacher: Sidecar, node: StartNode, namespace: Namespace
) -> None:
    driver.control.cloud.set_transitions(attach="held")
    node("i-1")
    namespace.claim_disk("vol-1")
    namespace.start_pod("pod", claims=["vol-1"])
    wait_until(lambda: attached_disks(driver) == ["vol-1"], "the cloud is attaching vol-1")

    driver.control.state.restart_driver()
    driver.control.calls.wait(rpc="ControllerPublishVolume", code="RUNNING", timeout_seconds=60)
    driver.control.cloud.release()

    namespace.wait_until_ready("pod")
    driver.control.calls.expect(
        in_this_order=[
            {"rpc": "ControllerPublishVolume", "code": "UNAVAILABLE"},
            {"rpc": "ControllerPublishVolume", "code": "OK"},
        ]
    ).require()
    namespace.delete(POD, "pod")
    namespace.wait_until_nothing_is_attached()
    assert attached_disks(driver) == []
    driver.control.cloud.set_transitions(attach="immediately")
    assert attachments_made(driver) == 1


def attach_error(namespace: Namespace, disk: str) -> str | None:
    """Return the message of a VolumeAttachment's error, if it has one now."""
    attachment = namespace.attachment_of(disk) or {}
    message: str | None = attachment.get("status", {}).get("attachError", {}).get("message")
    return message


def has_get_node_info(driver: MockDriver) -> bool:
    """Tell whether the driver has told its sidecars that it has GET_NODE_INFO."""
    (answer, *_) = driver.control.calls.list(rpc="ControllerGetCapabilities", code="OK")
    return "GET_NODE_INFO" in {item["rpc"]["type"] for item in answer.response["capabilities"]}
