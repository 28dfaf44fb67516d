"""ControllerPublishVolume and ControllerUnpublishVolume, where nothing takes time."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from csi_spec import csi_pb2
from mockdriver.cloud import AttachmentState
from mockdriver.driver.capabilities import (
    PUBLISH_READONLY,
    SINGLE_NODE_MULTI_WRITER,
    Capability,
)
from tests.cloud.small_region import OTHER_ZONE, ZONE, SmallRegion
from tests.driver.small_driver import (
    AccessMode,
    Mode,
    SmallDriver,
    add_shared_disk,
    add_untyped_instance,
    capability,
    of,
    worked_example,
)

SINGLE_NODE_MODES = [
    Mode.SINGLE_NODE_WRITER,
    Mode.SINGLE_NODE_READER_ONLY,
    Mode.SINGLE_NODE_SINGLE_WRITER,
    Mode.SINGLE_NODE_MULTI_WRITER,
]
MULTI_NODE_MODES = [
    Mode.MULTI_NODE_READER_ONLY,
    Mode.MULTI_NODE_SINGLE_WRITER,
    Mode.MULTI_NODE_MULTI_WRITER,
]


def small_driver(slots: int = 2) -> SmallDriver:
    """Return a driver over `i-1` and `i-2`, both with `slots`, and `i-far` in another zone."""
    region = SmallRegion()
    region.add_instance("i-1", slots=slots)
    region.add_instance("i-2", slots=slots)
    region.add_instance("i-far", slots=slots, zone=OTHER_ZONE)
    return SmallDriver(region)


# ------------------------------------------------------------------------------------- publishing


def test_a_published_volume_is_attached_with_what_it_was_published_for() -> None:
    driver = small_driver()
    volume = driver.new_volume()
    assert driver.publish(volume, readonly=True).ok
    (attachment,) = driver.operator.attachments("i-1")
    assert (attachment.disk, attachment.state) == (volume, AttachmentState.ATTACHED)
    assert dict(attachment.tags) == {
        "csi-access-mode": "SINGLE_NODE_WRITER",
        "csi-readonly": "true",
    }


def test_a_disk_that_the_driver_did_not_create_can_be_published() -> None:
    driver = small_driver()
    assert driver.publish(driver.region.add_disk("vol-manual")).ok


@pytest.mark.parametrize("mode", [*SINGLE_NODE_MODES, *MULTI_NODE_MODES])
@pytest.mark.parametrize("readonly", [False, True])
def test_a_repeat_is_ok_and_attaches_nothing_more(mode: int, readonly: bool) -> None:
    driver, access_mode = small_driver(), Mode.Mode.ValueType(mode)
    volume = driver.new_volume()
    of(driver.publish(volume, mode=access_mode, readonly=readonly))
    before = driver.operator.attachments("i-1")
    assert driver.publish(volume, mode=access_mode, readonly=readonly).ok
    assert driver.operator.attachments("i-1") == before


def test_a_repeat_on_a_full_node_is_ok() -> None:
    driver = small_driver(slots=2)
    first, second = driver.publish_new(2)
    assert driver.publish(driver.new_volume()).code == "RESOURCE_EXHAUSTED"
    assert driver.publish(first).ok
    assert driver.publish(second).ok


def test_a_repeat_for_another_mode_or_readonly_flag_exists_already() -> None:
    driver = small_driver()
    (volume,) = driver.publish_new(1)
    for answer in (
        driver.publish(volume, readonly=True),
        driver.publish(volume, mode=Mode.SINGLE_NODE_READER_ONLY),
        driver.publish(volume, mode=Mode.MULTI_NODE_MULTI_WRITER),
    ):
        assert answer.code == "ALREADY_EXISTS"
        assert "with access mode SINGLE_NODE_WRITER and readonly false" in answer.message
    assert "asked for is access mode MULTI_NODE_MULTI_WRITER and readonly false" in answer.message


def test_a_repeat_that_was_refused_changes_nothing() -> None:
    driver = small_driver()
    (volume,) = driver.publish_new(1)
    before = driver.operator.attachments("i-1")
    assert driver.publish(volume, readonly=True).code == "ALREADY_EXISTS"
    assert driver.operator.attachments("i-1") == before
    assert driver.publish(volume).ok


# ------------------------------------------------------------------------- fields that are unknown


def switched_off(capability_: Capability) -> SmallDriver:
    region = SmallRegion()
    region.add_instance("i-1")
    region.add_disk("vol")
    return SmallDriver(region, switches={capability_: False})


def test_without_publish_readonly_the_field_is_as_if_unknown() -> None:
    driver = switched_off(PUBLISH_READONLY)
    assert driver.publish("vol", readonly=True).ok
    assert driver.publish("vol", readonly=False).ok
    (attachment,) = driver.operator.attachments("i-1")
    assert attachment.tags["csi-readonly"] == "false"


@pytest.mark.parametrize("mode", [Mode.SINGLE_NODE_SINGLE_WRITER, Mode.SINGLE_NODE_MULTI_WRITER])
def test_without_single_node_multi_writer_its_modes_are_an_invalid_argument(
    mode: AccessMode,
) -> None:
    driver, name = switched_off(SINGLE_NODE_MULTI_WRITER), Mode.Mode.Name(mode)
    answers = {
        "volume_capability": driver.publish("vol-no-such", mode=mode),
        "volume_capabilities": driver.create(
            "pvc-1", volume_capabilities=[capability(), capability(mode)]
        ),
    }
    for field, answer in answers.items():
        assert answer.code == "INVALID_ARGUMENT"
        assert answer.message == (
            f"{field}.access_mode.mode: {name} needs the capability "
            "controller.SINGLE_NODE_MULTI_WRITER, which is off"
        )
    assert driver.cloud_calls() == {}


def test_without_single_node_multi_writer_all_older_modes_are_known() -> None:
    driver = switched_off(SINGLE_NODE_MULTI_WRITER)
    for mode in (*SINGLE_NODE_MODES[:2], *MULTI_NODE_MODES):
        of(driver.publish("vol", mode=mode))
        of(driver.unpublish("vol"))


# --------------------------------------------------------------------------- the order of refusals


def test_an_invalid_argument_comes_before_all_else() -> None:
    driver = small_driver()
    request = csi_pb2.ControllerPublishVolumeRequest(volume_id="vol-unknown", node_id="i-unknown")
    assert driver.call("ControllerPublishVolume", request).code == "INVALID_ARGUMENT"


@pytest.mark.parametrize("field", ["volume_id", "node_id", "volume_capability"])
def test_each_required_field_is_required(field: str) -> None:
    driver = small_driver()
    request = csi_pb2.ControllerPublishVolumeRequest(
        volume_id=driver.new_volume(), node_id="i-1", volume_capability=capability()
    )
    request.ClearField(field)  # type: ignore[arg-type]
    answer = driver.call("ControllerPublishVolume", request)
    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message.startswith(f"{field}: is required")


@pytest.mark.parametrize(
    ("volume", "node", "named"),
    [
        ("vol-unknown", "i-1", "vol-unknown"),
        ("vol", "i-unknown", "i-unknown"),
        ("vol-unknown", "i-unknown", "vol-unknown"),
        # As the volume is published nowhere, its being elsewhere does not matter either.
        ("vol-elsewhere", "i-unknown", "i-unknown"),
    ],
)
def test_not_found_comes_before_what_is_attached_where(volume: str, node: str, named: str) -> None:
    driver = small_driver(slots=1)
    of(driver.publish(driver.region.add_disk("vol-elsewhere"), "i-2"))
    of(driver.publish(driver.region.add_disk("vol-here"), "i-1"))
    driver.region.add_disk("vol")
    answer = driver.publish(volume, node)
    assert answer.code == "NOT_FOUND"
    assert repr(named) in answer.message


def test_already_on_this_node_comes_before_elsewhere_and_before_full() -> None:
    driver = small_driver(slots=1)
    volume = add_shared_disk(driver.region, "vol-shared")
    for node in ("i-1", "i-2"):
        of(driver.publish(volume, node, mode=Mode.MULTI_NODE_MULTI_WRITER))
    assert driver.publish(volume, mode=Mode.MULTI_NODE_MULTI_WRITER).ok
    assert driver.publish(volume, mode=Mode.SINGLE_NODE_WRITER).code == "ALREADY_EXISTS"


def _elsewhere(driver: SmallDriver) -> str:
    volume = driver.region.add_disk("vol-elsewhere")
    of(driver.publish(volume, "i-2"))
    return volume


def _in_another_zone(driver: SmallDriver) -> str:
    return driver.region.add_disk("vol-far", zone=OTHER_ZONE)


@pytest.mark.parametrize("make", [_elsewhere, _in_another_zone])
def test_a_failed_precondition_comes_before_a_full_node(
    make: Callable[[SmallDriver], str],
) -> None:
    driver = small_driver(slots=1)
    driver.publish_new(1)
    assert driver.publish(driver.new_volume()).code == "RESOURCE_EXHAUSTED"
    assert driver.publish(make(driver)).code == "FAILED_PRECONDITION"


# ----------------------------------------------------------------------------- failed preconditions


@pytest.mark.parametrize("mode", [*SINGLE_NODE_MODES, *MULTI_NODE_MODES])
def test_a_volume_that_is_elsewhere_is_refused_with_the_node_it_is_on(mode: int) -> None:
    driver = small_driver()
    (volume,) = driver.publish_new(1, "i-2")
    answer = driver.publish(volume, mode=Mode.Mode.ValueType(mode))
    assert answer.code == "FAILED_PRECONDITION"
    assert "'i-2'" in answer.message


@pytest.mark.parametrize("mode", SINGLE_NODE_MODES)
def test_a_shared_disk_is_refused_where_the_mode_is_for_one_node(mode: int) -> None:
    driver = small_driver()
    volume = add_shared_disk(driver.region, "vol-shared")
    of(driver.publish(volume, "i-2", mode=Mode.MULTI_NODE_MULTI_WRITER))
    answer = driver.publish(volume, mode=Mode.Mode.ValueType(mode))
    assert answer.code == "FAILED_PRECONDITION"
    assert "'i-2'" in answer.message


@pytest.mark.parametrize("mode", MULTI_NODE_MODES)
def test_a_shared_disk_is_published_on_as_many_nodes_as_it_allows(mode: int) -> None:
    driver, access_mode = small_driver(), Mode.Mode.ValueType(mode)
    driver.region.add_instance("i-3", slots=2)
    volume = add_shared_disk(driver.region, "vol-shared", max_attachments=2)
    nodes = ["i-1", "i-2", "i-3"]
    codes = [driver.publish(volume, node, mode=access_mode).code for node in nodes]
    assert codes == ["OK", "OK", "FAILED_PRECONDITION"]


def test_a_volume_in_another_zone_is_refused_with_both_zones() -> None:
    driver = small_driver()
    answer = driver.publish(driver.new_volume(ZONE), "i-far")
    assert answer.code == "FAILED_PRECONDITION"
    assert repr(ZONE) in answer.message
    assert repr(OTHER_ZONE) in answer.message


# ------------------------------------------------------------------------------------- full nodes


def test_a_full_node_is_resource_exhausted_until_a_volume_leaves() -> None:
    driver = small_driver(slots=2)
    first, _ = driver.publish_new(2)
    volume = driver.new_volume()
    answer = driver.publish(volume)
    assert answer.code == "RESOURCE_EXHAUSTED"
    assert answer.message == "instance 'i-1' has 2 slots and 2 slot users"
    of(driver.unpublish(first))
    assert driver.publish(volume).ok


def test_a_refused_publish_attaches_nothing() -> None:
    driver = small_driver(slots=1)
    driver.publish_new(1)
    before = driver.operator.attachments("i-1")
    driver.publish(driver.new_volume())
    assert driver.operator.attachments("i-1") == before


def test_the_example_of_the_kep_takes_thirteen_more_and_no_fourteenth() -> None:
    driver = worked_example()
    volumes = [driver.new_volume() for _ in range(14)]
    codes = [driver.publish(volume).code for volume in volumes]
    assert codes == ["OK"] * 13 + ["RESOURCE_EXHAUSTED"]
    assert driver.publish(volumes[0]).ok
    assert driver.publish("csi-1").ok


def test_an_added_interface_takes_a_slot_of_the_next_volume() -> None:
    region = SmallRegion()
    region.add_instance(slots=3, shared=True, interfaces=1)
    driver = SmallDriver(region)
    (volume,) = driver.publish_new(1)
    region.operator.add_network_interface("i-1")
    assert driver.publish(driver.new_volume()).code == "RESOURCE_EXHAUSTED"
    assert driver.publish(volume).ok


def test_interfaces_past_the_slots_crash_nothing() -> None:
    region = SmallRegion()
    region.add_instance(slots=3, shared=True, interfaces=1)
    driver = SmallDriver(region)
    volumes = driver.publish_new(2)
    region.operator.add_network_interface("i-1")
    assert driver.publish(driver.new_volume()).code == "RESOURCE_EXHAUSTED"
    of(driver.unpublish(volumes[0]))
    assert driver.publish(volumes[0]).code == "RESOURCE_EXHAUSTED"


def test_a_node_without_a_type_takes_any_number_of_volumes() -> None:
    driver = SmallDriver()
    add_untyped_instance(driver.region, "i-1")
    assert len(driver.publish_new(60)) == 60


# ---------------------------------------------------------------------------------------- adoption


def test_publishing_what_an_operator_attached_adopts_it() -> None:
    driver = small_driver(slots=1)
    volume = driver.region.add_disk("vol-manual")
    number = driver.operator.attach(volume, "i-1").number
    assert driver.publish(volume, readonly=True).ok
    (attachment,) = driver.operator.attachments("i-1")
    assert attachment.number == number
    assert attachment.tags["csi-readonly"] == "true"


def test_what_was_adopted_is_compatible_only_with_what_it_was_adopted_for() -> None:
    driver = small_driver()
    volume = driver.region.add_disk("vol-manual")
    driver.operator.attach(volume, "i-1")
    of(driver.publish(volume, readonly=True))
    assert driver.publish(volume).code == "ALREADY_EXISTS"


def test_unpublishing_what_an_operator_attached_detaches_it() -> None:
    driver = small_driver()
    volume = driver.region.add_disk("vol-manual")
    driver.operator.attach(volume, "i-1")
    assert driver.unpublish(volume).ok
    assert driver.operator.attachments("i-1") == []


# ------------------------------------------------------------------------------------ unpublishing


def test_an_unpublished_volume_is_detached_and_can_go_elsewhere() -> None:
    driver = small_driver()
    (volume,) = driver.publish_new(1)
    assert driver.unpublish(volume).ok
    assert driver.operator.attachments("i-1") == []
    assert driver.publish(volume, "i-2").ok


def test_an_unpublished_volume_can_be_published_for_another_mode() -> None:
    driver = small_driver()
    (volume,) = driver.publish_new(1)
    of(driver.unpublish(volume))
    assert driver.publish(volume, mode=Mode.SINGLE_NODE_READER_ONLY, readonly=True).ok


@pytest.mark.parametrize("node", ["i-1", "i-unknown", ""])
@pytest.mark.parametrize("volume", ["vol", "vol-unknown"])
def test_what_is_not_there_or_not_attached_is_unpublished(volume: str, node: str) -> None:
    driver = small_driver()
    driver.region.add_disk("vol")
    assert driver.unpublish(volume, node).ok


def test_unpublishing_twice_is_fine() -> None:
    driver = small_driver()
    (volume,) = driver.publish_new(1)
    assert [driver.unpublish(volume).code for _ in range(2)] == ["OK", "OK"]


def test_unpublishing_from_a_node_that_it_is_not_on_leaves_it_where_it_is() -> None:
    driver = small_driver()
    (volume,) = driver.publish_new(1)
    assert driver.unpublish(volume, "i-2").ok
    assert [item.disk for item in driver.operator.attachments("i-1")] == [volume]


def test_an_empty_node_id_means_every_node() -> None:
    driver = small_driver()
    volume = add_shared_disk(driver.region, "vol-shared", max_attachments=3)
    of(driver.publish(volume, "i-1", mode=Mode.MULTI_NODE_MULTI_WRITER))
    driver.operator.attach(volume, "i-2")
    other = driver.publish_new(1)
    assert driver.unpublish(volume, "").ok
    assert driver.operator.attachments("i-2") == []
    assert [item.disk for item in driver.operator.attachments("i-1")] == other


def test_a_boot_disk_stays_with_its_instance() -> None:
    region = SmallRegion()
    region.add_instance(slots=3, boot_disk="vol-boot")
    driver = SmallDriver(region)
    for node in ("i-1", ""):
        assert driver.unpublish("vol-boot", node).code == "FAILED_PRECONDITION"
    assert [item.disk for item in driver.operator.attachments("i-1")] == ["vol-boot"]


def test_a_volume_of_a_terminated_instance_is_unpublished() -> None:
    driver = small_driver()
    (volume,) = driver.publish_new(1)
    driver.operator.terminate_instance("i-1")
    assert driver.unpublish(volume).ok
    assert driver.publish(volume, "i-2").ok
