from __future__ import annotations

import pytest

from mockdriver.cloud import Quota
from mockdriver.scenario.load import loads
from mockdriver.scenario.story_model import (
    VERBS,
    AddInstance,
    AddNetworkInterface,
    Advance,
    Comparison,
    CreateVolume,
    Detach,
    EditInstanceType,
    Publish,
    Register,
    Release,
    RestartDriver,
    SetQuota,
    Step,
    Unpublish,
)
from tests.scenario.samples import EVERY_VERB, WORKED_EXAMPLE


def step_of(text: str) -> Step:
    head = "scenario: x\ncloud: {instance_types: {t: {}}, instances: [{id: i}]}\nstory:\n"
    (step,) = loads(f"{head}  - {text}\n").story
    return step


def test_the_worked_example_becomes_steps_with_their_positions() -> None:
    story = loads(WORKED_EXAMPLE).story
    assert [(step.verb, step.line, step.column) for step in story] == [
        ("register", 28, 5),
        ("publish", 30, 5),
        ("detach", 32, 5),
        ("refresh", 33, 5),
    ]
    register, publish, detach, refresh = story
    assert register.arguments == Register(node="i-worker-1")
    assert register.expect.max_volumes_per_node == 23
    assert register.expect.published_volume_ids == 10
    assert register.expect.effective_limit == 21
    assert isinstance(publish.arguments, Publish)
    assert (publish.arguments.count, publish.arguments.concurrent) == (14, True)
    assert publish.expect.codes == {"OK": 13, "RESOURCE_EXHAUSTED": 1}
    assert isinstance(detach.arguments, Detach)
    assert (detach.arguments.disk, detach.arguments.wait) == ("vol-manual", True)
    assert refresh.expect.codes == {}


def test_every_verb_is_understood() -> None:
    assert {step.verb for step in loads(EVERY_VERB).story} == set(VERBS)


def test_publishing_has_its_defaults() -> None:
    arguments = step_of("publish: {node: i, volume: v}").arguments
    assert isinstance(arguments, Publish)
    assert arguments.access_mode == "SINGLE_NODE_WRITER"
    assert (arguments.concurrent, arguments.readonly, arguments.count) == (False, False, None)


def test_unpublishing_without_a_node_is_from_every_node() -> None:
    arguments = step_of("unpublish: {volume: v}").arguments
    assert isinstance(arguments, Unpublish)
    assert arguments.node is None


def test_a_volume_can_be_asked_for_in_bytes_or_gib() -> None:
    assert step_of("create_volume: {size_gib: 3}").arguments == CreateVolume(size_gib=3)
    arguments = step_of("create_volume: {required_bytes: -5, limit_bytes: 7}").arguments
    assert arguments == CreateVolume(required_bytes=-5, limit_bytes=7)


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("release:", Release()),
        ("release: {}", Release()),
        ("release: {disk: d}", Release(disk="d")),
        ("restart_driver:", RestartDriver(state="keep")),
        ("restart_driver: {state: lose}", RestartDriver(state="lose")),
        ("advance: 1m30s", Advance(90.0)),
        ("advance: 0", Advance(0.0)),
        ("add_network_interface: {instance: i}", AddNetworkInterface(instance="i", count=1)),
    ],
)
def test_small_verbs(text: str, arguments: object) -> None:
    assert step_of(text).arguments == arguments


def test_editing_a_type_tells_which_fields_change() -> None:
    arguments = step_of("edit_instance_type: {type: t, boot_disk_uses_slot: false}").arguments
    assert isinstance(arguments, EditInstanceType)
    assert arguments.changes() == {"boot_disk_uses_slot": False}


def test_editing_can_take_a_limit_away() -> None:
    arguments = step_of("edit_instance_type: {type: t, slots: null}").arguments
    assert isinstance(arguments, EditInstanceType)
    assert arguments.changes() == {"slots": None}


def test_giving_an_instance_another_type_changes_no_type() -> None:
    arguments = step_of("edit_instance_type: {type: t, instance: i}").arguments
    assert isinstance(arguments, EditInstanceType)
    assert (arguments.instance, arguments.changes()) == ("i", {})


def test_quotas_are_set_by_api() -> None:
    step = step_of("set_quota: {attach: {burst: 5, per_second: 0.5}, detach: {delay: 50ms}}")
    assert isinstance(step.arguments, SetQuota)
    assert step.arguments.quotas() == {
        "attach": Quota(burst=5, per_second=0.5),
        "detach": Quota(delay_seconds=0.05),
    }


def test_an_instance_is_added_with_the_keys_of_one_at_the_start() -> None:
    arguments = step_of("add_instance: {id: j, type: t, network_interfaces: [e]}").arguments
    assert isinstance(arguments, AddInstance)
    assert (arguments.id, arguments.network_interfaces) == ("j", ("e",))


def test_an_effective_limit_of_null_is_told_from_none_at_all() -> None:
    expect = step_of("{refresh: {node: i}, expect: {effective_limit: null}}").expect
    assert expect.gives("effective_limit")
    assert expect.effective_limit is None
    assert not step_of("{refresh: {node: i}, expect: {OK: 1}}").expect.gives("effective_limit")


def test_any_other_null_is_no_expectation() -> None:
    expect = step_of("{refresh: {node: i}, expect: {node_id: null, OK: null}}").expect
    assert not expect.gives("node_id")
    assert expect.codes == {}


def test_a_count_of_zero_is_an_expectation() -> None:
    assert step_of("{refresh: {node: i}, expect: {ABORTED: 0}}").expect.codes == {"ABORTED": 0}


def test_volume_ids_are_a_number_or_a_list() -> None:
    def ids(text: str) -> object:
        return step_of(
            f"{{refresh: {{node: i}}, expect: {{published_volume_ids: {text}}}}}"
        ).expect.published_volume_ids

    assert ids("3") == 3
    assert ids("[b, a]") == ("b", "a")
    assert ids("[]") == ()


@pytest.mark.parametrize(
    ("text", "sign", "holds", "fails"),
    [
        ("5", "==", [5], [4, 6]),
        ('"== 5"', "==", [5], [4, 6]),
        ('"<= 5"', "<=", [4, 5], [6]),
        ('"<5"', "<", [4], [5, 6]),
        ('">= 5"', ">=", [5, 6], [4]),
        ('"> 5"', ">", [6], [4, 5]),
    ],
)
def test_cloud_calls_are_compared(text: str, sign: str, holds: list[int], fails: list[int]) -> None:
    expect = step_of(
        f"{{refresh: {{node: i}}, expect: {{cloud_calls: {{attach: {text}}}}}}}"
    ).expect
    comparison = expect.cloud_calls["attach"]
    assert comparison == Comparison(sign, 5)
    assert str(comparison) == f"{sign} 5"
    assert all(comparison.holds(number) for number in holds)
    assert not any(comparison.holds(number) for number in fails)
