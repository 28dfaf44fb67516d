"""KEP-6011's worked example, to the number, by a program that knows nothing of us."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import Serve
from tests.go.asking import MOUNT, Asker, publish

pytestmark = pytest.mark.go

NODE = "i-worker-1"
RESOURCE_EXHAUSTED = 8


@pytest.fixture
def asker(grpcurl: Path, serve: Serve) -> Asker:
    """The default scenario, told nothing."""
    return Asker(grpcurl, serve().path)


def node_info(asker: Asker) -> tuple[int, int]:
    """Return what ControllerGetNodeInfo says: the limit, and how many ids."""
    answer = asker.ask("Controller/ControllerGetNodeInfo", {"node_id": NODE})
    ids = answer["published_volume_ids"]
    assert len(ids) == len(set(ids))
    return int(answer["max_volumes_per_node"]), len(ids)


@pytest.mark.slow
def test_the_worked_example_comes_out_to_the_number(asker: Asker) -> None:
    flagged = asker.ask("Node/NodeGetInfo", {"controller_get_node_info": True})
    assert flagged == {"node_id": NODE}, "node_id and nothing else"

    assert node_info(asker) == (23, 10)

    volumes = [asker.create(f"pvc-{n}") for n in range(14)]
    for volume in volumes[:13]:
        assert asker.ask("Controller/ControllerPublishVolume", publish(volume, NODE)) == {}

    refused = asker.fail("Controller/ControllerPublishVolume", publish(volumes[13], NODE))
    assert refused.code == RESOURCE_EXHAUSTED
    assert "25 slots" in refused.message
    assert node_info(asker) == (23, 23)

    repeated = asker.ask("Controller/ControllerPublishVolume", publish(volumes[0], NODE))
    assert repeated == {}, "a repeat of an earlier publish is OK on a full node"
    of_the_scenario = publish("i-worker-1-published-1", NODE)
    assert asker.ask("Controller/ControllerPublishVolume", of_the_scenario) == {}

    leaving = {"volume_id": volumes[0], "node_id": NODE}
    assert asker.ask("Controller/ControllerUnpublishVolume", leaving) == {}
    assert asker.ask("Controller/ControllerPublishVolume", publish(volumes[13], NODE)) == {}


def test_the_ids_are_those_of_the_scenario_whoever_attached_them(asker: Asker) -> None:
    answer = asker.ask("Controller/ControllerGetNodeInfo", {"node_id": NODE})

    assert set(answer["published_volume_ids"]) == {
        "vol-boot",
        "vol-manual",
        *(f"{NODE}-published-{n}" for n in range(1, 9)),
    }


def test_topology_is_the_same_in_both_flows(asker: Asker) -> None:
    from_node = asker.ask("Node/NodeGetInfo", {})
    from_controller = asker.ask("Controller/ControllerGetNodeInfo", {"node_id": NODE})

    assert from_node["accessible_topology"] == from_controller["accessible_topology"]
    assert from_node["accessible_topology"]["segments"] == {
        "topology.mock.csi.example.com/zone": "region-1a",
        "topology.mock.csi.example.com/region": "region-1",
    }
    # 23, less what is out of band: boot disk and manual disk.
    assert from_node["max_volumes_per_node"] == "21"


def test_a_volume_is_made_as_it_is_asked_for(asker: Asker) -> None:
    request = {
        "name": "pvc-sized",
        "capacity_range": {"required_bytes": 5 * 1024**3},
        "volume_capabilities": [MOUNT],
    }

    volume = asker.ask("Controller/CreateVolume", request)["volume"]

    assert volume["capacity_bytes"] == str(5 * 1024**3)
    assert volume["volume_id"] == asker.create("pvc-sized")
