"""The Cloud service: what it shows and what it changes."""

from __future__ import annotations

from typing import Any

import pytest

from mockdriver.cloud import Caller
from mockdriver.cloud.errors import (
    AlreadyExists,
    BootDiskInUse,
    CallerGone,
    DiskInUse,
    DiskNotFound,
    InstanceNotFound,
    InstanceTypeInUse,
    InstanceTypeNotFound,
    NotAttached,
    SlotsExhausted,
    TransitionUnderWay,
    ZoneFull,
    ZoneInUse,
    ZoneMismatch,
    ZoneNotFound,
)
from mockdriver.control.errors import AttachmentGone, InvalidRequest
from mockdriver.driver.attachment_tags import PUBLISHED_AT_START
from mockdriver.runtime import SeededRuntime
from tests.control.small_world import SmallWorld


@pytest.fixture
def world() -> SmallWorld:
    return SmallWorld()


def problems(world: SmallWorld, rpc: str, **fields: Any) -> list[tuple[str, str]]:
    with pytest.raises(InvalidRequest) as refusal:
        world.call(rpc, **fields)
    return list(refusal.value.problems)


# ---------------------------------------------------------------------------------- at a glance


def test_the_cloud_at_a_glance(world: SmallWorld) -> None:
    assert world.data("Cloud.GetCloud") == {
        "region": "region-1",
        "zones": ["zone-a", "zone-b"],
        "capacity_gib": "1048576",
        "instance_types": "2",
        "instances": "3",
        "network_interfaces": "4",
        "disks": "4",
        "attachments": "3",
    }


# ------------------------------------------------------------------------------ zones and types


def test_zones_come_and_go(world: SmallWorld) -> None:
    world.call("Cloud.AddZone", name="zone-c")
    names = [zone.name for zone in world.call("Cloud.ListZones").zones]
    assert names == ["zone-a", "zone-b", "zone-c"]
    world.call("Cloud.RemoveZone", name="zone-c")
    with pytest.raises(ZoneNotFound):
        world.call("Cloud.RemoveZone", name="zone-c")
    with pytest.raises(ZoneInUse):
        world.call("Cloud.RemoveZone", name="zone-b")
    world.call("Cloud.RemoveZone", name="zone-b", force=True)
    assert world.call("Cloud.GetInstance", id="i-3").zone == "zone-b"


def test_a_zone_tells_what_room_is_left(world: SmallWorld) -> None:
    before = world.call("Cloud.ListZones").zones[0].available_gib
    world.call("Cloud.AddDisk", id="d", size_gib=7)
    assert world.call("Cloud.ListZones").zones[0].available_gib == before - 7


def test_types_come_change_and_go(world: SmallWorld) -> None:
    added = world.data("Cloud.AddInstanceType", instance_type={"name": "new", "slots": 9})
    assert added == {"name": "new", "slots": "9", "boot_disk_uses_slot": True}
    changed = world.data("Cloud.ChangeInstanceType", name="new", boot_disk_uses_slot=False)
    assert changed == {"name": "new", "slots": "9", "boot_disk_uses_slot": False}
    assert "slots" not in world.data("Cloud.ChangeInstanceType", name="new", no_slots=True)
    assert world.call("Cloud.ChangeInstanceType", name="new", slots=0).HasField("slots")
    assert world.data("Cloud.GetInstanceType", name="new")["slots"] == "0"
    listed = world.call("Cloud.ListInstanceTypes").instance_types
    assert [item.name for item in listed] == ["small", "shared", "new"]
    world.call("Cloud.RemoveInstanceType", name="new")
    with pytest.raises(InstanceTypeNotFound):
        world.call("Cloud.GetInstanceType", name="new")


