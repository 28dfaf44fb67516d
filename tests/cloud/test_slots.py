"""Slot arithmetic alone: the pure functions of mockdriver.cloud.slots."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockdriver.cloud import InstanceType, slots

DEDICATED = InstanceType(name="dedicated", slots=10)
SHARED = InstanceType(name="shared", slots=10, network_interfaces_share_slots=True)
BOOT_OUTSIDE = InstanceType(name="boot-outside", slots=10, boot_disk_uses_slot=False)
NO_LIMIT = InstanceType(name="no-limit", slots=None, network_interfaces_share_slots=True)

counts = st.integers(min_value=0, max_value=300)


def test_each_attached_disk_uses_a_slot() -> None:
    assert slots.slot_users(DEDICATED, disks=7, boot_disks=0, network_interfaces=0) == 7


def test_a_boot_disk_inside_the_budget_is_one_of_the_disks() -> None:
    assert slots.slot_users(DEDICATED, disks=7, boot_disks=1, network_interfaces=0) == 7


def test_a_boot_disk_outside_the_budget_uses_no_slot() -> None:
    assert slots.slot_users(BOOT_OUTSIDE, disks=7, boot_disks=1, network_interfaces=0) == 6


def test_interfaces_use_slots_where_they_share_them() -> None:
    assert slots.slot_users(SHARED, disks=7, boot_disks=1, network_interfaces=2) == 9


def test_interfaces_use_no_slots_where_slots_are_dedicated_to_disks() -> None:
    assert slots.slot_users(DEDICATED, disks=7, boot_disks=1, network_interfaces=2) == 7


def test_slot_users_may_exceed_the_slots() -> None:
    assert slots.slot_users(SHARED, disks=7, boot_disks=0, network_interfaces=8) == 15


def test_max_volumes_per_node_is_slots_less_those_that_interfaces_use() -> None:
    assert slots.max_volumes_per_node(SHARED, 2) == 8


def test_max_volumes_per_node_is_all_slots_where_they_are_dedicated() -> None:
    assert slots.max_volumes_per_node(DEDICATED, 2) == 10


@pytest.mark.parametrize("network_interfaces", [10, 11, 300])
def test_max_volumes_per_node_is_one_where_interfaces_use_every_slot(
    network_interfaces: int,
) -> None:
    assert slots.max_volumes_per_node(SHARED, network_interfaces) == 1


def test_max_volumes_per_node_is_one_for_a_type_with_no_slots_at_all() -> None:
    assert slots.max_volumes_per_node(InstanceType(name="none", slots=0), 0) == 1


def test_max_volumes_per_node_is_unspecified_for_a_type_without_a_limit() -> None:
    assert slots.max_volumes_per_node(NO_LIMIT, 3) == 0


def test_max_volumes_per_node_is_unspecified_without_a_type() -> None:
    assert slots.max_volumes_per_node(slots.UNTYPED, 3) == 0


@pytest.mark.parametrize(("limit", "reported"), [(-5, 1), (0, 1), (1, 1), (2, 2), (39, 39)])
def test_a_limit_is_reported_as_it_is_but_never_below_one(limit: int, reported: int) -> None:
    assert slots.at_least_one(limit) == reported


@settings(derandomize=True, deadline=None, max_examples=100)
@given(st.integers(min_value=0, max_value=200), counts, st.booleans(), st.booleans())
def test_any_type_with_slots_reports_at_least_one_and_at_most_its_slots(
    raw: int, network_interfaces: int, shared: bool, boot_uses_slot: bool
) -> None:
    type_ = InstanceType(
        name="any",
        slots=raw,
        network_interfaces_share_slots=shared,
        boot_disk_uses_slot=boot_uses_slot,
    )
    assert 1 <= slots.max_volumes_per_node(type_, network_interfaces) <= max(1, raw)
