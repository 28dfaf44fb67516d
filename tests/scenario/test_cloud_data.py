"""What a file says of a cloud makes the same cloud again, whatever was done to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule

from mockdriver.cloud import AttachmentState, Cloud, Disk, Quota
from mockdriver.cloud.api import API_NAMES
from mockdriver.cloud.transitions import Pending
from mockdriver.runtime import VirtualRuntime
from mockdriver.scenario.build import build
from mockdriver.scenario.cloud_data import cloud_data
from mockdriver.scenario.disk_data import MOST_IN_ORDER
from mockdriver.scenario.load import loads
from mockdriver.scenario.writing import file_text
from tests.cloud.operator_machine import OperatorMachine
from tests.cloud.small_region import CO_TAGS
from tests.scenario.said import said

quotas = st.builds(
    Quota,
    burst=st.just(3),
    per_second=st.sampled_from((0.5, 1e-05, 7.0)),
    max_ids=st.none() | st.integers(1, 5),
    delay_seconds=st.sampled_from((0.0, 0.05, 90.0, 0.123456789)),
)


class ExportMachine(OperatorMachine):
    """The operator's cloud, and a second one that is built of what a file says of it."""

    @rule(name=st.sampled_from(API_NAMES), quota=quotas)
    def set_quota(self, name: str, quota: Quota) -> None:
        self.region.api.set_quota(name, quota)

    @invariant()
    def a_file_says_all_of_it(self) -> None:
        notes: list[str] = []
        text = written(self.region.cloud, notes)
        assert said(loaded(text)) == said(self.region.cloud), text


TestExport = pytest.mark.slow(ExportMachine.TestCase)
TestExport.settings = settings(
    derandomize=True, deadline=None, max_examples=30, stateful_step_count=25
)


def written(cloud: Cloud, notes: list[str], tags: Mapping[str, str] = CO_TAGS) -> str:
    return file_text({"scenario": "x", "cloud": cloud_data(cloud.snapshot(), tags, notes)})


def loaded(text: str) -> Cloud:
    return build(loads(text), VirtualRuntime(), published_tags=CO_TAGS)


def cloud_of(lines: str) -> Cloud:
    return loaded(f"scenario: x\ncloud:\n  {lines}")


def lines_of(cloud: Cloud) -> list[str]:
    """Return what the file says below `cloud:`."""
    return [line.strip() for line in written(cloud, []).split("cloud:\n")[1].splitlines()]


def again(cloud: Cloud) -> Cloud:
    """Return the cloud that the file makes; it must be the same."""
    second = loaded(written(cloud, []))
    assert said(second) == said(cloud)
    return second


# ---------------------------------------------------------------------------------- what is short


def test_what_is_the_default_is_not_said() -> None:
    cloud = cloud_of("instances: [{id: i-1, attached: 2, published: 1, boot_disk: b}]")
    assert lines_of(cloud) == [
        "instances:", "- {id: i-1, boot_disk: b, attached: 2, published: 1}",
    ]  # fmt: skip


def test_an_empty_cloud_says_nothing() -> None:
    text = written(loaded("scenario: x"), [])
    assert text == "scenario: x\ncloud: {}\n"


def test_instances_that_are_alike_are_one_line() -> None:
    cloud = cloud_of(
        "instances: {count: 5000, id: 'node-{n}', boot_disk: 'boot-{n}', published: 2}"
    )
    cloud.operator.attach("manual", "node-77", make=True)
    lines = lines_of(cloud)
    assert lines[:2] == [
        "instances:", '- {id: "node-{n}", boot_disk: "boot-{n}", published: 2, count: 5000}',
    ]  # fmt: skip
    assert lines[2:] == ["attachments:", "- {disk: manual, instance: node-77}"]
    again(cloud)


def test_a_row_that_is_broken_goes_on_with_its_number() -> None:
    cloud = cloud_of("instances: {count: 10, id: 'i-{n}'}")
    cloud.operator.add_network_interface("i-4")
    assert lines_of(cloud)[1:] == [
        '- {id: "i-{n}", count: 3}',
        "- {id: i-4, network_interfaces: 2}",
        '- {id: "i-{n}", count: 6, count_from: 5}',
    ]
    again(cloud)