def test_a_type_that_is_there_or_in_use_is_refused(world: SmallWorld) -> None:
    with pytest.raises(AlreadyExists):
        world.call("Cloud.AddInstanceType", instance_type={"name": "small"})
    with pytest.raises(InstanceTypeInUse):
        world.call("Cloud.RemoveInstanceType", name="small")
    world.call("Cloud.RemoveInstanceType", name="small", force=True)
    shown = world.call("Cloud.GetInstance", id="i-1")
    assert (shown.type, shown.HasField("slots"), shown.slot_users) == ("small", False, 3)
    with pytest.raises(InstanceTypeNotFound):  # as ControllerGetNodeInfo would answer
        world.call("Cloud.GetNodeInfo", node_id="i-1")


def test_slots_and_no_slots_do_not_go_together(world: SmallWorld) -> None:
    assert problems(world, "Cloud.ChangeInstanceType", name="small", slots=1, no_slots=True) == [
        ("no_slots", "is given with slots, allowed: one of both")
    ]


# ---------------------------------------------------------------------------------- instances


def test_an_instance_shows_who_uses_its_slots(world: SmallWorld) -> None:
    shown = world.data("Cloud.GetInstance", id="i-1")
    attachments = shown.pop("attachments")
    assert shown == {
        "id": "i-1",
        "type": "small",
        "zone": "zone-a",
        "network_interfaces": ["i-1-eni-1"],
        "boot_disk": "boot-1",
        "slots": "3",
        "slot_users": "3",
    }
    assert [item["disk"] for item in attachments] == ["boot-1", "manual", "pvc"]
    assert attachments[0]["boot"] is True
    assert [item.get("out_of_band", False) for item in attachments] == [True, True, False]
    assert attachments[2]["tags"] == dict(PUBLISHED_AT_START)
    assert all(item["uses_slot"] for item in attachments)


def test_a_boot_disk_outside_of_the_slots_uses_none(world: SmallWorld) -> None:
    world.call("Cloud.ChangeInstanceType", name="small", boot_disk_uses_slot=False)
    boot = world.call("Cloud.GetAttachment", instance="i-1", disk="boot-1")
    assert (boot.boot, boot.uses_slot) == (True, False)
    assert world.call("Cloud.GetInstance", id="i-1").slot_users == 2


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({}, ["i-1", "i-2", "i-3"]),
        ({"id": "i-2"}, ["i-2"]),
        ({"id": "*-?"}, ["i-1", "i-2", "i-3"]),
        ({"id": "*3"}, ["i-3"]),
        ({"id": "i"}, []),
        ({"id": "[i]-1"}, []),
        ({"type": "shared"}, ["i-2"]),
        ({"zone": "zone-a", "type": "small"}, ["i-1"]),
    ],
)
def test_instances_are_found(world: SmallWorld, wanted: dict[str, Any], found: list[str]) -> None:
    answer = world.call("Cloud.ListInstances", **wanted)
    assert [item.id for item in answer.instances] == found
    assert (answer.total, answer.next_page_token) == (len(found), "")


def test_instances_come_in_pages(world: SmallWorld) -> None:
    first = world.call("Cloud.ListInstances", page_size=2)
    assert ([item.id for item in first.instances], first.total) == (["i-1", "i-2"], 3)
    second = world.call("Cloud.ListInstances", page_size=2, page_token=first.next_page_token)
    assert ([item.id for item in second.instances], second.next_page_token) == (["i-3"], "")


@pytest.mark.parametrize("token", ["x", "-1", "0", "01", "5", "99999999999999999999", "²"])
def test_a_made_up_page_token_is_refused(world: SmallWorld, token: str) -> None:
    for rpc in ("Cloud.ListInstances", "Cloud.ListDisks"):
        ((field, problem),) = problems(world, rpc, page_token=token)
        assert field == "page_token"
        assert "no next_page_token of this server" in problem


