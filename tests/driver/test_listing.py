"""ListVolumes page by page, and ControllerGetVolume."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from csi_spec import csi_pb2
from mockdriver.cloud import Disk, Instance, Transition
from mockdriver.co.calling import Answer
from mockdriver.driver import volume_listing
from mockdriver.driver.capabilities import (
    LIST_VOLUMES_PUBLISHED_NODES,
    VOLUME_ACCESSIBILITY_CONSTRAINTS,
)
from mockdriver.driver.volume_listing import MAX_PAGE_BYTES
from tests.cloud.small_region import ZONE, SmallRegion
from tests.driver.small_driver import GIB, SmallDriver, add_shared_disk, of, topology


def small_driver(disks: int = 0, **options: Any) -> SmallDriver:
    """Return a driver over so many disks and one instance with a boot disk."""
    region = SmallRegion()
    region.add_instance("i-1", boot_disk="vol-boot")
    region.add_disks(disks)
    return SmallDriver(region, **options)


def ask(driver: SmallDriver, max_entries: int = 0, token: str = "") -> Answer:
    request = csi_pb2.ListVolumesRequest(max_entries=max_entries, starting_token=token)
    return driver.call("ListVolumes", request)


def pages(driver: SmallDriver, max_entries: int = 0) -> Iterator[csi_pb2.ListVolumesResponse]:
    """Yield page after page, as long as there is a token."""
    token = ""
    while True:
        page = of(ask(driver, max_entries, token))
        yield page
        token = page.next_token
        if not token:
            return


def ids_of(page: csi_pb2.ListVolumesResponse) -> list[str]:
    return [entry.volume.volume_id for entry in page.entries]


def all_ids(driver: SmallDriver, max_entries: int = 0) -> list[str]:
    return [id for page in pages(driver, max_entries) for id in ids_of(page)]


# -------------------------------------------------------------------------------- what is listed


def test_a_cloud_without_volumes_has_an_empty_page() -> None:
    assert of(ask(small_driver())) == csi_pb2.ListVolumesResponse()


def test_volumes_are_listed_whoever_made_them_in_the_order_of_creation() -> None:
    driver = small_driver(2)
    created = of(driver.create("pvc-1")).volume
    driver.region.add_disk("vol-late")
    assert all_ids(driver) == ["vol-1", "vol-2", created.volume_id, "vol-late"]


def test_an_entry_is_what_create_volume_answered() -> None:
    driver = small_driver()
    created = of(driver.create("pvc-1", capacity_range={"required_bytes": 7 * GIB})).volume
    (entry,) = of(ask(driver)).entries
    assert entry.volume == created
    assert entry.volume.capacity_bytes == 7 * GIB
    assert list(entry.volume.accessible_topology) == [topology(ZONE)]


def test_boot_disks_are_not_listed() -> None:
    driver = small_driver(1)
    driver.region.add_instance("i-2", boot_disk="vol-boot-2")
    assert all_ids(driver) == ["vol-1"]
    assert all_ids(driver, 1) == ["vol-1"]


def test_a_deleted_volume_is_not_listed() -> None:
    driver = small_driver(3)
    of(driver.delete("vol-2"))
    assert all_ids(driver) == ["vol-1", "vol-3"]


def test_without_the_topology_capability_no_topology_is_told() -> None:
    driver = small_driver(1, switches={VOLUME_ACCESSIBILITY_CONSTRAINTS: False})
    (entry,) = of(ask(driver)).entries
    assert not entry.volume.accessible_topology


# ------------------------------------------------------------------------------- published nodes


def get(driver: SmallDriver, volume: str) -> Answer:
    request = csi_pb2.ControllerGetVolumeRequest(volume_id=volume)
    return driver.call("ControllerGetVolume", request)


def listed_nodes(driver: SmallDriver, volume: str) -> list[str]:
    """Return the nodes that ListVolumes and ControllerGetVolume tell: they must be the same."""
    entry = next(entry for entry in of(ask(driver)).entries if entry.volume.volume_id == volume)
    response = of(get(driver, volume))
    assert response.status.published_node_ids == entry.status.published_node_ids
    assert response.volume == entry.volume
    assert entry.HasField("status")
    return list(entry.status.published_node_ids)


def test_the_nodes_of_a_volume_are_those_that_it_is_attached_to() -> None:
    driver = small_driver(1)
    assert listed_nodes(driver, "vol-1") == []
    of(driver.publish("vol-1"))
    assert listed_nodes(driver, "vol-1") == ["i-1"]
    of(driver.unpublish("vol-1"))
    assert listed_nodes(driver, "vol-1") == []


def test_what_is_attached_out_of_band_is_told_too() -> None:
    driver = small_driver(1)
    driver.operator.attach("vol-1", "i-1")
    assert listed_nodes(driver, "vol-1") == ["i-1"]


def test_a_shared_volume_has_all_its_nodes() -> None:
    driver = small_driver()
    driver.region.add_instance("i-2")
    add_shared_disk(driver.region, "vol-shared")
    for node in ("i-2", "i-1"):
        driver.operator.attach("vol-shared", node)
    assert listed_nodes(driver, "vol-shared") == ["i-2", "i-1"]


@pytest.mark.parametrize(
    ("transitions", "act", "nodes"),
    [
        ({"attach": Transition(held=True)}, lambda operator: None, []),
        ({"detach": Transition(held=True)}, lambda operator: None, ["i-1"]),
        (
            {"detach": Transition(held=True)},
            lambda operator: operator.detach("vol", "i-1"),
            ["i-1"],
        ),
    ],
    ids=["attaching", "attached", "detaching"],
)
def test_a_volume_is_on_a_node_from_the_end_of_attaching_to_the_end_of_detaching(
    transitions: dict[str, Transition], act: Callable[[Any], object], nodes: list[str]
) -> None:
    region = SmallRegion(**transitions)  # type: ignore[arg-type]
    region.add_instance("i-1")
    region.operator.attach(region.add_disk("vol"), "i-1")
    act(region.operator)
    assert listed_nodes(SmallDriver(region), "vol") == nodes


def test_without_its_capability_list_volumes_tells_no_nodes() -> None:
    driver = small_driver(1, switches={LIST_VOLUMES_PUBLISHED_NODES: False})
    of(driver.publish("vol-1"))
    (entry,) = of(ask(driver)).entries
    assert not entry.HasField("status")
    assert list(of(get(driver, "vol-1")).status.published_node_ids) == ["i-1"]


def test_the_status_of_a_single_volume_is_there_also_without_nodes() -> None:
    assert of(get(small_driver(1), "vol-1")).HasField("status")


@pytest.mark.parametrize("volume", ["vol-no-such", "vol-boot", "VOL-1", "vol-1 "])
def test_what_is_no_volume_is_not_found(volume: str) -> None:
    answer = get(small_driver(1), volume)
    assert answer.code == "NOT_FOUND"
    assert answer.message == f"no disk has the id {volume!r}"


# ----------------------------------------------------------------------------------------- pages


@pytest.mark.parametrize(
    ("max_entries", "sizes"),
    [
        (0, [5]),
        (1, [1, 1, 1, 1, 1]),
        (2, [2, 2, 1]),
        (4, [4, 1]),
        (5, [5]),
        (6, [5]),
        (2**31 - 1, [5]),
    ],
)
def test_a_page_has_as_many_as_asked_for_and_a_token_only_if_more_follow(
    max_entries: int, sizes: list[int]
) -> None:
    driver = small_driver(5)
    found = [ids_of(page) for page in pages(driver, max_entries)]
    assert [len(page) for page in found] == sizes
    assert [id for page in found for id in page] == [f"vol-{number}" for number in range(1, 6)]


def test_boot_disks_at_the_end_make_no_further_page() -> None:
    driver = small_driver(2)
    driver.region.add_instance("i-2", boot_disk="vol-boot-2")
    assert of(ask(driver, 2)).next_token == ""


@pytest.mark.parametrize("max_entries", [-1, -(2**31)])
def test_a_negative_number_of_entries_is_an_invalid_argument(max_entries: int) -> None:
    answer = ask(small_driver(1), max_entries)
    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message == f"max_entries: must not be negative, got {max_entries}"


@pytest.mark.parametrize(
    "token",
    [
        *("0", "-1", "+1", "01", " 1", "1 ", "1.0", "1e0", "0x1", "¹", "\u0661", "token", "vol-1"),
        *("5", "999999999999999999", "9" * 100, "\n", "%s%n", "../1", "None", "true"),
    ],
)
def test_a_token_that_no_page_had_is_aborted(token: str) -> None:
    answer = ask(small_driver(3), token=token)
    assert answer.code == "ABORTED"
    assert answer.message == f"starting_token: {token!r} is no next_token of this driver"


def test_a_token_of_a_larger_cloud_is_aborted() -> None:
    token = of(ask(small_driver(50), 40)).next_token
    assert ask(small_driver(3), token=token).code == "ABORTED"


def test_a_token_can_be_used_again_and_with_another_size() -> None:
    driver = small_driver(6)
    token = of(ask(driver, 2)).next_token
    assert ids_of(of(ask(driver, 3, token))) == ["vol-3", "vol-4", "vol-5"]
    assert ids_of(of(ask(driver, 0, token))) == ["vol-3", "vol-4", "vol-5", "vol-6"]


def test_a_token_stays_good_when_the_volume_before_it_goes() -> None:
    driver = small_driver(5)
    token = of(ask(driver, 2)).next_token
    for volume in ("vol-2", "vol-3"):
        of(driver.delete(volume))
    assert ids_of(of(ask(driver, 2, token))) == ["vol-4", "vol-5"]


def test_a_token_stays_good_when_all_volumes_go() -> None:
    driver = small_driver(3)
    token = of(ask(driver, 1)).next_token
    for volume in ("vol-1", "vol-2", "vol-3"):
        of(driver.delete(volume))
    assert of(ask(driver, 1, token)) == csi_pb2.ListVolumesResponse()


def test_new_volumes_come_at_the_end() -> None:
    driver = small_driver(3)
    token = of(ask(driver, 2)).next_token
    of(driver.delete("vol-1"))
    driver.region.add_disk("vol-1")
    assert ids_of(of(ask(driver, 9, token))) == ["vol-3", "vol-1"]


def test_a_token_is_good_for_another_driver_over_the_same_cloud() -> None:
    first = small_driver(3)
    token = of(ask(first, 1)).next_token
    assert ids_of(of(ask(SmallDriver(first.region), 0, token))) == ["vol-2", "vol-3"]


CHANGES = st.lists(st.sampled_from(["add", "add boot", "delete", "page"]), min_size=1, max_size=40)


@settings(max_examples=60, deadline=None)
@given(changes=CHANGES, max_entries=st.integers(1, 4), start=st.integers(0, 8))
def test_a_volume_that_is_there_all_the_time_is_listed_exactly_once(
    changes: list[str], max_entries: int, start: int
) -> None:
    driver = small_driver(start)
    there, listed, token, started = set(all_ids(driver)), [], "", False
    for number, change in enumerate(changes):
        if change == "add":
            driver.region.add_disk(f"new-{number}")
        elif change == "add boot":
            driver.region.add_instance(f"i-{number}x", boot_disk=f"boot-{number}")
        elif change == "delete" and there:
            of(driver.delete(there.pop()))
        elif change == "page" and (token or not started):
            page = of(ask(driver, max_entries, token))
            started, token = True, page.next_token
            assert len(page.entries) <= max_entries
            listed += ids_of(page)
    while token or not started:
        page = of(ask(driver, max_entries, token))
        started, token = True, page.next_token
        listed += ids_of(page)
    assert len(listed) == len(set(listed))
    assert there <= set(listed)
    assert not any(id.startswith("boot") for id in listed)


# ------------------------------------------------------------------------------- the size of a page


def large_driver(disks: int, id_bytes: int) -> SmallDriver:
    driver = small_driver()
    for number in range(disks):
        driver.operator.add_disk(Disk(id=f"{number:0{id_bytes}d}", zone=ZONE))
    return driver


@pytest.mark.slow
@pytest.mark.parametrize("max_entries", [0, 39_999])
def test_forty_thousand_volumes_with_long_ids_come_in_pages_of_3_mib(max_entries: int) -> None:
    driver = large_driver(40_000, id_bytes=128)
    found = list(pages(driver, max_entries))
    sizes = [page.ByteSize() for page in found]
    assert max(sizes) <= MAX_PAGE_BYTES
    assert min(sizes[:-1]) > MAX_PAGE_BYTES * 0.95
    assert [id for page in found for id in ids_of(page)] == [
        f"{number:0128d}" for number in range(40_000)
    ]


def test_a_page_within_the_limit_is_not_cut() -> None:
    driver = large_driver(2_500, id_bytes=100)
    (page,) = pages(driver)
    assert len(page.entries) == 2_500


def test_a_volume_on_too_many_nodes_for_a_page_is_listed_with_as_many_as_fit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(volume_listing, "MAX_PAGE_BYTES", 30_000)
    driver = small_driver(1)
    nodes = [f"{number:0256d}" for number in range(130)]
    driver.operator.add_disk(Disk(id="vol-busy", zone=ZONE, max_attachments=len(nodes)))
    driver.region.add_disk("vol-last")
    for node in nodes:
        driver.operator.add_instance(Instance(id=node, zone=ZONE), network_interfaces=0)
        driver.operator.attach("vol-busy", node)
    found = list(pages(driver))
    assert max(page.ByteSize() for page in found) <= 30_000
    entries = {entry.volume.volume_id: entry for page in found for entry in page.entries}
    assert list(entries) == ["vol-1", "vol-busy", "vol-last"]
    told = list(entries["vol-busy"].status.published_node_ids)
    assert told == nodes[: len(told)]
    assert len(told) > 100


def test_a_page_asks_the_cloud_for_no_more_than_it_needs() -> None:
    driver = small_driver(10)
    of(ask(driver, 3))
    assert driver.cloud_calls() == {"describe_disks": 1}
