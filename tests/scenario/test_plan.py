from __future__ import annotations

from mockdriver.cloud import Disk
from mockdriver.scenario.load import loads
from mockdriver.scenario.plan import (
    CloudPlan,
    InstancePlan,
    plan_instance,
    resource_count,
)
from mockdriver.scenario.story_model import AddInstance


def plan_of(cloud: str) -> CloudPlan:
    return loads(f"scenario: x\ncloud: {cloud}\n").plan


def ids(plan: CloudPlan) -> list[str]:
    return [instance.id for instance in plan.instances]


def test_an_instance_has_one_interface_and_no_disks_by_default() -> None:
    (instance,) = plan_of("{instances: [{}]}").instances
    assert instance == InstancePlan(
        model=instance.model,
        id="i-1",
        type=None,
        zone="region-1a",
        network_interfaces=("i-1-eni-1",),
        boot_disk=None,
        attached=(),
        published=(),
    )


def test_numbers_name_what_they_count() -> None:
    (instance,) = plan_of(
        "{instances: [{id: a/b, network_interfaces: 2, attached: 1, published: 2}]}"
    ).instances
    assert instance.network_interfaces == ("a/b-eni-1", "a/b-eni-2")
    assert instance.attached == ("a/b-attached-1",)
    assert instance.published == ("a/b-published-1", "a/b-published-2")


def test_a_number_can_be_zero() -> None:
    (instance,) = plan_of("{instances: [{network_interfaces: 0, attached: 0}]}").instances
    assert (instance.network_interfaces, instance.attached) == ((), ())


def test_lists_are_taken_as_they_are() -> None:
    (instance,) = plan_of(
        "{instances: [{boot_disk: b, attached: [y, x], published: [z]}]}"
    ).instances
    assert list(instance.disks()) == ["b", "y", "x", "z"]


def test_a_default_id_is_the_position_among_all_instances() -> None:
    assert ids(plan_of("{instances: [{}, {id: a}, {count: 2}, {}]}")) == [
        "i-1", "a", "i-3", "i-4", "i-5",
    ]  # fmt: skip


def test_one_mapping_makes_many_instances() -> None:
    plan = plan_of('{instances: {count: 3, id: "node-{n}-x{n}", published: 1}}')
    assert ids(plan) == ["node-1-x1", "node-2-x2", "node-3-x3"]
    assert plan.instances[2].published == ("node-3-x3-published-1",)


def test_the_number_goes_into_every_id_of_a_template() -> None:
    plan = plan_of(
        '{instances: {count: 2, id: "i-{n}", boot_disk: "b-{n}", network_interfaces: ["e-{n}"], '
        'attached: ["a-{n}", "c-{n}"], published: ["p-{n}"]}}'
    )
    second = plan.instances[1]
    assert second.network_interfaces == ("e-2",)
    assert list(second.disks()) == ["b-2", "a-2", "c-2", "p-2"]


def test_without_a_count_braces_are_only_braces() -> None:
    plan = plan_of('{instances: [{id: "i-{n}", boot_disk: "b-{n}"}]}')
    assert (plan.instances[0].id, plan.instances[0].boot_disk) == ("i-{n}", "b-{n}")


def test_a_count_of_one_is_a_template_too() -> None:
    assert ids(plan_of('{instances: {count: 1, id: "i-{n}"}}')) == ["i-1"]


def test_zones_are_those_that_instances_and_disks_name() -> None:
    plan = plan_of("{instances: [{zone: b}, {zone: a}, {zone: b}], disks: [{id: d, zone: c}]}")
    assert (plan.zones, plan.zones_are_fixed) == (("b", "a", "c"), False)


def test_zones_that_are_listed_are_fixed_and_the_first_is_the_default() -> None:
    plan = plan_of("{zones: [z2, z1], instances: [{}, {zone: z1}]}")
    assert (plan.zones, plan.zones_are_fixed) == (("z2", "z1"), True)
    assert [instance.zone for instance in plan.instances] == ["z2", "z1"]


def test_the_default_zone_is_zone_a_of_the_region() -> None:
    plan = plan_of("{region: eu-7, instances: [{}]}")
    assert plan.zones == ("eu-7a",)
    assert plan.instances[0].zone == "eu-7a"


def test_disks_are_those_described_and_then_those_that_instances_name() -> None:
    plan = plan_of(
        "{instances: [{zone: a, boot_disk: x, attached: [d]}], "
        "disks: [{id: d, size_gib: 5, max_attachments: 3}]}"
    )
    assert plan.disks == (
        Disk("d", "a", size_gib=5, max_attachments=3, tags={}),
        Disk("x", "a"),
    )


def test_a_disk_that_is_nowhere_is_in_the_first_zone() -> None:
    assert plan_of("{zones: [z], disks: [{id: d}]}").disks[0].zone == "z"
    assert plan_of("{instances: [{zone: y}], disks: [{id: d}]}").disks[0].zone == "y"
    assert plan_of("{disks: [{id: d}]}").disks[0].zone == "region-1a"


def test_resources_are_counted_without_being_made() -> None:
    cloud = loads(
        'scenario: x\ncloud: {disks: [{id: d}], instances: [{count: 3, id: "i-{n}", attached: 2, '
        'boot_disk: "b-{n}", network_interfaces: ["e-{n}"]}, {}]}\n'
    ).cloud
    assert resource_count(cloud) == 1 + 3 * (1 + 2 + 1 + 1) + (1 + 1)


def test_an_added_instance_is_planned_like_one_at_the_start() -> None:
    new = AddInstance(id="j", attached=1, zone=None)
    assert plan_instance(new, "j", zone="z") == InstancePlan(
        new, "j", None, "z", ("j-eni-1",), None, ("j-attached-1",), ()
    )