def test_an_instance_is_added_with_all_that_a_scenario_can_say(world: SmallWorld) -> None:
    added = world.data(
        "Cloud.AddInstance",
        id="i-9",
        type="shared",
        zone="zone-b",
        network_interfaces=["eni-a", "eni-b"],
        boot_disk="boot-9",
        attached=["m-9"],
        published=["p-9"],
    )
    assert added["network_interfaces"] == ["eni-a", "eni-b"]
    assert (added["zone"], added["boot_disk"], added["slot_users"]) == ("zone-b", "boot-9", "5")
    assert [item["disk"] for item in added["attachments"]] == ["boot-9", "m-9", "p-9"]


def test_an_instance_has_one_interface_and_the_regions_default_zone(world: SmallWorld) -> None:
    added = world.data("Cloud.AddInstance", id="i-9")
    assert added == {
        "id": "i-9", "zone": "zone-a", "network_interfaces": ["i-9-eni-1"],
    }  # fmt: skip
    none = world.data("Cloud.AddInstance", id="i-8", network_interface_count=0)
    assert "network_interfaces" not in none


def test_an_instance_is_added_whole_or_not_at_all(world: SmallWorld) -> None:
    before = world.data("Cloud.GetCloud")
    with pytest.raises(SlotsExhausted):
        world.call("Cloud.AddInstance", id="i-9", type="small", attached=["a", "b", "c", "d"])
    with pytest.raises(ZoneNotFound):
        world.call("Cloud.AddInstance", id="i-9", zone="zone-x", attached=["a"])
    with pytest.raises(AlreadyExists):
        world.call("Cloud.AddInstance", id="i-1", attached=["a"])
    with pytest.raises(AlreadyExists):
        world.call("Cloud.AddInstance", id="i-9", network_interfaces=["i-1-eni-1"], attached=["a"])
    assert world.data("Cloud.GetCloud") == before
    forced = world.call(
        "Cloud.AddInstance", id="i-9", type="small", attached=["a", "b", "c", "d"], force=True
    )
    assert forced.slot_users == 4


def test_an_instance_changes_its_type_and_its_zone(world: SmallWorld) -> None:
    changed = world.call("Cloud.ChangeInstance", id="i-2", type="small", zone="zone-b")
    assert (changed.type, changed.zone, changed.slots) == ("small", "zone-b", 3)
    untyped = world.call("Cloud.ChangeInstance", id="i-2", type="")
    assert (untyped.type, untyped.HasField("slots"), untyped.zone) == ("", False, "zone-b")
    with pytest.raises(InstanceTypeNotFound):
        world.call("Cloud.ChangeInstance", id="i-2", type="none")
    with pytest.raises(ZoneMismatch):
        world.call("Cloud.ChangeInstance", id="i-1", zone="zone-b")
    assert world.call("Cloud.ChangeInstance", id="i-1", zone="zone-b", force=True).zone == "zone-b"


def test_an_instance_goes_with_interfaces_and_boot_disk(world: SmallWorld) -> None:
    world.call("Cloud.RemoveInstance", id="i-1")
    with pytest.raises(InstanceNotFound):
        world.call("Cloud.GetInstance", id="i-1")
    with pytest.raises(DiskNotFound):
        world.call("Cloud.GetDisk", id="boot-1")
    assert list(world.call("Cloud.GetDisk", id="manual").instances) == []


def test_node_info_is_what_the_driver_would_answer_and_counts_nothing(world: SmallWorld) -> None:
    world.call("Cloud.SetTransitions", attach="after 1 read")
    world.call("Cloud.Attach", instance="i-2", disk="vol")
    shown = world.data("Cloud.GetNodeInfo", node_id="i-2")
    assert shown == {
        "node_id": "i-2",
        "max_volumes_per_node": "3",
        "published_volume_ids": ["vol"],
        "accessible_topology": {
            "topology.mock.csi.example.com/region": "region-1",
            "topology.mock.csi.example.com/zone": "zone-a",
        },
    }
    attachment = world.call("Cloud.GetAttachment", instance="i-2", disk="vol")
    assert (attachment.state, attachment.waits_for) == ("attaching", "1 read")
    assert all(api.calls == 0 for api in world.call("Cloud.ListApis").apis)


