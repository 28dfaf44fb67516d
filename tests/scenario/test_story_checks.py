"""Mistakes between a story and its cloud, and what a story may name wrongly on purpose."""

from __future__ import annotations

import pytest

from tests.scenario.samples import mistakes_of

CLOUD = """\
scenario: x
cloud:
  zones: [z]
  instance_types: {small: {slots: 2}}
  instances: [{id: i-a, type: small}]
story:
"""
UNKNOWN = 'unknown instance "i-b", allowed: i-a, did you mean "i-a"?'


def steps(*lines: str) -> list[str]:
    return mistakes_of(CLOUD + "".join(f"  - {line}\n" for line in lines))


@pytest.mark.parametrize(
    ("step", "at"),
    [
        ("register: {node: i-b}", "7:22: story[0].register.node"),
        ("node_info: {node: i-b}", "7:23: story[0].node_info.node"),
        ("publish: {node: i-b, count: 2}", "7:21: story[0].publish.node"),
        ("unpublish: {node: i-b, count: 2}", "7:23: story[0].unpublish.node"),
        ("attach: {instance: i-b, count: 1}", "7:24: story[0].attach.instance"),
        ("detach: {instance: i-b, disk: d}", "7:24: story[0].detach.instance"),
        (
            "add_network_interface: {instance: i-b}",
            "7:39: story[0].add_network_interface.instance",
        ),
        (
            "remove_network_interface: {instance: i-b}",
            "7:42: story[0].remove_network_interface.instance",
        ),
        ("terminate_instance: {instance: i-b}", "7:36: story[0].terminate_instance.instance"),
        (
            "edit_instance_type: {type: small, instance: i-b}",
            "7:49: story[0].edit_instance_type.instance",
        ),
        ("release: {instance: i-b}", "7:25: story[0].release.instance"),
    ],
)
def test_an_instance_that_a_step_needs_must_be_there(step: str, at: str) -> None:
    assert steps(step) == [f"{at}: {UNKNOWN}"]


@pytest.mark.parametrize(
    "step",
    [
        "refresh: {node: i-b}",
        'refresh: {node: ""}',
        "publish: {node: i-b, volume: v}",
        'publish: {node: "", volume: ""}',
        "unpublish: {node: i-b, volume: v}",
        "unpublish: {volume: v}",
        "delete_volume: {volume: nowhere}",
        "attach: {instance: i-a, disk: anything}",
        "release: {disk: anything}",
        'create_volume: {name: "", zone: nowhere, required_bytes: -1}',
        "{attach: {instance: i-b, disk: d}, expect: {error: InstanceNotFound}}",
        "{terminate_instance: {instance: i-b}, expect: {error: InstanceNotFound}}",
        "{edit_instance_type: {type: big, slots: 1}, expect: {error: InstanceTypeNotFound}}",
        "{add_instance: {id: i-a}, expect: {error: AlreadyExists}}",
        "{add_instance: {id: i-b, zone: nowhere}, expect: {error: ZoneNotFound}}",
    ],
)
def test_what_tests_a_refusal_may_be_unknown(step: str) -> None:
    assert steps(step) == []


def test_types_and_zones_must_be_there() -> None:
    assert steps(
        "edit_instance_type: {type: smal, slots: 5}",
        "edit_instance_type: {type: smal, instance: i-a}",
        "add_instance: {id: i-b, type: smal, zone: y}",
    ) == [
        (
            '7:32: story[0].edit_instance_type.type: unknown instance type "smal", '
            'allowed: small, did you mean "small"?'
        ),
        (
            '8:32: story[1].edit_instance_type.type: unknown instance type "smal", '
            'allowed: small, did you mean "small"?'
        ),
        (
            '9:35: story[2].add_instance.type: unknown instance type "smal", '
            'allowed: small, did you mean "small"?'
        ),
        '9:47: story[2].add_instance.zone: unknown zone "y", allowed: z',
    ]


def test_an_instance_that_is_added_is_known_from_then_on() -> None:
    assert steps("register: {node: i-b}", "add_instance: {id: i-b}", "register: {node: i-b}") == [
        f"7:22: story[0].register.node: {UNKNOWN}"
    ]


def test_an_instance_is_added_once() -> None:
    assert steps("add_instance: {id: i-a}") == [
        '7:24: story[0].add_instance.id: instance "i-a" is there already; ids are given once'
    ]


def test_where_no_instance_is_there_none_is_allowed() -> None:
    assert mistakes_of("scenario: x\nstory: [{register: {node: a}}]\n") == [
        '2:27: story[0].register.node: unknown instance "a", allowed: none'
    ]


def test_a_step_whose_instance_is_wrong_is_checked_no_further() -> None:
    (line,) = steps("add_instance: {id: 5}", "register: {node: i-a}")
    assert line.startswith("7:24: story[0].add_instance.id: 5 is not allowed")


CALL = "cloud_calls, code"
NODE = f"{CALL}, max_volumes_per_node, accessible_topology, effective_limit"


@pytest.mark.parametrize(
    ("step", "key", "allowed"),
    [
        ("refresh: {node: a}", "capacity_bytes: 5", f"{NODE}, published_volume_ids, node_id"),
        ("refresh: {node: a}", "error: DiskInUse", f"{NODE}, published_volume_ids, node_id"),
        ("node_info: {node: i-a}", "published_volume_ids: 5", f"{NODE}, node_id"),
        (
            "create_volume: {}",
            "node_id: x",
            f"{CALL}, volume_id, capacity_bytes, accessible_topology",
        ),
        ("publish: {node: a, volume: b}", "effective_limit: null", f"{CALL}, publish_context"),
        ("unpublish: {volume: b}", "publish_context: {a: b}", CALL),
        ("delete_volume: {volume: b}", "volume_id: b", CALL),
        ("advance: 1s", "effective_limit: 5", f"{CALL}, error"),
    ],
)
def test_a_step_can_only_expect_what_its_verb_answers(step: str, key: str, allowed: str) -> None:
    name, verb = key.split(":", maxsplit=1)[0], step.split(":", maxsplit=1)[0]
    (line,) = steps(f"{{{step}, expect: {{{key}}}}}")
    assert line.split(": ", 1)[1] == (
        f"story[0].expect.{name}: {verb} does not answer this, allowed: {allowed}, counts of codes"
    )


def test_the_story_of_a_cloud_with_thousands_of_instances_knows_them() -> None:
    text = "scenario: x\ncloud: {instances: {count: 5000, id: 'i-{n}'}}\nstory:\n"
    assert mistakes_of(f"{text}  - register: {{node: i-5000}}\n") == []
    (line,) = mistakes_of(f"{text}  - register: {{node: i-5001}}\n")
    assert " and 4980 more" in line
