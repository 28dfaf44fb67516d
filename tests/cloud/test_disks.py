"""Creating, finding and deleting disks by the API."""

from __future__ import annotations

import pytest

from mockdriver.cloud.errors import DiskSizeNotAllowed, ZoneNotFound
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