# --------------------------------------------------------------------------------- interfaces


def test_interfaces_come_and_go(world: SmallWorld) -> None:
    def ids(**fields: Any) -> list[str]:
        found = world.call("Cloud.ListNetworkInterfaces", **fields).network_interfaces
        return [item.id for item in found]

    added = world.call("Cloud.AddNetworkInterface", instance="i-1", count=2)
    assert [item.id for item in added.network_interfaces] == ["i-1-eni-2", "i-1-eni-3"]
    world.call("Cloud.AddNetworkInterface", instance="i-1", id="eni-x")
    assert ids(instance="i-1") == ["i-1-eni-1", "i-1-eni-2", "i-1-eni-3", "eni-x"]
    world.call("Cloud.RemoveNetworkInterface", instance="i-1", id="i-1-eni-1")
    world.call("Cloud.RemoveNetworkInterface", instance="i-1", count=2)
    assert ids(instance="i-1") == ["i-1-eni-2"]
    assert ids() == ["i-1-eni-2", "i-2-eni-1", "i-2-eni-2", "i-3-eni-1"]
    assert problems(world, "Cloud.AddNetworkInterface", instance="i-1", id="a", count=2) == [
        ("count", "2 is given with id, allowed: one of both")
    ]


# -------------------------------------------------------------------------------------- disks


def test_disks_come_change_and_go(world: SmallWorld) -> None:
    added = world.data("Cloud.AddDisk", id="vol", zone="zone-b", size_gib=5, tags={"a": "b"})
    assert added == {
        "id": "vol", "zone": "zone-b", "size_gib": "5", "max_attachments": "1", "tags": {"a": "b"},
    }  # fmt: skip
    changed = world.data(
        "Cloud.ChangeDisk",
        id="vol",
        zone="zone-a",
        size_gib=6,
        max_attachments=3,
        set_tags={"c": "d"},
        remove_tags=["a"],
    )
    assert changed == {
        "id": "vol", "zone": "zone-a", "size_gib": "6", "max_attachments": "3", "tags": {"c": "d"},
    }  # fmt: skip
    assert world.data("Cloud.GetDisk", id="vol") == changed
    world.call("Cloud.RemoveDisk", id="vol")
    with pytest.raises(DiskNotFound):
        world.call("Cloud.GetDisk", id="vol")


def test_what_is_not_given_of_a_disk_stays(world: SmallWorld) -> None:
    before = world.data("Cloud.GetDisk", id="free")
    assert world.data("Cloud.ChangeDisk", id="free") == before
    changed = world.data("Cloud.ChangeDisk", id="free", set_tags={"owner": "you"})
    assert changed == {**before, "tags": {"owner": "you"}}


def test_disks_are_found(world: SmallWorld) -> None:
    def ids(**fields: Any) -> list[str]:
        return [disk.id for disk in world.call("Cloud.ListDisks", **fields).disks]

    assert ids() == ["free", "boot-1", "manual", "pvc"]
    assert ids(instance="i-1") == ["boot-1", "manual", "pvc"]
    assert ids(id="*n*", instance="i-1") == ["manual"]
    assert ids(zone="zone-b") == []
    page = world.call("Cloud.ListDisks", page_size=3)
    assert ids(page_token=page.next_page_token) == ["pvc"]
    assert page.total == 4
    assert list(page.disks[2].instances) == ["i-1"]


def test_a_disk_that_is_attached_or_has_no_room_is_refused(world: SmallWorld) -> None:
    with pytest.raises(DiskInUse):
        world.call("Cloud.RemoveDisk", id="pvc")
    with pytest.raises(DiskInUse):
        world.call("Cloud.ChangeDisk", id="pvc", zone="zone-b")
    for n in range(16):
        world.call("Cloud.AddDisk", id=f"large-{n}", zone="zone-b", size_gib=65536)
    with pytest.raises(ZoneFull):
        world.call("Cloud.AddDisk", id="more", zone="zone-b", size_gib=65536)
    world.call("Cloud.AddDisk", id="more", zone="zone-b", size_gib=65536, force=True)
    world.call("Cloud.RemoveDisk", id="pvc", force=True)
    assert [item.disk for item in world.call("Cloud.GetInstance", id="i-1").attachments] == [
        "boot-1", "manual",
    ]  # fmt: skip


