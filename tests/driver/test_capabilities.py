"""Capability switches, the provisional enum numbers, and the rules between capabilities."""

from __future__ import annotations

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.descriptor import EnumDescriptor

from csi_spec import csi_pb2
from mockdriver.driver import capabilities
from mockdriver.driver.capabilities import (
    BUILT,
    CONTROLLER_SERVICE,
    CREATE_DELETE_VOLUME,
    GET_NODE_INFO,
    LIST_VOLUMES,
    LIST_VOLUMES_PUBLISHED_NODES,
    NODE_INFO_FROM_CONTROLLER,
    PUBLISH_UNPUBLISH_VOLUME,
    VOLUME_ACCESSIBILITY_CONSTRAINTS,
    Capabilities,
    Capability,
    CapabilityMistake,
    find,
    parse_number,
    parse_switch,
)

ENUMS = {
    "plugin": csi_pb2.PluginCapability.Service.Type.DESCRIPTOR,
    "controller": csi_pb2.ControllerServiceCapability.RPC.Type.DESCRIPTOR,
    "node": csi_pb2.NodeServiceCapability.RPC.Type.DESCRIPTOR,
}


def reserved_numbers(enum: EnumDescriptor) -> set[int]:
    """Return the numbers that csi.proto reserves in an enum."""
    written = descriptor_pb2.EnumDescriptorProto()
    enum.CopyToProto(written)
    return {n for span in written.reserved_range for n in range(span.start, span.end + 1)}


# -------------------------------------------------------------------------------------- switches


@pytest.mark.parametrize("value", ["on", "off"])
@pytest.mark.parametrize("capability", BUILT, ids=str)
def test_every_built_capability_can_be_switched_by_its_full_name(
    capability: Capability, value: str
) -> None:
    assert parse_switch(f"{capability}={value}") == (capability, value == "on")


@pytest.mark.parametrize(
    "capability", [item for item in BUILT if item.name != "SINGLE_NODE_MULTI_WRITER"], ids=str
)
def test_the_prefix_may_be_left_out_where_the_name_is_unique(capability: Capability) -> None:
    assert parse_switch(f"{capability.name}=off") == (capability, False)


@pytest.mark.parametrize(
    "text", ["", "GET_NODE_INFO", "GET_NODE_INFO=", "GET_NODE_INFO=ON", "GET_NODE_INFO=yes", "=on="]
)
def test_a_switch_is_a_name_and_on_or_off(text: str) -> None:
    with pytest.raises(CapabilityMistake, match=r"want \[controller\.\|node\.\|plugin\.\]NAME=on"):
        parse_switch(text)


@pytest.mark.parametrize("name", ["EXPAND_VOLUME", "SINGLE_NODE_MULTI_WRITER", "GET_VOLUME_HEALTH"])
def test_a_name_that_two_services_have_needs_its_prefix(name: str) -> None:
    with pytest.raises(CapabilityMistake, match=f"say which: controller.{name}, node.{name}"):
        parse_switch(f"{name}=on")


@pytest.mark.parametrize(
    "name",
    [
        "",
        ".",
        "NOPE",
        "get_node_info",
        "UNKNOWN",
        "node.UNKNOWN",
        "node.GET_NODE_INFO",
        "pod.GET_NODE_INFO",
        ".GET_NODE_INFO",
        "a.controller.GET_NODE_INFO",
        " GET_NODE_INFO",
    ],
)
def test_an_unknown_name_is_told_which_there_are(name: str) -> None:
    with pytest.raises(CapabilityMistake, match="no such capability, there are: plugin"):
        parse_switch(f"{name}=on")


@pytest.mark.parametrize(
    "name",
    [
        "LIST_SNAPSHOTS",
        "controller.EXPAND_VOLUME",
        "node.EXPAND_VOLUME",
        "GROUP_CONTROLLER_SERVICE",
    ],
)
def test_a_capability_of_csi_that_is_not_built_cannot_be_switched(name: str) -> None:
    with pytest.raises(CapabilityMistake, match=f"{name}: not built yet"):
        parse_switch(f"{name}=on")


def test_what_is_built_exists_in_csi() -> None:
    for capability in BUILT:
        assert capability.name in ENUMS[capability.service].values_by_name
        assert find(str(capability)) == capability


# ------------------------------------------------------------------------------- enum numbers


def test_the_reserved_numbers_are_those_of_csi_proto() -> None:
    for service, enum in ENUMS.items():
        assert capabilities._RESERVED.get(service, set()) == reserved_numbers(enum)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("GET_NODE_INFO=19", (GET_NODE_INFO, 19)),
        ("controller.GET_NODE_INFO=999999999", (GET_NODE_INFO, 999_999_999)),
        ("NODE_INFO_FROM_CONTROLLER=11", (NODE_INFO_FROM_CONTROLLER, 11)),
        ("node.NODE_INFO_FROM_CONTROLLER=18", (NODE_INFO_FROM_CONTROLLER, 18)),
    ],
)
def test_a_provisional_capability_takes_a_free_number(
    text: str, expected: tuple[Capability, int]
) -> None:
    assert parse_number(text) == expected


def test_a_provisional_capability_takes_the_number_that_it_has() -> None:
    for capability in capabilities.PROVISIONAL:
        own = ENUMS[capability.service].values_by_name[capability.name].number
        assert parse_number(f"{capability}={own}") == (capability, own)


