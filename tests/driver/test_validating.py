"""ValidateVolumeCapabilities: OK with `confirmed`, or OK with the reason why not."""

from __future__ import annotations

from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.co.calling import Answer
from mockdriver.driver.capabilities import SINGLE_NODE_MULTI_WRITER
from tests.driver.small_driver import (
    AccessMode,
    Mode,
    SmallDriver,
    add_shared_disk,
    capability,
    of,
)

SINGLE_NODE = [
    Mode.SINGLE_NODE_WRITER,
    Mode.SINGLE_NODE_READER_ONLY,
    Mode.SINGLE_NODE_SINGLE_WRITER,
    Mode.SINGLE_NODE_MULTI_WRITER,
]
MULTI_NODE = [
    Mode.MULTI_NODE_READER_ONLY,
    Mode.MULTI_NODE_SINGLE_WRITER,
    Mode.MULTI_NODE_MULTI_WRITER,
]
BLOCK = csi_pb2.VolumeCapability(
    block=csi_pb2.VolumeCapability.BlockVolume(), access_mode=capability().access_mode
)


def small_driver(**options: Any) -> SmallDriver:
    driver = SmallDriver(**options)
    driver.region.add_instance("i-1", boot_disk="vol-boot")
    driver.region.add_disk("vol")
    add_shared_disk(driver.region, "vol-shared")
    return driver


def validate(driver: SmallDriver, volume: str = "vol", **fields: Any) -> Answer:
    fields.setdefault("volume_capabilities", [capability()])
    request = csi_pb2.ValidateVolumeCapabilitiesRequest(volume_id=volume, **fields)
    return driver.call("ValidateVolumeCapabilities", request)


def reason(driver: SmallDriver, volume: str = "vol", **fields: Any) -> str:
    """Return why a volume is not confirmed."""
    response = of(validate(driver, volume, **fields))
    assert not response.HasField("confirmed")
    return str(response.message)


@pytest.mark.parametrize("mode", SINGLE_NODE, ids=Mode.Mode.Name)
def test_every_disk_can_be_on_one_node(mode: AccessMode) -> None:
    wanted = [capability(mode), BLOCK]
    response = of(validate(small_driver(), volume_capabilities=wanted))
    assert list(response.confirmed.volume_capabilities) == wanted
    assert response.message == ""


@pytest.mark.parametrize("mode", MULTI_NODE, ids=Mode.Mode.Name)
def test_a_disk_for_one_node_is_not_confirmed_for_several(mode: AccessMode) -> None:
    wanted = [capability(), capability(mode)]
    assert reason(small_driver(), volume_capabilities=wanted) == (
        "volume_capabilities: the volume can be attached to one node at a time only"
    )


@pytest.mark.parametrize("mode", MULTI_NODE, ids=Mode.Mode.Name)
def test_a_shared_disk_is_confirmed_for_several(mode: AccessMode) -> None:
    wanted = [capability(mode)]
    response = of(validate(small_driver(), "vol-shared", volume_capabilities=wanted))
    assert list(response.confirmed.volume_capabilities) == wanted


@pytest.mark.parametrize("mode", SINGLE_NODE[2:], ids=Mode.Mode.Name)
def test_modes_of_a_capability_that_is_off_are_not_confirmed(mode: AccessMode) -> None:
    driver = small_driver(switches={SINGLE_NODE_MULTI_WRITER: False})
    assert "controller.SINGLE_NODE_MULTI_WRITER" in reason(
        driver, volume_capabilities=[capability(mode)]
    )
    assert of(validate(driver)).HasField("confirmed")


def test_a_volume_is_confirmed_with_the_parameters_that_it_has() -> None:
    driver, parameters = small_driver(), {"type": "fast"}
    volume = of(driver.create("pvc-1", parameters=parameters)).volume.volume_id
    assert dict(of(validate(driver, volume, parameters=parameters)).confirmed.parameters) == (
        parameters
    )
    assert not of(validate(driver, volume)).confirmed.parameters
    assert reason(driver, volume, parameters={"type": "slow"}) == (
        "parameters: the volume was created with others"
    )
    assert reason(driver, "vol", parameters=parameters).startswith("parameters: ")


def test_what_this_driver_has_not_is_not_confirmed() -> None:
    driver = small_driver()
    assert reason(driver, volume_context={"a": "b"}).startswith("volume_context: ")
    assert reason(driver, mutable_parameters={"a": "b"}).startswith("mutable_parameters: ")


def test_a_volume_that_is_in_use_is_confirmed_as_before() -> None:
    driver = small_driver()
    of(driver.publish("vol"))
    assert of(validate(driver)).HasField("confirmed")


def test_asking_changes_nothing() -> None:
    driver = small_driver()
    assert validate(driver) == validate(driver)
    assert driver.cloud_calls() == {"describe_disks": 2}


@pytest.mark.parametrize("volume", ["vol-no-such", "vol-boot"])
def test_what_is_no_volume_is_not_found(volume: str) -> None:
    wanted = [capability(Mode.MULTI_NODE_MULTI_WRITER)]
    assert validate(small_driver(), volume, volume_capabilities=wanted).code == "NOT_FOUND"


def test_a_capability_that_csi_does_not_define_is_no_question() -> None:
    wanted = [capability(Mode.Mode.ValueType(99))]
    answer = validate(small_driver(), "vol-no-such", volume_capabilities=wanted)
    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message.startswith("volume_capabilities[0].access_mode.mode: ")
