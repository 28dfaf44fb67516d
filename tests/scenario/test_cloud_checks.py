"""Mistakes between the lines of a `cloud` part, and what only looks like one."""

from __future__ import annotations

import pytest

from mockdriver.scenario.load import loads
from tests.scenario.samples import mistakes_of


def cloud(lines: str) -> str:
    """Return a scenario whose cloud has these lines, each indented by two."""
    return "scenario: x\ncloud:\n" + "".join(f"  {line}\n" for line in lines.splitlines())


def test_a_type_must_be_described() -> None:
    text = cloud("instance_types: {small: {}, large: {}}\ninstances: [{type: smal}, {type: x}]")
    assert mistakes_of(text) == [
        (
            '4:22: cloud.instances[0].type: unknown instance type "smal", allowed: small, large, '
            'did you mean "small"?'
        ),
        '4:36: cloud.instances[1].type: unknown instance type "x", allowed: small, large',
    ]


def test_an_instance_needs_no_type() -> None:
    assert mistakes_of(cloud("instances: [{id: a}]")) == []


def test_zones_that_are_listed_are_all_there_are() -> None:
    text = cloud(
        "zones: [zone-1]\ninstances: [{zone: zone-2}]\ndisks: [{id: d, zone: zone-3}, {id: e}]"
    )
    assert mistakes_of(text) == [
        (
            '4:22: cloud.instances[0].zone: unknown zone "zone-2", allowed: zone-1, '
            'did you mean "zone-1"?'
        ),
        (
            '5:25: cloud.disks[0].zone: unknown zone "zone-3", allowed: zone-1, '
            'did you mean "zone-1"?'
        ),
    ]


def test_without_a_list_every_zone_is_allowed() -> None:
    assert mistakes_of(cloud("instances: [{zone: a}, {zone: b}]\ndisks: [{id: d, zone: c}]")) == []


def test_instance_ids_are_given_once() -> None:
    text = cloud('instances: [{id: i-2}, {id: "i-{n}", count: 3}, {}, {id: i-2}]')
    assert mistakes_of(text) == [
        '3:26: cloud.instances[1]: instance "i-2" is there already, at 3:15; ids are given once',
        '3:55: cloud.instances[3]: instance "i-2" is there already, at 3:15; ids are given once',
    ]


def test_ids_that_positions_give_count_too() -> None:
    assert mistakes_of(cloud("instances: [{id: i-2}, {}]")) == [
        '3:26: cloud.instances[1]: instance "i-2" is there already, at 3:15; ids are given once'
    ]


def test_an_id_that_a_template_makes_too_long_is_a_mistake() -> None:
    (line,) = mistakes_of(cloud(f"instances: {{count: 1000, id: '{'x' * 252}-{{n}}'}}"))
    assert line.startswith("3:14: cloud.instances: ")
    assert line.endswith(" is too long, allowed: at most 256 bytes")


def test_disk_ids_are_given_once() -> None:
    assert mistakes_of(cloud("disks: [{id: a}, {id: b}, {id: a}, {id: a}]")) == [
        '3:34: cloud.disks[2].id: disk "a" is there already, at 3:16; ids are given once',
        '3:43: cloud.disks[3].id: disk "a" is there already, at 3:16; ids are given once',
    ]


def test_interface_ids_are_given_once() -> None:
    lines = "instances:\n  - {network_interfaces: [e]}\n  - {network_interfaces: [f, e]}"
    assert mistakes_of(cloud(lines)) == [
        (
            '5:28: cloud.instances[1].network_interfaces: network interface "e" is there already, '
            "at 4:28; ids are given once"
        )
    ]


def test_interfaces_of_a_template_need_the_number_too() -> None:
    text = cloud('instances: {count: 2, id: "i-{n}", network_interfaces: [e]}')
    assert mistakes_of(text) == [
        (
            '3:58: cloud.instances.network_interfaces: network interface "e" is there already, '
            "at 3:58; ids are given once"
        )
    ]
    assert mistakes_of(text.replace("[e]", '["e-{n}"]')) == []


TYPES = "instance_types:\n  two: {slots: 2, network_interfaces_share_slots: true}\n"


def test_more_disks_than_slots_are_a_mistake() -> None:
    text = cloud(
        TYPES + "instances:\n  - {id: a, type: two, boot_disk: b, attached: 1, published: 1}"
    )
    assert mistakes_of(text) == [
        (
            '6:7: cloud.instances[0]: instance "a" of type "two" has 3 disks in slots, '
            "allowed: at most its 2 slots"
        )
    ]


def test_a_boot_disk_outside_the_slots_does_not_count() -> None:
    types = "instance_types: {two: {slots: 2, boot_disk_uses_slot: false}}\n"
    text = cloud(types + "instances: [{type: two, boot_disk: b, attached: 1, published: 1}]")
    assert mistakes_of(text) == []


def test_interfaces_beyond_the_slots_are_allowed_and_warned_about() -> None:
    text = cloud(TYPES + "instances:\n  - {id: a, type: two, network_interfaces: 2, published: 1}")
    assert [str(line) for line in loads(text, "f").warnings] == [
        (
            'f:6:7: cloud.instances[0]: instance "a" of type "two" has 2 network interfaces and '
            "1 disks in 2 slots; attaching will be refused"
        )
    ]


