"""`attachments`, `tags`, `boot`, `count_from`, `zones_are_fixed`, `default_zone`: what files say
when the lists of instances cannot."""

from __future__ import annotations

import pytest

from mockdriver.cloud import Cloud
from mockdriver.cloud.errors import ZoneNotFound
from mockdriver.runtime import VirtualRuntime
from mockdriver.scenario.build import build
from mockdriver.scenario.load import loads
from tests.cloud.small_region import CO_TAGS
from tests.scenario.samples import mistakes_of

ONE = "instances: [{id: i-1, type: t}]\n  instance_types: {t: {slots: 2}}"


def file(*lines: str) -> str:
    return "\n  ".join(["scenario: x\ncloud:", *lines]) + "\n"


def cloud_of(*lines: str) -> Cloud:
    return build(loads(file(*lines)), VirtualRuntime(), published_tags=CO_TAGS)


def states(cloud: Cloud, instance: str = "i-1") -> dict[str, str]:
    return {item.disk: item.state.value for item in cloud.operator.attachments(instance)}


def test_an_attachment_is_attached_unless_it_says_otherwise() -> None:
    cloud = cloud_of(ONE, "attachments: [{disk: a, instance: i-1}]")
    (attachment,) = cloud.operator.attachments("i-1")
    assert (attachment.state.value, attachment.pending, dict(attachment.tags)) == (
        "attached", None, {},
    )  # fmt: skip


@pytest.mark.parametrize("state", ["attaching", "detaching", "busy"])
def test_another_state_is_held_unless_it_says_otherwise(state: str) -> None:
    cloud = cloud_of(ONE, f"attachments: [{{disk: a, instance: i-1, state: {state}}}]")
    cloud.core.runtime.advance(1e6)
    assert states(cloud) == {"a": state}
    cloud.operator.release()
    assert states(cloud) == ({} if state == "detaching" else {"a": "attached"})


def test_what_is_under_way_ends_after_its_time() -> None:
    cloud = cloud_of(
        ONE, "attachments: [{disk: a, instance: i-1, state: detaching, waits_for: 1.5s}]"
    )
    cloud.core.runtime.advance(1.4)
    assert states(cloud) == {"a": "detaching"}
    cloud.core.runtime.advance(0.1)
    assert states(cloud) == {}


def test_a_published_one_has_the_drivers_tags_and_those_that_are_given() -> None:
    cloud = cloud_of(
        ONE, "attachments: [{disk: a, instance: i-1, published: true, tags: {owner: me}}]"
    )
    (attachment,) = cloud.operator.attachments("i-1")
    assert dict(attachment.tags) == {**CO_TAGS, "owner": "me"}


def test_interfaces_do_not_keep_a_disk_out() -> None:
    cloud = cloud_of(
        "instances: [{id: i-1, type: t, network_interfaces: 2}]",
        "instance_types: {t: {slots: 2, network_interfaces_share_slots: true}}",
        "attachments: [{disk: a, instance: i-1}, {disk: b, instance: i-1}]",
    )
    assert cloud.operator.slot_users("i-1") == 4


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (
            ["attachments: [{disk: a, instance: i-2}]"],
            'attachments[0].instance: unknown instance "i-2", allowed: i-1, did you mean "i-1"?',
        ),
        (
            ["attachments: [{disk: a, instance: i-1, state: gone}]"],
            (
                'attachments[0].state: unknown state "gone", allowed: attaching, attached, '
                "detaching, busy"
            ),
        ),
        (
            ["attachments: [{disk: a, instance: i-1, waits_for: held}]"],
            "attachments[0]: waits_for is given, allowed with another state than attached",
        ),
        (
            ["attachments: [{disk: a, instance: i-1, state: busy, waits_for: 0s}]"],
            (
                'attachments[0].waits_for: "0s" is not allowed, allowed: held, a duration (1.5s), '
                "some reads (2 reads)"
            ),
        ),
        (
            ["attachments: [{disk: a, instance: i-1}, {disk: a, instance: i-1}]"],
            'attachments[1]: disk "a" is on instance "i-1" already, allowed: once in all its lists',
        ),
        (
            ["disks: [{id: a, zone: z}]", "attachments: [{disk: a, instance: i-1}]"],
            (
                'attachments[0]: disk "a" is in zone "z", allowed: disks in the instance\'s zone, '
                '"region-1a"'
            ),
        ),
        (
            [f"attachments: [{{disk: {'d' * 129}, instance: i-1}}]"],
            (
                f'attachments[0].disk: the disk\'s id "{"d" * 100}"… (129 characters) has 129 '
                "bytes, allowed: at most 128, since it is a CSI volume_id"
            ),
        ),
        (
            ["disks: [{id: a, tags: {b: 1}}]"],
            (
                "disks[0].tags.b: 1 is not allowed, allowed: text of at most 32768 bytes; text "
                'that looks like something else needs quotes: "1"'
            ),
        ),
        (
            ["disks: [{id: a, tags: [b]}]"],
            "disks[0].tags: a list is not allowed, allowed: a mapping of tags, each with a text",
        ),
        (
            ["zones: [a]", "default_zone: b"],
            'default_zone: unknown zone "b", allowed: a',
        ),
    ],
)
def test_mistakes_are_told(lines: list[str], problem: str) -> None:
    found = mistakes_of(file(ONE if "zones" not in lines[0] else "region: r", *lines))
    assert any(f": cloud.{problem}" in line for line in found), found