# -------------------------------------------------------------------------------- attachments


def test_an_attach_makes_the_disk_and_answers_with_the_attachment(world: SmallWorld) -> None:
    made = world.data("Cloud.Attach", instance="i-3", disk="new", wait=True)
    number = made.pop("number")
    assert made == {
        "disk": "new", "instance": "i-3", "state": "attached", "out_of_band": True,
        "uses_slot": True,
    }  # fmt: skip
    assert int(number) == 4
    assert world.call("Cloud.GetDisk", id="new").zone == "zone-b"


def test_an_attach_as_if_published_has_the_drivers_tags(world: SmallWorld) -> None:
    made = world.call("Cloud.Attach", instance="i-2", disk="new", published=True)
    assert (made.out_of_band, dict(made.tags)) == (False, dict(PUBLISHED_AT_START))


def test_an_attach_waits_for_its_transition_or_does_without(world: SmallWorld) -> None:
    world.call("Cloud.SetTransitions", attach="after 2s", detach="after 3s")
    begun = world.call("Cloud.Attach", instance="i-2", disk="a")
    assert (begun.state, begun.waits_for) == ("attaching", "2s")
    world.runtime.advance(0.5)
    waiting = world.call("Cloud.GetAttachment", instance="i-2", disk="a")
    assert waiting.waits_for == "1.5s"
    with world.runtime.working():
        settled = world.call("Cloud.Attach", instance="i-2", disk="b", wait=True)
    assert settled.state == "attached"
    assert world.call("Cloud.Attach", instance="i-2", disk="c", immediately=True).state == (
        "attached"
    )
    leaving = world.call("Cloud.Detach", instance="i-2", disk="c").attachment
    assert (leaving.state, leaving.waits_for) == ("detaching", "3s")
    with world.runtime.working():
        answer = world.call("Cloud.Detach", instance="i-2", disk="b", wait=True)
    assert not answer.HasField("attachment")
    world.call("Cloud.Attach", instance="i-2", disk="d", immediately=True)
    answer = world.call("Cloud.Detach", instance="i-2", disk="d", immediately=True)
    assert not answer.HasField("attachment")


@pytest.mark.parametrize("seed", range(10))
def test_a_waiting_attach_ends_when_somebody_detaches(seed: int) -> None:
    runtime = SeededRuntime(seed)
    world = SmallWorld(runtime=runtime)
    world.call("Cloud.SetTransitions", attach="held")
    ends: list[str] = []

    def attach() -> None:
        with pytest.raises(AttachmentGone) as refusal:
            world.call("Cloud.Attach", instance="i-2", disk="vol", wait=True)
        ends.append(str(refusal.value))

    def detach() -> None:
        while not ends:
            try:
                world.call("Cloud.Detach", instance="i-2", disk="vol")
            except (NotAttached, DiskNotFound):
                continue

    runtime.run(attach, detach)
    assert ends == ["disk 'vol' was detached from instance 'i-2' while this call waited for it"]


def test_a_caller_that_leaves_waits_no_more(world: SmallWorld) -> None:
    world.call("Cloud.SetTransitions", attach="held")
    caller = Caller(world.runtime)
    caller.leave()
    with pytest.raises(CallerGone):
        world.call("Cloud.Attach", caller, instance="i-2", disk="vol", wait=True)