def test_full_slots_are_nothing_to_warn_about() -> None:
    text = cloud(TYPES + "instances:\n  - {id: a, type: two, network_interfaces: 1, published: 1}")
    assert loads(text).warnings == ()


def test_a_disk_is_on_an_instance_once() -> None:
    text = cloud("instances: [{id: a, boot_disk: d, attached: [e], published: [e, d]}]")
    assert mistakes_of(text) == [
        (
            '3:63: cloud.instances[0].published: disk "e" is on instance "a" already, '
            "allowed: once in all its lists"
        )
    ]


def test_a_disk_is_attached_in_no_more_places_than_it_can_be() -> None:
    lines = "instances:\n  - {id: a, attached: [d]}\n  - {id: b, published: [d]}\n"
    assert mistakes_of(cloud(lines)) == [
        (
            '5:26: cloud.instances[1].published: disk "d" is attached in more places than its '
            "max_attachments, allowed: 1"
        )
    ]
    assert mistakes_of(cloud(lines + "disks: [{id: d, max_attachments: 2}]")) == []


def test_a_disk_of_a_template_is_in_many_places() -> None:
    instances = 'instances: {count: 2, id: "i-{n}", attached: [d]}'
    lines = f"disks: [{{id: d, max_attachments: 2}}]\n{instances}"
    assert mistakes_of(cloud(lines)) == []
    (line,) = mistakes_of(cloud(lines.replace("count: 2", "count: 500")))
    assert line == (
        '4:50: cloud.instances.attached: disk "d" is attached in more places than its '
        "max_attachments, allowed: 2"
    )


def test_a_boot_disk_belongs_to_one_instance_however_many_attachments_it_can_have() -> None:
    for other in ("boot_disk: d", "attached: [d]", "published: [d]"):
        lines = (
            "disks: [{id: d, max_attachments: 2}]\n"
            f"instances: [{{id: a, boot_disk: d}}, {{id: b, {other}}}]"
        )
        (line,) = mistakes_of(cloud(lines))
        assert line.endswith('disk "d" is a boot disk, which belongs to one instance alone')


def test_a_disk_is_attached_in_its_own_zone() -> None:
    lines = (
        "instances: [{id: a, zone: z-1, attached: [d]}, {id: b, zone: z-2, attached: [e]}]\n"
        "disks: [{id: d, zone: z-2}, {id: e, zone: z-2}]\n"
    )
    assert mistakes_of(cloud(lines)) == [
        (
            '3:44: cloud.instances[0].attached: disk "d" is in zone "z-2", '
            'allowed: disks in the instance\'s zone, "z-1"'
        )
    ]


def test_a_disk_without_a_zone_is_in_the_zone_of_its_first_instance_only() -> None:
    lines = (
        "instances: [{zone: z-1, attached: [d]}, {zone: z-2, attached: [d]}]\n"
        "disks: [{id: d, max_attachments: 2}]\n"
    )
    assert mistakes_of(cloud(lines)) == [
        (
            '3:65: cloud.instances[1].attached: disk "d" is in zone "z-1", '
            'allowed: disks in the instance\'s zone, "z-2"'
        )
    ]


def test_a_disk_without_a_zone_is_where_its_instance_is() -> None:
    lines = "instances: [{zone: z-1, attached: [d]}]\ndisks: [{id: d, size_gib: 5}]\n"
    (disk,) = loads(cloud(lines)).plan.disks
    assert (disk.zone, disk.size_gib) == ("z-1", 5)


@pytest.mark.parametrize(
    ("instances", "count"),
    [
        ("{count: 50000, published: 100000}", "5000100000 resources, allowed: at most 200000"),
        ("[{count: 50000}, {}]", "50001 instances, allowed: at most 50000"),
        ("{count: 50000, attached: [a, b, c], boot_disk: d}", "300000 resources"),
    ],
)
def test_a_cloud_of_many_resources_is_refused_before_they_are_made(
    instances: str, count: str
) -> None:
    (line,) = mistakes_of(cloud(f"instances: {instances}"))
    assert line.startswith(f"2:1: cloud: the cloud begins with {count}")


def test_as_many_resources_as_are_allowed_are_planned() -> None:
    plan = loads(cloud("instances: {count: 4000, network_interfaces: 9, published: 40}")).plan
    assert len(plan.instances) * (1 + 9) + len(plan.disks) == 200_000


def test_a_disk_id_is_no_longer_than_a_volume_id_can_be() -> None:
    long = "d" * 129
    text = cloud(f"instances: [{{id: i, attached: [{long}]}}]\ndisks: [{{id: {long}}}]")
    found = mistakes_of(text)
    assert [line.split(": ")[1] for line in found] == [
        "cloud.instances[0].attached",
        "cloud.disks[0].id",
    ]
    assert all("has 129 bytes, allowed: at most 128" in line for line in found)


def test_a_disk_id_that_is_made_from_an_instance_id_is_not_too_long_either() -> None:
    text = cloud(f"instances: [{{id: {'i' * 120}, published: 1, attached: 0}}]")
    (line,) = mistakes_of(text)
    assert "cloud.instances[0].published: the disk's id" in line


def test_a_disk_id_of_128_bytes_is_fine() -> None:
    assert mistakes_of(cloud(f"disks: [{{id: {'d' * 128}}}]")) == []
