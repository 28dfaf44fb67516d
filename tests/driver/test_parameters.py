"""Parameters of CreateVolume: one has a meaning, all are remembered."""

from __future__ import annotations

import pytest

from mockdriver.driver.errors import InvalidField
from mockdriver.driver.parameters import MANY_ATTACHMENTS, read_parameters
from tests.driver.small_driver import Mode, SmallDriver, capability, of

MULTI_WRITER = [capability(Mode.MULTI_NODE_MULTI_WRITER)]


def small_driver() -> SmallDriver:
    driver = SmallDriver()
    for name in ("i-1", "i-2", "i-3"):
        driver.region.add_instance(name)
    return driver


# -------------------------------------------------------------------------------- max_attachments


@pytest.mark.parametrize(
    ("given", "many_nodes", "meant"),
    [
        (None, False, 1),
        (None, True, MANY_ATTACHMENTS),
        ("1", False, 1),
        ("7", False, 7),
        ("2", True, 2),
        ("1000000", True, 1_000_000),
        ("0000003", False, 3),
    ],
)
def test_the_number_of_attachments_is_the_parameter_or_what_the_modes_need(
    given: str | None, many_nodes: bool, meant: int
) -> None:
    parameters = {} if given is None else {"max_attachments": given}
    assert read_parameters(parameters, many_nodes).max_attachments == meant


@pytest.mark.parametrize(
    "given",
    ["", " 2", "2 ", "+2", "-2", "2.0", "1e3", "0x2", "two", "²", "\u0662", "12345678", "2\n"],
)
def test_a_number_of_attachments_is_a_whole_number(given: str) -> None:
    with pytest.raises(InvalidField) as refused:
        read_parameters({"max_attachments": given}, False)
    assert str(refused.value) == (
        f"parameters[max_attachments]: must be a whole number, got {given!r}"
    )


@pytest.mark.parametrize(
    ("given", "many_nodes", "allowed"),
    [("0", False, "1 to 1000000"), ("1000001", False, "1 to 1000000"), ("1", True, "2 to 1000000")],
)
def test_a_number_of_attachments_has_to_suit_the_modes(
    given: str, many_nodes: bool, allowed: str
) -> None:
    with pytest.raises(InvalidField, match=f"must be {allowed} for these volume_capabilities"):
        read_parameters({"max_attachments": given}, many_nodes)


def test_a_huge_value_is_not_repeated_whole() -> None:
    with pytest.raises(InvalidField) as refused:
        read_parameters({"max_attachments": "9" * 4_000}, False)
    assert len(str(refused.value)) < 250


@pytest.mark.parametrize("key", ["Max_attachments", "max_attachments ", "maxAttachments", ""])
def test_other_keys_have_no_effect(key: str) -> None:
    assert read_parameters({key: "nonsense"}, False).max_attachments == 1


# -------------------------------------------------------------------------------- on volumes


def test_a_volume_can_be_on_as_many_nodes_as_its_parameter_says() -> None:
    driver = small_driver()
    wanted = {"volume_capabilities": MULTI_WRITER, "parameters": {"max_attachments": "2"}}
    volume = of(driver.create("pvc-1", **wanted)).volume.volume_id
    codes = [
        driver.publish(volume, node, mode=Mode.MULTI_NODE_MULTI_WRITER).code
        for node in ("i-1", "i-2", "i-3")
    ]
    assert codes == ["OK", "OK", "FAILED_PRECONDITION"]


def test_a_volume_for_one_node_can_be_shared_later_if_its_parameter_says_so() -> None:
    driver = small_driver()
    volume = of(driver.create("pvc-1", parameters={"max_attachments": "2"})).volume.volume_id
    for node in ("i-1", "i-2"):
        assert driver.publish(volume, node, mode=Mode.MULTI_NODE_READER_ONLY).ok


def test_a_volume_for_many_nodes_can_be_on_sixteen() -> None:
    driver = SmallDriver()
    nodes = [driver.region.add_instance(f"i-{number}") for number in range(17)]
    volume = of(driver.create("pvc-1", volume_capabilities=MULTI_WRITER)).volume.volume_id
    codes = [driver.publish(volume, node, mode=Mode.MULTI_NODE_MULTI_WRITER).code for node in nodes]
    assert codes == ["OK"] * 16 + ["FAILED_PRECONDITION"]


def test_parameters_are_remembered_on_the_disk_in_one_order() -> None:
    driver = small_driver()
    first = of(driver.create("pvc-1", parameters={"b": "€", "a": '"\n'})).volume.volume_id
    second = of(driver.create("pvc-2", parameters={"a": '"\n', "b": "€"})).volume.volume_id
    tags = [driver.operator.disk(id).tags["csi-parameters"] for id in (first, second)]
    assert tags[0] == tags[1] == '{"a": "\\"\\n", "b": "€"}'


@pytest.mark.parametrize(
    ("first", "second", "code"),
    [
        ({}, {}, "OK"),
        ({"a": "1"}, {"a": "1"}, "OK"),
        ({"a": "1", "b": "2"}, {"b": "2", "a": "1"}, "OK"),
        ({"max_attachments": "1"}, {}, "ALREADY_EXISTS"),
        ({}, {"max_attachments": "1"}, "ALREADY_EXISTS"),
        ({"a": "1"}, {"a": "2"}, "ALREADY_EXISTS"),
        ({"a": "1"}, {"a": "1", "b": ""}, "ALREADY_EXISTS"),
        ({"a": "1"}, {"A": "1"}, "ALREADY_EXISTS"),
        ({}, {"max_attachments": "x"}, "INVALID_ARGUMENT"),
    ],
)
def test_a_repeat_has_to_have_the_same_parameters(
    first: dict[str, str], second: dict[str, str], code: str
) -> None:
    driver = small_driver()
    of(driver.create("pvc-1", parameters=first))
    assert driver.create("pvc-1", parameters=second).code == code


def test_a_repeat_for_less_than_the_volume_can_do_is_fine() -> None:
    driver = small_driver()
    first = of(driver.create("pvc-1", volume_capabilities=MULTI_WRITER))
    assert of(driver.create("pvc-1", volume_capabilities=[capability()])) == first


def test_parameters_that_are_refused_make_no_disk() -> None:
    driver = small_driver()
    answer = driver.create("pvc-1", parameters={"max_attachments": "0"})
    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message.startswith("parameters[max_attachments]: must be 1 to 1000000")
    assert driver.cloud_calls() == {}


def test_mutable_parameters_need_a_capability_that_this_driver_has_not() -> None:
    driver = small_driver()
    answer = driver.create("pvc-1", mutable_parameters={"iops": "100"})
    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message == "mutable_parameters: this driver has no MODIFY_VOLUME"
    assert driver.cloud_calls() == {}