def test_the_order_of_more_disks_than_a_file_can_list_is_noted() -> None:
    cloud = cloud_of("instances: {count: 250, id: 'i-{n}', published: 9}")
    cloud.operator.add_disk(Disk("late", "region-1a", size_gib=7))
    notes: list[str] = []
    text = written(cloud, notes)
    assert notes == [f"the order of the disks, which are more than {MOST_IN_ORDER}"]
    assert len(text.splitlines()) < 20
    assert len(loaded(text).operator.find_disks(lambda _: True).disks) == 1000


# --------------------------------------------------------------------------------- what is rare


@pytest.mark.parametrize(
    "text",
    [
        "true",
        "Null",
        "no",
        "12",
        "1e5",
        "a: b",
        "#",
        "",
        " x",
        "{n}",
        "ä\u2028😀",
        "a\nb\t\\\"'",
    ],
)
def test_any_text_comes_back_as_it_was(text: str) -> None:
    cloud = cloud_of("instances: [{id: i-1}]")
    cloud.operator.add_disk(Disk("vol", "region-1a", tags={"key": text}))
    again(cloud)


def test_attachments_keep_their_order_whatever_it_is() -> None:
    cloud = cloud_of("instances: [{id: i-1, boot_disk: b, attached: 1, published: 1}, {id: i-2}]")
    operator = cloud.operator
    operator.detach("b", "i-1", force=True)
    operator.attach("b", "i-1")
    operator.add_disk(Disk("shared", "region-1a", max_attachments=2))
    operator.attach("shared", "i-2")
    operator.attach("shared", "i-1")
    operator.attach("late", "i-2", make=True)
    second = again(cloud)
    assert [item.disk for item in second.operator.attachments("i-1")] == [
        "i-1-attached-1", "i-1-published-1", "b", "shared",
    ]  # fmt: skip


def test_what_is_under_way_goes_on_for_as_long() -> None:
    cloud = cloud_of("instances: [{id: i-1, attached: [a, b, c, d]}]")
    for disk, pending in (
        ("a", Pending(held=True)),
        ("b", Pending(reads_left=2)),
        ("c", Pending(due_seconds=1.25)),
    ):
        cloud.operator.change_attachment(
            disk, "i-1", state=AttachmentState.DETACHING, pending=pending
        )
    assert lines_of(cloud)[-4:] == [
        "- {disk: a, instance: i-1, state: detaching}",
        '- {disk: b, instance: i-1, state: detaching, waits_for: "2 reads"}',
        '- {disk: c, instance: i-1, state: detaching, waits_for: "1.25s"}',
        "- {disk: d, instance: i-1}",
    ]
    again(cloud)


def test_tags_beside_the_drivers_are_said_and_other_ones_too() -> None:
    cloud = cloud_of("instances: [{id: i-1, published: [a, b]}]")
    cloud.operator.change_attachment("a", "i-1", set_tags={"owner": "me"})
    cloud.operator.change_attachment("b", "i-1", remove_tags=tuple(CO_TAGS), set_tags={"x": "z"})
    assert lines_of(cloud)[-2:] == [
        "- {disk: a, instance: i-1, published: true, tags: {owner: me}}",
        "- {disk: b, instance: i-1, tags: {x: z}}",
    ]
    again(cloud)


def test_what_is_past_the_slots_is_forced() -> None:
    cloud = cloud_of(
        "instance_types: {t: {slots: 3}}\n  instances: [{id: i-1, type: t, attached: 3}]"
    )
    cloud.operator.change_type("t", lambda type_: replace(type_, slots=1))
    assert lines_of(cloud)[-2:] == [
        "- {disk: i-1-attached-2, instance: i-1, force: true}",
        "- {disk: i-1-attached-3, instance: i-1, force: true}",
    ]
    again(cloud)


def test_what_was_removed_while_in_use_is_noted() -> None:
    cloud = cloud_of("zones: [a, b]\n  instance_types: {t: {}}\n  instances: [{id: i-1, type: t}]")
    cloud.operator.remove_zone("a", force=True)
    cloud.operator.remove_instance_type("t", force=True)
    notes: list[str] = []
    second = loaded(written(cloud, notes))
    assert notes == [
        "that instance i-1 had the type t, now removed",
        "that zone a was removed while something was in it",
    ]
    assert second.operator.zones() == ["b", "a"]
    assert second.operator.instance("i-1").type is None
