"""The Identity service: who the plugin is and which services it has."""

from __future__ import annotations

from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.driver.capabilities import (
    CONTROLLER_SERVICE,
    CREATE_DELETE_VOLUME,
    GET_CAPACITY,
    GET_NODE_INFO,
    GET_VOLUME,
    GET_VOLUME_STATS,
    LIST_VOLUMES,
    LIST_VOLUMES_PUBLISHED_NODES,
    NODE_INFO_FROM_CONTROLLER,
    NODE_SINGLE_NODE_MULTI_WRITER,
    PUBLISH_READONLY,
    PUBLISH_UNPUBLISH_VOLUME,
    SINGLE_NODE_MULTI_WRITER,
    STAGE_UNSTAGE_VOLUME,
    VOLUME_ACCESSIBILITY_CONSTRAINTS,
    VOLUME_MOUNT_GROUP,
    Capability,
)
from tests.driver.small_driver import SmallDriver, of

ADVERTISED_BY = {
    "plugin": "GetPluginCapabilities",
    "controller": "ControllerGetCapabilities",
    "node": "NodeGetCapabilities",
}


def advertised(driver: SmallDriver, service: str) -> list[int]:
    """Return the capability numbers that a service advertises, in its order."""
    response = of(driver.call(ADVERTISED_BY[service]))

    def number(item: Any) -> int:
        return int(item.service.type if service == "plugin" else item.rpc.type)

    return [number(item) for item in response.capabilities]


def test_the_plugin_has_a_name_and_a_version() -> None:
    response = of(SmallDriver().call("GetPluginInfo"))
    assert (response.name, response.vendor_version) == ("mock.csi.example.com", "1.2.3")


def test_the_plugin_is_ready_as_soon_as_it_answers() -> None:
    assert of(SmallDriver().call("Probe")).ready.value is True


def test_all_that_is_built_is_advertised() -> None:
    driver = SmallDriver()
    assert advertised(driver, "plugin") == [1, 2]
    assert advertised(driver, "controller") == [1, 2, 3, 4, 8, 10, 12, 13, 18]
    assert advertised(driver, "node") == [1, 2, 5, 6, 9]


@pytest.mark.parametrize(
    ("capability", "number"),
    [
        (CONTROLLER_SERVICE, 1),
        (VOLUME_ACCESSIBILITY_CONSTRAINTS, 2),
        (CREATE_DELETE_VOLUME, 1),
        (PUBLISH_UNPUBLISH_VOLUME, 2),
        (LIST_VOLUMES, 3),
        (GET_CAPACITY, 4),
        (PUBLISH_READONLY, 8),
        (LIST_VOLUMES_PUBLISHED_NODES, 10),
        (GET_VOLUME, 12),
        (SINGLE_NODE_MULTI_WRITER, 13),
        (GET_NODE_INFO, 18),
        (STAGE_UNSTAGE_VOLUME, 1),
        (GET_VOLUME_STATS, 2),
        (NODE_SINGLE_NODE_MULTI_WRITER, 5),
        (VOLUME_MOUNT_GROUP, 6),
        (NODE_INFO_FROM_CONTROLLER, 9),
    ],
    ids=str,
)
def test_what_is_off_is_not_advertised(capability: Capability, number: int) -> None:
    usual = advertised(SmallDriver(), capability.service)
    driver = SmallDriver(switches={capability: False})
    if capability == CONTROLLER_SERVICE:
        assert driver.call("ControllerGetCapabilities").code == "UNIMPLEMENTED"
    assert advertised(driver, capability.service) == [n for n in usual if n != number]


def test_overridden_numbers_are_advertised() -> None:
    driver = SmallDriver(numbers={GET_NODE_INFO: 77, NODE_INFO_FROM_CONTROLLER: 12})
    assert advertised(driver, "controller") == [1, 2, 3, 4, 8, 10, 12, 13, 77]
    assert advertised(driver, "node") == [1, 2, 5, 6, 12]


def test_an_overridden_number_does_not_change_what_the_capability_does() -> None:
    driver = SmallDriver(numbers={GET_NODE_INFO: 77, NODE_INFO_FROM_CONTROLLER: 12})
    driver.region.add_instance(slots=5)
    assert driver.controller_info().max_volumes_per_node == 5
    assert driver.node_info(flagged=True) == csi_pb2.NodeGetInfoResponse(node_id="i-1")
