"""Creating, finding and deleting disks by the API."""

from __future__ import annotations

import pytest

from mockdriver.cloud import Transition
from mockdriver.cloud.errors import DiskSizeNotAllowed, ZoneFull, ZoneNotFound
from tests.cloud.small_region import OTHER_ZONE, ZONE, SmallRegion


@pytest.fixture
def region() -> SmallRegion:
    region = SmallRegion()
    region.operator.add_zone(ZONE)
    return region


def test_created_disks_get_ids_of_their_own(region: SmallRegion) -> None:
    ids = [region.api.create_disk(ZONE, 10, region.caller).id for _ in range(5)]
    assert len(set(ids)) == 5
    assert all(region.operator.has_disk(id_) for id_ in ids)


def test_a_created_disk_gets_no_id_that_a_disk_out_of_band_has(region: SmallRegion) -> None:
    probe = SmallRegion()
    probe.operator.add_zone(ZONE)
    first_id = probe.api.create_disk(ZONE, 10, probe.caller).id
    region.add_disk(first_id)
    assert region.api.create_disk(ZONE, 10, region.caller).id != first_id


def test_the_id_of_a_deleted_disk_is_not_given_again(region: SmallRegion) -> None:
    first = region.api.create_disk(ZONE, 10, region.caller)
    region.api.delete_disk(first.id, region.caller)
    assert region.api.create_disk(ZONE, 10, region.caller).id != first.id


def test_a_created_disk_has_the_size_zone_and_tags_that_were_asked_for(
    region: SmallRegion,
) -> None:
    disk = region.api.create_disk(ZONE, 33, region.caller, tags={"name": "pvc-1"})
    assert (disk.size_gib, disk.zone, disk.tags) == (33, ZONE, {"name": "pvc-1"})
    assert region.operator.disk(disk.id) == disk


@pytest.mark.parametrize("size_gib", [1, 65_536])
def test_the_smallest_and_the_largest_disk_are_made(region: SmallRegion, size_gib: int) -> None:
    assert region.api.create_disk(ZONE, size_gib, region.caller).size_gib == size_gib


@pytest.mark.parametrize("size_gib", [-1, 0, 65_537])
def test_a_disk_past_the_smallest_or_the_largest_is_refused(
    region: SmallRegion, size_gib: int
) -> None:
    with pytest.raises(DiskSizeNotAllowed) as refusal:
        region.api.create_disk(ZONE, size_gib, region.caller)
    assert (refusal.value.size_gib, refusal.value.min_gib, refusal.value.max_gib) == (
        size_gib,
        1,
        65_536,
    )


def test_a_disk_is_never_created_in_an_unknown_zone_even_where_zones_are_open(
    region: SmallRegion,
) -> None:
    with pytest.raises(ZoneNotFound) as refusal:
        region.api.create_disk(OTHER_ZONE, 10, region.caller)
    assert (refusal.value.zone, refusal.value.zones) == (OTHER_ZONE, (ZONE,))


def test_disks_are_found_by_a_tag_oldest_first(region: SmallRegion) -> None:
    first = region.api.create_disk(ZONE, 10, region.caller, tags={"name": "a", "of": "x"})
    region.api.create_disk(ZONE, 10, region.caller, tags={"name": "b"})
    third = region.api.create_disk(ZONE, 10, region.caller, tags={"name": "a"})
    found = region.api.find_disks("name", "a", region.caller)
    assert [item.disk for item in found] == [first, third]


def test_a_tag_is_found_by_key_and_value_both(region: SmallRegion) -> None:
    region.api.create_disk(ZONE, 10, region.caller, tags={"name": "a"})
    assert region.api.find_disks("name", "b", region.caller) == []
    assert region.api.find_disks("eman", "a", region.caller) == []


def test_a_deleted_disk_is_not_found_by_its_tag(region: SmallRegion) -> None:
    disk = region.api.create_disk(ZONE, 10, region.caller, tags={"name": "a"})
    other = region.api.create_disk(ZONE, 10, region.caller, tags={"name": "a"})
    region.api.delete_disk(disk.id, region.caller)
    found = region.api.find_disks("name", "a", region.caller)
    assert [item.disk for item in found] == [other]


def test_tags_that_the_caller_changes_afterwards_do_not_change_the_disk(
    region: SmallRegion,
) -> None:
    tags = {"name": "a"}
    disk = region.api.create_disk(ZONE, 10, region.caller, tags=tags)
    tags["name"] = "b"
    assert region.operator.disk(disk.id).tags == {"name": "a"}
    region.api.delete_disk(disk.id, region.caller)
    assert region.api.find_disks("name", "a", region.caller) == []


