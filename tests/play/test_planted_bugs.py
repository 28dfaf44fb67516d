"""Bugs planted in the program, one at a time: the shipped stories notice each of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.cloud import InstanceDescription, attaching, slots
from mockdriver.cloud.core import CloudCore
from mockdriver.co import registration
from mockdriver.co.volume_records import VolumeRecords
from mockdriver.driver import node_info
from mockdriver.driver.cloud_client import CloudClient
from mockdriver.driver.fault_layer import FaultLayer
from mockdriver.driver.node import NodeService
from mockdriver.driver.topology import TopologyKeys
from mockdriver.faults.engine import FaultEngine
from mockdriver.play import play
from mockdriver.scenario import shipped
from mockdriver.scenario.load import load
from tests.planting import Plant, replaced


def failed_stories() -> set[str]:
    """Play all shipped stories; return the names of those that do not go well."""
    results = [result for name in shipped.names() for result in play(load(name))]
    return {Path(result.file).stem for result in results if not result.passed}


def do_nothing(*arguments: Any, **keywords: Any) -> None:
    """Stand in for what forgets to do its work."""


def believe_the_node(node: Any, controller: Any, records: Any, call: Any, pause: Any) -> Any:
    """Register by what the node says to the flag, as a CO must not."""
    answer = call(node.node.NodeGetInfo, csi_pb2.NodeGetInfoRequest(controller_get_node_info=True))
    if not answer.ok:
        return registration.Lookup(answer)
    info = answer.response
    view = registration.NodeView(
        node_id=info.node_id,
        max_volumes_per_node=info.max_volumes_per_node,
        accessible_topology=dict(info.accessible_topology.segments),
    )
    return registration.Lookup(answer, view)


def without_region(keys: TopologyKeys, zone: str, region: str) -> csi_pb2.Topology:
    return csi_pb2.Topology(segments={keys.zone: zone})


BUGS: dict[str, tuple[Plant, set[str]]] = {
    "the cloud attaches past the slots": (
        replaced(attaching, "_refuse_past_slots", do_nothing),
        {
            "kep-6011-example",
            "resource-exhausted",
            "out-of-band-attach",
            "network-interface-added",
            "boot-disk-outside-budget",
            "dedicated-slots",
            "misleading-node-reply",
        },
    ),
    "the cloud attaches a disk anywhere": (
        replaced(attaching, "_refuse_elsewhere", do_nothing),
        {"three-zones", "out-of-band-attach"},
    ),
    "a full instance reports no limit": (
        replaced(slots, "at_least_one", lambda limit: max(0, limit)),
        {"dedicated-slots"},
    ),
    "interfaces use no slots": (
        replaced(slots, "interfaces_using_slots", lambda type_, network_interfaces: 0),
        {"kep-6011-example", "network-interface-added", "dedicated-slots"},
    ),
    "interfaces always use slots": (
        replaced(slots, "interfaces_using_slots", lambda type_, count: count),
        {"dedicated-slots", "boot-disk-outside-budget", "out-of-band-attach"},
    ),
    "boot disks are always listed": (
        replaced(InstanceDescription, "attachments_using_slots", lambda self, _: self.attachments),
        {"boot-disk-outside-budget"},
    ),
    "the plain flow forgets what is out of band": (
        replaced(
            node_info,
            "plain_flow",
            lambda description, type_: (
                node_info.controller_flow(description, type_).max_volumes_per_node
            ),
        ),
        {"boot-disk-outside-budget", "out-of-band-attach", "misleading-node-reply", "three-zones"},
    ),
    "publishing adopts nothing": (
        replaced(attaching, "adopt", lambda store, attachment, tags: attachment),
        {"out-of-band-attach"},
    ),
    "unpublish does not wait": (
        replaced(CloudClient, "wait_until_detached", do_nothing),
        {"resource-exhausted"},
    ),
    "topology has no region": (
        replaced(TopologyKeys, "of_zone", without_region),
        {"kep-6011-example", "three-zones", "misleading-node-reply"},
    ),
    "volumes are made in any zone": (
        replaced(TopologyKeys, "zones_to_try", lambda *_: []),
        {"three-zones"},
    ),
    "the CO believes the node": (
        replaced(registration, "register", believe_the_node),
        {"misleading-node-reply", "kep-6011-example"},
    ),
    "the CO subtracts its own volumes": (
        replaced(
            registration,
            "effective_limit",
            lambda limit, published, managed: max(0, limit - len(list(published))),
        ),
        {"kep-6011-example", "resource-exhausted", "network-interface-added"},
    ),
    "the CO takes no limit for none left": (
        replaced(
            registration,
            "effective_limit",
            lambda limit, published, managed: max(0, limit - len(set(published) - managed)),
        ),
        {"kep-6011-example"},
    ),
    "the CO remembers nothing": (
        replaced(VolumeRecords, "remember", do_nothing),
        {"kep-6011-example", "out-of-band-attach", "resource-exhausted"},
    ),
    "the CO forgets what it processes during a lookup": (
        replaced(VolumeRecords, "_record", do_nothing),
        {"race-attach-during-lookup"},
    ),
    "no fault ever acts": (
        replaced(FaultEngine, "choose", do_nothing),
        {
            "race-attach-during-lookup",
            "attach-fails-twice",
            "node-info-unavailable-at-registration",
        },
    ),
    "a fault loses the work, not the answer": (
        replaced(FaultLayer, "_after", FaultLayer._before),
        {"race-attach-during-lookup", "attach-fails-twice"},
    ),
    "the node always answers in full, and with its own limit": (
        replaced(NodeService, "NodeGetCapabilities", lambda *_: no_capabilities()),
        {"kep-6011-example", "misleading-node-reply", "resource-exhausted"},
    ),
    "detaching leaves the disk where it is": (
        replaced(CloudCore, "detach", do_nothing),
        {"kep-6011-example", "resource-exhausted", "network-interface-added"},
    ),
}


def no_capabilities() -> csi_pb2.NodeGetCapabilitiesResponse:
    return csi_pb2.NodeGetCapabilitiesResponse()


def test_without_a_bug_all_stories_go_well() -> None:
    assert failed_stories() == set()


@pytest.mark.slow
@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_noticed(bug: str, monkeypatch: pytest.MonkeyPatch) -> None:
    plant, noticed_by = BUGS[bug]
    plant(monkeypatch)

    missing = noticed_by - failed_stories()

    assert missing == set(), f"{bug}, and these stories do not notice"