@pytest.mark.parametrize("capability", capabilities.PROVISIONAL, ids=str)
def test_no_number_that_another_capability_has_can_be_taken(capability: Capability) -> None:
    enum = ENUMS[capability.service]
    taken = [v for v in enum.values if v.name != capability.name and v.number != 0]
    assert taken
    for value in taken:
        with pytest.raises(CapabilityMistake, match=f"{value.number} is taken by {value.name}"):
            parse_number(f"{capability}={value.number}")


@pytest.mark.parametrize(
    ("text", "number"), [("GET_NODE_INFO=11", 11), ("NODE_INFO_FROM_CONTROLLER=4", 4)]
)
def test_a_reserved_number_cannot_be_taken(text: str, number: int) -> None:
    with pytest.raises(CapabilityMistake, match=f"{number} is reserved by CSI"):
        parse_number(text)


@pytest.mark.parametrize("value", ["", "0", "00", "-1", "+5", "1.5", "0x12", "1e3", "1000000000"])
def test_a_number_is_between_1_and_999999999(value: str) -> None:
    with pytest.raises(CapabilityMistake, match="must be 1 to 999999999"):
        parse_number(f"GET_NODE_INFO={value}")


@pytest.mark.parametrize("capability", sorted(set(BUILT) - set(capabilities.PROVISIONAL)), ids=str)
def test_a_number_that_csi_fixed_cannot_be_set(capability: Capability) -> None:
    with pytest.raises(CapabilityMistake, match="its number is fixed by CSI"):
        parse_number(f"{capability}=50")


@pytest.mark.parametrize("text", ["NOPE=50", "EXPAND_VOLUME=50", "LIST_VOLUMES=50"])
def test_a_number_is_for_a_capability_that_can_be_named(text: str) -> None:
    with pytest.raises(CapabilityMistake):
        parse_number(text)


# ----------------------------------------------------------------------------- what is advertised


def test_all_that_is_built_is_on_by_default() -> None:
    on = Capabilities()
    assert all(capability in on for capability in BUILT)
    for service, enum in ENUMS.items():
        names = {enum.values_by_number[number].name for number in on.numbers(service)}
        assert names == {capability.name for capability in BUILT if capability.service == service}


def test_what_is_off_is_not_in() -> None:
    on = Capabilities({GET_NODE_INFO: False, CREATE_DELETE_VOLUME: True})
    assert GET_NODE_INFO not in on
    assert CREATE_DELETE_VOLUME in on
    assert 18 not in on.numbers("controller")


def test_numbers_are_advertised_in_ascending_order_with_those_overridden() -> None:
    on = Capabilities(numbers={GET_NODE_INFO: 77, NODE_INFO_FROM_CONTROLLER: 12})
    assert on.numbers("controller") == [1, 2, 3, 4, 8, 10, 12, 13, 77]
    assert on.numbers("node") == [1, 2, 5, 6, 12]


def test_a_capability_that_is_off_is_not_advertised_under_its_new_number_either() -> None:
    on = Capabilities({GET_NODE_INFO: False}, {GET_NODE_INFO: 77})
    assert on.numbers("controller") == [1, 2, 3, 4, 8, 10, 12, 13]


# ------------------------------------------------------------------------------ rules between them


def test_the_default_breaks_no_rule() -> None:
    assert Capabilities().broken_invariants() == []


@pytest.mark.parametrize(
    ("off", "said"),
    [
        ([GET_NODE_INFO], ["NODE_INFO_FROM_CONTROLLER is on without GET_NODE_INFO"]),
        ([NODE_INFO_FROM_CONTROLLER], []),
        ([GET_NODE_INFO, NODE_INFO_FROM_CONTROLLER], []),
        (
            [PUBLISH_UNPUBLISH_VOLUME],
            [
                "GET_NODE_INFO is on without PUBLISH_UNPUBLISH_VOLUME",
                "LIST_VOLUMES_PUBLISHED_NODES is on without PUBLISH_UNPUBLISH_VOLUME",
            ],
        ),
        (
            [
                PUBLISH_UNPUBLISH_VOLUME,
                LIST_VOLUMES_PUBLISHED_NODES,
                GET_NODE_INFO,
                NODE_INFO_FROM_CONTROLLER,
            ],
            [],
        ),
        ([LIST_VOLUMES], []),
        ([CREATE_DELETE_VOLUME], []),
        ([VOLUME_ACCESSIBILITY_CONSTRAINTS], ["topology although VOLUME_ACCESSIBILITY"]),
        (
            [GET_NODE_INFO, VOLUME_ACCESSIBILITY_CONSTRAINTS],
            ["NODE_INFO_FROM_CONTROLLER is on without", "VOLUME_ACCESSIBILITY_CONSTRAINTS is off"],
        ),
    ],
)
def test_broken_rules_are_warned_about_and_none_else(
    off: list[Capability], said: list[str]
) -> None:
    broken = Capabilities(dict.fromkeys(off, False)).broken_invariants()
    assert len(broken) == len(said)
    for sentence, part in zip(broken, said, strict=True):
        assert part in sentence


def test_the_names_of_switches_do_not_depend_on_the_controller_service() -> None:
    assert CONTROLLER_SERVICE not in Capabilities({CONTROLLER_SERVICE: False})
    assert Capabilities({CONTROLLER_SERVICE: False}).numbers("plugin") == [2]