def test_more_disks_than_slots_are_a_mistake_wherever_they_stand() -> None:
    three = [f"  - {{disk: {disk}, instance: i-1}}" for disk in "abc"]
    (line,) = mistakes_of(file(ONE, "attachments:", *three))
    assert "has 3 disks in slots, allowed: at most its 2 slots" in line


def test_force_allows_what_is_refused_otherwise() -> None:
    cloud = cloud_of(
        "instances: [{id: i-1, type: t, attached: [a, b]}, {id: i-2, zone: z}]",
        "instance_types: {t: {slots: 2}}",
        "attachments:",
        "  - {disk: c, instance: i-1, force: true}",
        "  - {disk: a, instance: i-2, force: true}",
    )
    assert states(cloud) == {"a": "attached", "b": "attached", "c": "attached"}
    assert states(cloud, "i-2") == {"a": "attached"}


def test_a_boot_disk_need_not_be_attached() -> None:
    cloud = cloud_of(ONE, "disks: [{id: b, boot: true}]", "attachments: [{disk: b, instance: i-1}]")
    assert cloud.operator.view_instance("i-1").description.boot_disks == {"b"}
    free = cloud_of("disks: [{id: b, boot: true}]")
    assert free.operator.disk("b").boot


def test_a_boot_disk_outside_of_the_slots_is_not_counted() -> None:
    lines = (
        "instances: [{id: i-1, type: t, attached: [b, c]}]",
        "instance_types: {t: {slots: 1, boot_disk_uses_slot: false}}",
        "disks: [{id: b, boot: true}]",
    )
    assert cloud_of(*lines).operator.slot_users("i-1") == 1


def test_a_count_begins_where_it_is_told() -> None:
    cloud = cloud_of("instances: {id: 'i-{n}', count: 2, count_from: 7, attached: ['d-{n}']}")
    assert [item.id for item in cloud.operator.instances()] == ["i-7", "i-8"]
    assert cloud.operator.has_disk("d-8")
    (line,) = mistakes_of(file("instances: {id: i-1, count_from: 7}"))
    assert "count is missing, count_from says where it begins" in line


def test_zones_can_be_given_and_still_be_open() -> None:
    lines = ("zones: [a, b]", "zones_are_fixed: false", "instances: [{id: i-1, zone: c}]")
    cloud = cloud_of(*lines)
    assert cloud.operator.zones() == ["a", "b", "c"]
    cloud.operator.add_new_zone("d")
    closed = cloud_of("zones_are_fixed: true", "instances: [{id: i-1, zone: c}]")
    assert closed.operator.zones() == ["c"]
    with pytest.raises(ZoneNotFound):
        closed.core.require_zone_if_fixed("d")


def test_what_names_no_zone_goes_where_the_file_says() -> None:
    lines = ("zones: [a, b]", "default_zone: b", "instances: [{id: i-1}]", "disks: [{id: d}]")
    cloud = cloud_of(*lines)
    assert cloud.operator.instance("i-1").zone == "b"
    assert cloud.operator.disk("d").zone == "b"
    assert cloud.operator.default_zone() == "b"