def test_what_the_cloud_refuses_is_refused_and_made_by_force(world: SmallWorld) -> None:
    with pytest.raises(SlotsExhausted):
        world.call("Cloud.Attach", instance="i-1", disk="free")
    assert world.call("Cloud.Attach", instance="i-1", disk="free", force=True).state == "attached"
    with pytest.raises(BootDiskInUse):
        world.call("Cloud.Detach", instance="i-1", disk="boot-1")
    world.call("Cloud.Detach", instance="i-1", disk="boot-1", force=True)
    world.call("Cloud.ChangeAttachment", instance="i-1", disk="pvc", state="busy")
    with pytest.raises(TransitionUnderWay):
        world.call("Cloud.Detach", instance="i-1", disk="pvc")
    world.call("Cloud.Detach", instance="i-1", disk="pvc", force=True)
    assert [item.disk for item in world.call("Cloud.GetInstance", id="i-1").attachments] == [
        "manual", "free",
    ]  # fmt: skip


def test_an_attachment_is_put_into_a_state_by_hand_and_released(world: SmallWorld) -> None:
    changed = world.call(
        "Cloud.ChangeAttachment",
        instance="i-1",
        disk="manual",
        state="detaching",
        set_tags={"a": "b"},
    )
    assert (changed.state, changed.waits_for, dict(changed.tags)) == (
        "detaching", "held", {"a": "b"},
    )  # fmt: skip
    assert world.call("Cloud.Release", instance="i-1", disk="manual").released == 1
    with pytest.raises(NotAttached):
        world.call("Cloud.GetAttachment", instance="i-1", disk="manual")
    assert world.call("Cloud.Release").released == 0


def test_attachments_are_listed_by_instance_by_disk_and_all(world: SmallWorld) -> None:
    def listed(**fields: Any) -> list[tuple[str, str]]:
        found = world.call("Cloud.ListAttachments", **fields).attachments
        return [(item.disk, item.instance) for item in found]

    world.call("Cloud.Attach", instance="i-2", disk="free")
    assert listed(instance="i-2") == [("free", "i-2")]
    assert listed(disk="free") == [("free", "i-2")]
    assert listed(instance="i-1", disk="free") == []
    assert listed(instance="i-1", disk="pvc") == [("pvc", "i-1")]
    assert len(listed()) == 4
    with pytest.raises(DiskNotFound):
        listed(instance="i-1", disk="none")
    with pytest.raises(InstanceNotFound):
        listed(instance="none")


# ----------------------------------------------------------------------------- transitions, APIs


def test_transitions_change_one_by_one(world: SmallWorld) -> None:
    assert world.data("Cloud.GetTransitions") == {"attach": "immediately", "detach": "immediately"}
    assert world.data("Cloud.SetTransitions", detach="after 3 reads") == {
        "attach": "immediately", "detach": "after 3 reads",
    }  # fmt: skip
    assert world.data("Cloud.SetTransitions", attach="held")["detach"] == "after 3 reads"
    assert world.data("Cloud.SetTransitions", detach="immediately")["attach"] == "held"


def test_a_quota_takes_the_place_of_all_of_the_old_one(world: SmallWorld) -> None:
    world.call("Cloud.SetQuota", api="attach", quota={"max_ids": 5, "delay": "1m"})
    set_now = world.data("Cloud.SetQuota", api="attach", quota={"burst": 2, "per_second": 0.5})
    assert set_now == {"name": "attach", "quota": {"burst": "2", "per_second": 0.5}}
    apis = {api.name: api for api in world.call("Cloud.ListApis").apis}
    assert len(apis) == 7
    assert not apis["detach"].quota.ListFields()


def test_a_wrong_quota_is_refused_as_in_a_file(world: SmallWorld) -> None:
    assert problems(world, "Cloud.SetQuota", api="attach", quota={"burst": 2}) == [
        ("quota", "per_second is missing, burst and per_second come together")
    ]
    ((field, problem),) = problems(world, "Cloud.SetQuota", api="attatch", quota={})
    assert field == "api"
    assert 'did you mean "attach"?' in problem
