"""What the SP knows of a node, in both flows: pure functions on descriptions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockdriver.cloud import (
    Attachment,
    AttachmentState,
    Instance,
    InstanceDescription,
    InstanceType,
    NetworkInterface,
)
from mockdriver.cloud.slots import UNTYPED
from mockdriver.co.effective_limit import effective_limit
from mockdriver.driver.attachment_tags import PUBLISHED_AT_START
from mockdriver.driver.node_info import controller_flow, plain_flow

BOOT = "vol-boot"


def describe(
    *,
    interfaces: int = 1,
    boot: bool = False,
    manual: int = 0,
    csi: int = 0,
    state: AttachmentState = AttachmentState.ATTACHED,
) -> InstanceDescription:
    """Describe an instance: `manual` disks are out of band, `csi` ones are the CO's."""
    disks = (
        [BOOT] * boot + [f"manual-{n}" for n in range(manual)] + [f"csi-{n}" for n in range(csi)]
    )
    return InstanceDescription(
        instance=Instance(id="i-1", zone="zone-a"),
        network_interfaces=tuple(
            NetworkInterface(id=f"eni-{n}", instance="i-1") for n in range(interfaces)
        ),
        attachments=tuple(
            Attachment(
                number=number,
                disk=disk,
                instance="i-1",
                state=state,
                tags=PUBLISHED_AT_START if disk.startswith("csi-") else {},
            )
            for number, disk in enumerate(disks, start=1)
        ),
        boot_disks=frozenset([BOOT] * boot),
    )


def type_of(slots: int | None, *, shared: bool = True, boot_uses_slot: bool = True) -> InstanceType:
    return InstanceType(
        name="t",
        slots=slots,
        network_interfaces_share_slots=shared,
        boot_disk_uses_slot=boot_uses_slot,
    )


# ---------------------------------------------------------------------------- the controller flow


def test_the_example_of_the_kep() -> None:
    info = controller_flow(describe(interfaces=2, boot=True, manual=1, csi=8), type_of(25))
    assert info.max_volumes_per_node == 23
    assert len(info.published_volume_ids) == 10


def test_disks_do_not_lower_the_reported_limit() -> None:
    for csi in (0, 5, 22):
        info = controller_flow(describe(interfaces=2, boot=True, csi=csi), type_of(25))
        assert info.max_volumes_per_node == 23


def test_interfaces_with_slots_of_their_own_do_not_lower_the_limit() -> None:
    info = controller_flow(describe(interfaces=9), type_of(25, shared=False))
    assert info.max_volumes_per_node == 25


@pytest.mark.parametrize("interfaces", [5, 6, 50])
def test_interfaces_on_all_slots_and_more_leave_a_limit_of_one(interfaces: int) -> None:
    info = controller_flow(describe(interfaces=interfaces, csi=3), type_of(5))
    assert info.max_volumes_per_node == 1


@pytest.mark.parametrize("state", AttachmentState)
def test_an_attachment_is_listed_in_every_state(state: AttachmentState) -> None:
    info = controller_flow(describe(csi=2, state=state), type_of(5))
    assert info.published_volume_ids == ("csi-0", "csi-1")


def test_a_boot_disk_that_uses_no_slot_is_not_listed() -> None:
    info = controller_flow(describe(boot=True, manual=1), type_of(5, boot_uses_slot=False))
    assert info.published_volume_ids == ("manual-0",)


def test_a_boot_disk_that_uses_a_slot_is_listed() -> None:
    info = controller_flow(describe(boot=True, manual=1), type_of(5))
    assert info.published_volume_ids == (BOOT, "manual-0")


def test_without_a_type_there_is_no_limit_but_the_ids_are_listed() -> None:
    info = controller_flow(describe(interfaces=40, boot=True, csi=1), UNTYPED)
    assert info.max_volumes_per_node == 0
    assert info.published_volume_ids == (BOOT, "csi-0")


def test_a_type_without_slots_given_sets_no_limit_either() -> None:
    assert controller_flow(describe(interfaces=40), type_of(None)).max_volumes_per_node == 0


# --------------------------------------------------------------------------------- the plain flow


@pytest.mark.parametrize("csi", [0, 1, 21])
def test_what_the_co_attached_does_not_change_the_plain_limit(csi: int) -> None:
    assert plain_flow(describe(interfaces=2, boot=True, manual=1, csi=csi), type_of(25)) == 21


@pytest.mark.parametrize(("manual", "limit"), [(0, 4), (1, 3), (3, 1), (4, 1), (9, 1)])
def test_each_disk_out_of_band_lowers_the_plain_limit_down_to_one(manual: int, limit: int) -> None:
    assert plain_flow(describe(interfaces=1, manual=manual), type_of(5)) == limit


def test_a_boot_disk_that_uses_no_slot_does_not_lower_the_plain_limit() -> None:
    assert plain_flow(describe(boot=True), type_of(5, shared=False, boot_uses_slot=False)) == 5


def test_without_a_type_the_plain_limit_is_unspecified_too() -> None:
    assert plain_flow(describe(boot=True, manual=2, csi=2), UNTYPED) == 0


@given(
    slots=st.integers(min_value=0, max_value=30),
    interfaces=st.integers(min_value=0, max_value=5),
    boot=st.booleans(),
    manual=st.integers(min_value=0, max_value=10),
    csi=st.integers(min_value=0, max_value=10),
    shared=st.booleans(),
    boot_uses_slot=st.booleans(),
)
def test_both_flows_lead_a_co_to_the_same_limit_but_for_the_clamps(
    slots: int,
    interfaces: int,
    boot: bool,
    manual: int,
    csi: int,
    shared: bool,
    boot_uses_slot: bool,
) -> None:
    description = describe(interfaces=interfaces, boot=boot, manual=manual, csi=csi)
    type_ = type_of(slots, shared=shared, boot_uses_slot=boot_uses_slot)
    info = controller_flow(description, type_)
    of_the_co = {f"csi-{n}" for n in range(csi)}
    limit = effective_limit(info.max_volumes_per_node, info.published_volume_ids, of_the_co)
    plain = plain_flow(description, type_)
    assert info.max_volumes_per_node >= 1
    assert limit is not None
    # The plain flow can only say "1" where the controller flow lets the CO compute 0.
    assert plain == max(1, limit)
