"""What an operator changes, and how he finds it again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from mockdriver.cloud import (
    Caller,
    Disk,
    Instance,
    InstanceType,
    Quota,
    Transition,
    Transitions,
)
from mockdriver.cloud.errors import (
    AlreadyExists,
    DiskNotFound,
    InstanceNotFound,
    InstanceTypeNotFound,
    NetworkInterfaceNotFound,
    NotAttached,
    SlotsExhausted,
    Throttled,
    ZoneNotFound,
)
from mockdriver.runtime import SeededRuntime
from tests.cloud.small_region import CO_TAGS, OTHER_ZONE, ZONE, SmallRegion


@pytest.fixture
def region() -> SmallRegion:
    region = SmallRegion()
    region.add_instance("i-1", slots=3, interfaces=1)
    return region


# ------------------------------------------------------------------------------ zones and types


def test_a_zone_is_added_once(region: SmallRegion) -> None:
    assert region.operator.add_new_zone("zone-c").available_gib > 0
    with pytest.raises(AlreadyExists):
        region.operator.add_new_zone("zone-c")
    assert [view.name for view in region.operator.view_zones()] == [ZONE, "zone-c"]


def test_a_type_is_added_once_and_changed_in_one_step(region: SmallRegion) -> None:
    with pytest.raises(AlreadyExists):
        region.operator.add_instance_type(InstanceType("type-of-i-1"))
    changed = region.operator.change_type("type-of-i-1", lambda type_: replace(type_, slots=0))
    assert region.operator.instance_types() == [changed]
    with pytest.raises(InstanceTypeNotFound):
        region.operator.change_type("none", lambda type_: type_)


def test_everything_is_counted(region: SmallRegion) -> None:
    region.attach_new(2)
    region.add_disk("free")
    summary = region.operator.summary()
    assert (summary.instances, summary.instance_types) == (1, 1)
    assert (summary.disks, summary.attachments, summary.network_interfaces) == (3, 2, 1)


def test_transitions_change_from_now_on(region: SmallRegion) -> None:
    held = Transition(held=True)
    assert region.operator.set_transitions(attach=held) == Transitions(attach=held)
    attachment = region.operator.attach(region.add_disk("vol"), "i-1")
    region.operator.set_transitions(attach=Transition())
    assert region.states() == {"vol": "attaching"}
    assert attachment.pending is not None


# ---------------------------------------------------------------------------------- instances


def test_an_instance_changes_type_and_zone_in_one_step(region: SmallRegion) -> None:
    region.put_type("other", slots=9)
    view = region.operator.change_instance(
        "i-1", lambda item: replace(item, type="type-of-other", zone=OTHER_ZONE)
    )
    assert (view.type.slots, view.description.instance.zone) == (9, OTHER_ZONE)
    assert OTHER_ZONE in region.operator.zones()
    with pytest.raises(InstanceTypeNotFound):
        region.operator.change_instance("i-1", lambda item: replace(item, type="none"))
    with pytest.raises(InstanceNotFound):
        region.operator.change_instance("none", lambda item: item)


def test_where_zones_are_fixed_an_instance_moves_to_a_known_one_only() -> None:
    region = SmallRegion(zones_are_fixed=True)
    region.operator.add_zone(ZONE)
    region.operator.add_instance(Instance("i-1", ZONE))
    with pytest.raises(ZoneNotFound):
        region.operator.change_instance(
            "i-1", lambda item: replace(item, zone=OTHER_ZONE), force=True
        )


def test_instances_are_found_page_by_page_while_some_come_and_go(region: SmallRegion) -> None:
    for n in range(2, 7):
        region.add_instance(f"i-{n}")
    first = region.operator.find_instances(lambda item: item.id != "i-2", limit=2)
    assert [view.description.instance.id for view in first.instances] == ["i-1", "i-3"]
    assert first.total == 5
    region.operator.terminate_instance("i-3")
    region.operator.terminate_instance("i-4")
    region.add_instance("i-9")
    assert first.next_place is not None
    second = region.operator.find_instances(lambda _: True, after=first.next_place, limit=2)
    assert [view.description.instance.id for view in second.instances] == ["i-5", "i-6"]
    assert second.next_place is not None
    last = region.operator.find_instances(lambda _: True, after=second.next_place, limit=2)
    assert [view.description.instance.id for view in last.instances] == ["i-9"]
    assert last.next_place is None


def test_a_look_at_an_instance_is_no_read() -> None:
    region = SmallRegion(attach=Transition(after_reads=1))
    region.add_instance("i-1")
    region.operator.attach(region.add_disk("vol"), "i-1")
    for _ in range(3):
        region.operator.view_instance("i-1")
        region.operator.find_instances(lambda _: True)
        region.operator.all_attachments()
        region.operator.describe_disk("vol")
    assert region.states() == {"vol": "attaching"}


# --------------------------------------------------------------------------------- interfaces


def test_interfaces_get_names_that_are_free(region: SmallRegion) -> None:
    region.operator.add_network_interface("i-1", "i-1-eni-3")
    added = region.operator.add_network_interfaces("i-1", 2)
    assert [item.id for item in added] == ["i-1-eni-4", "i-1-eni-5"]
    region.operator.remove_network_interface("i-1", "i-1-eni-1")
    with pytest.raises(NetworkInterfaceNotFound) as refusal:
        region.operator.remove_network_interface("i-1", "i-1-eni-1")
    assert "'i-1-eni-1'" in str(refusal.value)
    assert [item.id for item in region.operator.network_interfaces()] == [
        "i-1-eni-3", "i-1-eni-4", "i-1-eni-5",
    ]  # fmt: skip


# -------------------------------------------------------------------------------------- disks


def test_the_tags_of_a_disk_are_found_again_after_a_change(region: SmallRegion) -> None:
    region.operator.add_disk(Disk("vol", ZONE, tags={"a": "1"}))
    region.operator.change_disk("vol", lambda disk: replace(disk, tags={"a": "2"}))
    found = {value: region.api.find_disks("a", value, region.caller) for value in ("1", "2")}
    assert [len(disks) for disks in found.values()] == [0, 1]
    with pytest.raises(DiskNotFound):
        region.operator.change_disk("none", lambda disk: disk)


def test_disks_are_found_by_instance_and_page_by_page(region: SmallRegion) -> None:
    region.attach_new(3)
    region.add_disks(2, "free")
    attached = region.operator.find_disks(lambda _: True, instance="i-1", limit=2)
    assert [item.disk.id for item in attached.disks] == ["vol-1", "vol-2"]
    assert (attached.total, attached.next_place is None) == (3, False)
    free = region.operator.find_disks(lambda disk: disk.id.startswith("free"))
    assert [item.disk.id for item in free.disks] == ["free-1", "free-2"]
    with pytest.raises(InstanceNotFound):
        region.operator.find_disks(lambda _: True, instance="none")


def test_an_attach_makes_the_disk_and_takes_it_back_if_it_is_refused(region: SmallRegion) -> None:
    for n in range(3):
        region.operator.attach(f"made-{n}", "i-1", make=True)
    with pytest.raises(SlotsExhausted):
        region.operator.attach("made-3", "i-1", make=True)
    assert region.operator.has_disk("made-2")
    assert not region.operator.has_disk("made-3")


# -------------------------------------------------------------------------------- attachments


def test_tags_of_an_attachment_are_set_and_removed(region: SmallRegion) -> None:
    region.publish(region.add_disk("vol"))
    changed = region.operator.change_attachment("vol", "i-1", set_tags={"owner": "me"})
    assert changed.tags == {**CO_TAGS, "owner": "me"}
    changed = region.operator.change_attachment("vol", "i-1", remove_tags=("owner", "none"))
    assert changed.tags == CO_TAGS


def test_an_attachment_with_an_operators_tag_is_adopted_and_keeps_it(region: SmallRegion) -> None:
    region.operator.attach(region.add_disk("vol"), "i-1", tags={"owner": "me"})
    assert region.publish("vol").tags == {**CO_TAGS, "owner": "me"}


def test_what_is_not_attached_cannot_be_changed_nor_found(region: SmallRegion) -> None:
    region.add_disk("vol")
    for refused in (region.operator.change_attachment, region.operator.require_attachment):
        with pytest.raises(NotAttached):
            refused("vol", "i-1")
    with pytest.raises(DiskNotFound):
        region.operator.require_attachment("none", "i-1")
    with pytest.raises(InstanceNotFound):
        region.operator.require_attachment("vol", "none")


def test_a_release_of_what_is_not_there_is_told(region: SmallRegion) -> None:
    with pytest.raises(DiskNotFound):
        region.operator.release(disk="none")
    with pytest.raises(InstanceNotFound):
        region.operator.release(instance="none")


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("what", ["change", "remove_disk", "attach_anew"])
def test_who_waits_for_an_attachment_notices_what_an_operator_does(seed: int, what: str) -> None:
    runtime = SeededRuntime(seed)
    region = SmallRegion(attach=Transition(held=True), runtime=runtime)
    region.add_instance("i-1")
    attachment = region.operator.attach(region.add_disk("vol"), "i-1")
    ends: list[object] = []

    def wait() -> None:
        ends.append(region.operator.wait_until_settled(attachment, Caller(runtime)))

    def act() -> None:
        if what == "change":
            region.operator.change_attachment(
                "vol", "i-1", state=type(attachment.state)("attached")
            )
        elif what == "remove_disk":
            region.operator.remove_disk("vol", force=True)
        else:
            region.operator.detach("vol", "i-1", immediately=True)
            region.operator.attach("vol", "i-1")

    runtime.run(wait, act)
    (end,) = ends
    assert (end is None) == (what != "change")


# --------------------------------------------------------------------------------------- APIs


def test_calls_and_throttled_ones_are_counted_by_api() -> None:
    region = SmallRegion(quotas={"attach": Quota(burst=1, per_second=0)})
    region.add_instance("i-1")
    region.publish(region.add_disk("vol"))
    with pytest.raises(Throttled):
        region.publish("vol")
    status = next(item for item in region.api.statuses() if item.name == "attach")
    assert (status.calls, status.throttled, status.quota.burst) == (2, 1, 1)
