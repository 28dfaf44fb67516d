from __future__ import annotations

import pytest

from mockdriver.cloud import Caller, Cloud, Disk, InstanceType
from mockdriver.cloud.errors import SlotsExhausted, Throttled, ZoneNotFound
from mockdriver.runtime import SeededRuntime, VirtualRuntime
from mockdriver.scenario.build import add_instance, build
from mockdriver.scenario.load import LoadedScenario, loads
from mockdriver.scenario.story_model import AddInstance
from tests.scenario.samples import EVERY_VERB, WORKED_EXAMPLE

TAGS = {"published": "yes"}


def cloud_of(scenario: LoadedScenario) -> Cloud:
    return build(scenario, VirtualRuntime(), published_tags=TAGS)


def test_the_worked_example_has_ten_disks_and_two_interfaces_in_25_slots() -> None:
    cloud = cloud_of(loads(WORKED_EXAMPLE))
    assert cloud.operator.zones() == ["region-1a"]
    assert cloud.operator.instance_type("shared-25") == InstanceType(
        "shared-25", slots=25, network_interfaces_share_slots=True, boot_disk_uses_slot=True
    )
    assert cloud.operator.slot_users("i-worker-1") == 12
    attachments = cloud.operator.attachments("i-worker-1")
    assert [item.number for item in attachments] == list(range(1, 11))
    assert [item.disk for item in attachments[:3]] == [
        "vol-boot", "vol-manual", "i-worker-1-published-1",
    ]  # fmt: skip


def test_only_what_is_published_has_the_drivers_tags() -> None:
    attachments = cloud_of(loads(WORKED_EXAMPLE)).operator.attachments("i-worker-1")
    assert [dict(item.tags) for item in attachments] == [{}, {}] + [TAGS] * 8


def test_the_boot_disk_is_one() -> None:
    operator = cloud_of(loads(WORKED_EXAMPLE)).operator
    assert operator.disk("vol-boot").boot
    assert not operator.disk("vol-manual").boot


def test_described_disks_have_what_is_described() -> None:
    disk = cloud_of(loads(WORKED_EXAMPLE)).operator.disk("vol-shared")
    assert disk == Disk("vol-shared", "region-1a", size_gib=100, max_attachments=2)


def test_what_is_there_at_the_start_has_no_transition_under_way() -> None:
    cloud = cloud_of(loads(EVERY_VERB))
    for instance in cloud.operator.instances():
        assert all(item.pending is None for item in cloud.operator.attachments(instance.id))


def test_transitions_hold_from_then_on() -> None:
    cloud = cloud_of(loads(EVERY_VERB))
    attachment = cloud.operator.attach("vol-free", "i-a")
    assert attachment.pending is not None
    assert attachment.pending.held
    leaving = cloud.operator.detach("vol-p", "i-a")
    assert leaving is not None
    assert leaving.pending is not None
    assert leaving.pending.reads_left == 3


def test_zones_that_are_listed_are_fixed() -> None:
    cloud = cloud_of(loads(EVERY_VERB))
    with pytest.raises(ZoneNotFound):
        cloud.operator.add_disk(Disk("d", "zone-3"))


def test_zones_that_are_not_listed_grow_with_what_names_them() -> None:
    cloud = cloud_of(loads("scenario: x\ncloud: {instances: [{zone: a}]}\n"))
    cloud.operator.add_disk(Disk("d", "b"))
    assert cloud.operator.zones() == ["a", "b"]


def test_quotas_hold() -> None:
    runtime = VirtualRuntime()
    text = (
        "scenario: x\ncloud: {disks: [{id: d}], api: {describe_disks: {burst: 1, per_second: 0}}}\n"
    )
    cloud = build(loads(text), runtime, published_tags=TAGS)
    cloud.api.describe_disks(["d"], Caller(runtime))
    with pytest.raises(Throttled):
        cloud.api.describe_disks(["d"], Caller(runtime))


def test_a_shared_disk_is_attached_twice() -> None:
    text = (
        "scenario: x\n"
        "cloud: {disks: [{id: d, max_attachments: 2}], "
        "instances: [{id: a, published: [d]}, {id: b, published: [d]}]}\n"
    )
    operator = cloud_of(loads(text)).operator
    assert [operator.attachments(id)[0].disk for id in ("a", "b")] == ["d", "d"]


def test_interfaces_beyond_the_slots_are_made() -> None:
    text = (
        "scenario: x\n"
        "cloud: {instance_types: {t: {slots: 2, network_interfaces_share_slots: true}}, "
        "instances: [{id: a, type: t, network_interfaces: 3, boot_disk: b, attached: 1}]}\n"
    )
    assert cloud_of(loads(text)).operator.slot_users("a") == 5


def test_many_instances_come_from_one_template() -> None:
    text = "scenario: x\ncloud: {instances: {count: 500, id: 'i-{n}', published: 2}}\n"
    operator = cloud_of(loads(text)).operator
    assert len(operator.instances()) == 500
    assert [item.disk for item in operator.attachments("i-500")] == [
        "i-500-published-1", "i-500-published-2",
    ]  # fmt: skip


def test_the_same_scenario_gives_the_same_cloud_under_any_runtime() -> None:
    scenario = loads(WORKED_EXAMPLE)
    first = cloud_of(scenario).operator
    second = build(scenario, SeededRuntime(1), published_tags=TAGS).operator
    assert first.attachments("i-worker-1") == second.attachments("i-worker-1")


def test_an_instance_can_be_added_later() -> None:
    scenario = loads(EVERY_VERB)
    cloud = cloud_of(scenario)
    new = AddInstance(
        id="i-c", type="small", boot_disk="new-boot", attached=("vol-free",), published=1
    )
    plan = add_instance(cloud, new, published_tags=TAGS)
    assert plan.published == ("i-c-published-1",)
    assert cloud.operator.instance("i-c").zone == "zone-1"
    attachments = cloud.operator.attachments("i-c")
    assert [(item.disk, dict(item.tags)) for item in attachments] == [
        ("new-boot", {}),
        ("vol-free", {}),
        ("i-c-published-1", TAGS),
    ]


def test_adding_an_instance_with_too_many_disks_is_refused_by_the_cloud() -> None:
    scenario = loads(EVERY_VERB)
    new = AddInstance(id="i-c", type="small", published=5)
    with pytest.raises(SlotsExhausted):
        add_instance(cloud_of(scenario), new, published_tags=TAGS)