def test_a_found_disk_comes_with_its_attachments(region: SmallRegion) -> None:
    region.add_instance()
    disk = region.api.create_disk(ZONE, 10, region.caller, tags={"name": "a"})
    attachment = region.publish(disk.id)
    (found,) = region.api.find_disks("name", "a", region.caller)
    assert found.attachments == (attachment,)
    assert found.attachment_to("i-1") == attachment
    assert found.attachment_to("i-2") is None


# ---------------------------------------------------------------------------------------- listing


def listed(region: SmallRegion, after: int = 0, limit: int = 100) -> tuple[list[str], bool]:
    """Return the ids of a page, and whether more follow."""
    page = region.api.list_disks(after, limit, region.caller)
    return [description.disk.id for _, description in page.disks], page.more


def test_disks_are_listed_in_the_order_of_creation(region: SmallRegion) -> None:
    assert listed(region) == ([], False)
    ids = region.add_disks(5)
    assert listed(region) == (ids, False)


@pytest.mark.parametrize(
    ("limit", "count", "more"), [(1, 1, True), (4, 4, True), (5, 5, False), (6, 5, False)]
)
def test_a_page_knows_whether_more_follow(
    limit: int, count: int, more: bool, region: SmallRegion
) -> None:
    ids = region.add_disks(5)
    assert listed(region, limit=limit) == (ids[:count], more)


def test_boot_disks_are_not_listed_and_do_not_count(region: SmallRegion) -> None:
    region.add_instance("i-1", boot_disk="boot-1")
    region.add_disk("vol-1")
    region.add_instance("i-2", boot_disk="boot-2")
    assert listed(region, limit=1) == (["vol-1"], False)


def test_a_place_stays_good_when_its_disk_has_gone(region: SmallRegion) -> None:
    region.add_disks(3)
    page = region.api.list_disks(0, 2, region.caller)
    last_place = page.disks[-1][0]
    region.api.delete_disk("vol-2", region.caller)
    region.add_disk("vol-2")
    assert listed(region, after=last_place) == (["vol-3", "vol-2"], False)
    assert listed(region, after=region.operator.last_disk_place()) == ([], False)


def test_the_last_place_does_not_go_back(region: SmallRegion) -> None:
    assert region.operator.last_disk_place() == 0
    region.add_disks(2)
    region.api.delete_disk("vol-2", region.caller)
    assert region.operator.last_disk_place() == 2


def test_a_listed_disk_comes_with_its_attachments_and_that_is_a_read() -> None:
    region = SmallRegion(attach=Transition(after_reads=2))
    region.add_instance()
    region.operator.attach(region.add_disk("vol"), "i-1")
    states = []
    for _ in range(3):
        ((_, description),) = region.api.list_disks(0, 9, region.caller).disks
        states.append(description.attachments[0].state.value)
    assert states == ["attaching", "attaching", "attached"]


# ------------------------------------------------------------------------------------------- room


def test_a_zone_has_room_until_its_disks_fill_it() -> None:
    region = SmallRegion(capacity_gib=100)
    region.operator.add_zone(ZONE)
    region.operator.add_zone(OTHER_ZONE)
    region.api.create_disk(ZONE, 60, region.caller)
    with pytest.raises(ZoneFull) as refusal:
        region.api.create_disk(ZONE, 41, region.caller)
    assert (refusal.value.zone, refusal.value.size_gib, refusal.value.available_gib) == (
        ZONE,
        41,
        40,
    )
    last = region.api.create_disk(ZONE, 40, region.caller)
    assert region.operator.available_gib(ZONE) == 0
    assert region.operator.available_gib(OTHER_ZONE) == 100
    region.api.delete_disk(last.id, region.caller)
    assert region.operator.available_gib(ZONE) == 40


def test_a_size_that_no_disk_has_is_refused_before_a_zone_that_has_no_room() -> None:
    region = SmallRegion(capacity_gib=0)
    region.operator.add_zone(ZONE)
    with pytest.raises(DiskSizeNotAllowed):
        region.api.create_disk(ZONE, 65_537, region.caller)
    with pytest.raises(ZoneNotFound):
        region.api.create_disk(OTHER_ZONE, 1, region.caller)
    with pytest.raises(ZoneFull):
        region.api.create_disk(ZONE, 1, region.caller)


def test_an_operator_is_not_refused_for_want_of_room() -> None:
    region = SmallRegion(capacity_gib=5)
    region.add_disk("vol")
    assert region.operator.available_gib(ZONE) == 0
