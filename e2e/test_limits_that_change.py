"""The limit of a node changes while it runs: CSINode follows, and pods that it breaks fail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from e2e.cluster.bench import Bench
from e2e.cluster.cluster import Cluster
from e2e.cluster.hollow_node import HollowNode
from e2e.cluster.mock_driver import MockDriver
from e2e.cluster.namespace import Namespace
from e2e.cluster.waiting import wait_until
from e2e.fixtures import StartNodes
from e2e.objects.kinds import POD, Json
from e2e.objects.volumes import csi_driver

THREE_MACHINES = """
scenario: three-machines
cloud:
  instance_types: {t: {slots: 5, network_interfaces_share_slots: true}}
  instances:
    - {id: i-net, type: t, network_interfaces: 1}
    - {id: i-disk, type: t, network_interfaces: 1}
    - {id: i-less, type: t, network_interfaces: 1, attached: [vol-by-hand]}
"""

TWO_SLOTS = """
scenario: two-slots
cloud:
  instance_types: {t: {slots: 2}}
  instances: [{id: i-1, type: t}]
  disks: [{id: vol-held}, {id: vol-late}]
"""

OFTEN_SECONDS = 10
"""The least that the API server allows."""

NOT_IN_THIS_TEST_SECONDS = 600

KUBELET_GIVES_UP_SECONDS = 200.0
"""Longer than a kubelet waits for a volume: 2 minutes and 3 seconds, a constant in its code."""


@pytest.mark.scenario(THREE_MACHINES)
def test_csinode_follows_interfaces_and_disks_that_come_and_go_out_of_band(
    driver: MockDriver, nodes: StartNodes, namespace: Namespace
) -> None:
    namespace.create(csi_driver(driver.name, nodeAllocatableUpdatePeriodSeconds=OFTEN_SECONDS))
    machines = nodes("i-net", "i-disk", "i-less")
    assert [machine.allocatable_count(driver.name) for machine in machines] == [4, 4, 3]

    driver.control.cloud.add_network_interface("i-net")
    driver.control.cloud.attach("i-disk", "vol-surprise")
    driver.control.cloud.detach("i-less", "vol-by-hand")
    newest = driver.control.calls.list(limit=1)[0].sequence

    for machine, count in zip(machines, [3, 3, 4], strict=True):
        wait_for_count(machine, driver, count)
        # It took one period: the first question after the change had the answer.
        asked = driver.control.calls.list(rpc="NodeGetInfo", node_id=machine.instance, after=newest)
        assert asked[0].response["max_volumes_per_node"] == count


class FullNode:
    """A node that is full, which its CSINode does not say, with a pod that wants one more disk.

    The kubelet needs two minutes to find out; meanwhile other tests run.
    """

    def __init__(self, bench: Bench) -> None:
        self.driver = bench.driver
        self.namespace = bench.namespace
        self.namespace.create(
            csi_driver(
                self.driver.name, nodeAllocatableUpdatePeriodSeconds=NOT_IN_THIS_TEST_SECONDS
            )
        )
        bench.start_sidecar("csi-attacher")
        (self.machine,) = bench.start_nodes(["i-1"])
        for disk in ("vol-held", "vol-late"):
            self.namespace.claim_disk(disk)
        self.namespace.start_pod("held", claims=["vol-held"])
        self.namespace.wait_until_ready("held")
        self.driver.control.cloud.attach("i-1", "vol-by-hand")
        self.namespace.start_pod("late", claims=["vol-late"])

    def attach_error(self) -> Json | None:
        """Return why the disk of the late pod could not be attached, once that is known."""
        attachment = self.namespace.attachment_of("vol-late") or {}
        error: Json | None = attachment.get("status", {}).get("attachError")
        return error


@pytest.fixture(scope="session")
def full_node_bench(cluster: Cluster) -> Iterator[Bench]:
    """A bench of the session, whose driver has two slots."""
    with cluster.bench() as bench:
        file = bench.folder / "scenario.yaml"
        file.write_text(TWO_SLOTS, encoding="utf-8")
        bench.start_driver(file)
        yield bench


@pytest.fixture(scope="session")
def full_node(full_node_bench: Bench) -> FullNode:
    """A node that is full, for both tests of what follows; only looked at."""
    return FullNode(full_node_bench)


@pytest.mark.early
def test_an_attach_that_finds_no_slot_has_the_error_code_8(full_node: FullNode) -> None:
    error = wait_until(full_node.attach_error, "the VolumeAttachment has an error")

    assert error["errorCode"] == 8, error  # RESOURCE_EXHAUSTED
    refused = full_node.driver.control.calls.list(
        rpc="ControllerPublishVolume", code="RESOURCE_EXHAUSTED"
    )
    assert refused[0].request["volume_id"] == "vol-late"
    assert refused[0].message in error["message"]
    assert not full_node.namespace.is_ready("late")


@pytest.mark.slow
def test_a_kubelet_that_gives_up_asks_for_the_limit_again_and_fails_the_pod(
    full_node: FullNode,
) -> None:
    driver, namespace = full_node.driver, full_node.namespace
    wait_until(full_node.attach_error, "the VolumeAttachment has an error")

    pod = wait_until(
        lambda: failed(namespace, "late"), "pod late has failed", KUBELET_GIVES_UP_SECONDS
    )

    assert pod["reason"] == "VolumeAttachmentLimitExceeded"
    assert full_node.machine.allocatable_count(driver.name) == 1
    driver.control.calls.expect(
        in_this_order=[
            {"rpc": "NodeGetInfo", "response": {"max_volumes_per_node": 2}},
            {"rpc": "ControllerPublishVolume", "code": "RESOURCE_EXHAUSTED"},
            {"rpc": "NodeGetInfo", "response": {"max_volumes_per_node": 1}},
        ]
    ).require()
    assert namespace.is_ready("held")
    assert [a.disk for a in driver.control.cloud.attachments()] == ["vol-held", "vol-by-hand"]


def wait_for_count(machine: HollowNode, driver: MockDriver, count: int) -> None:
    """Return when CSINode has this limit."""
    wait_until(
        lambda: machine.allocatable_count(driver.name) == count,
        f"CSINode {machine.name} has the limit {count}",
    )


def failed(namespace: Namespace, pod: str) -> Json | None:
    """Return the status of a pod once it has failed."""
    status: Json = namespace.get(POD, pod)["status"]
    return status if status.get("phase") == "Failed" else None
