"""A Hypothesis state machine: an operator does anything to a cloud, by force or not.

After each step the indexes of the store must tell the truth. A change that is refused changes
nothing; one that is forced is refused only for what is not there, or is there already.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from mockdriver.cloud import (
    Attachment,
    AttachmentState,
    Disk,
    Instance,
    InstanceType,
    Transition,
)
from mockdriver.cloud.cloud import CloudSnapshot
from mockdriver.cloud.errors import (
    AlreadyAttached,
    AlreadyExists,
    CloudError,
    DiskNotFound,
    InstanceNotFound,
    InstanceTypeNotFound,
    NetworkInterfaceNotFound,
    NotAttached,
    ZoneNotFound,
)
from tests.cloud.consistency import check
from tests.cloud.small_region import CO_TAGS, SmallRegion

ALWAYS_REFUSED = (
    AlreadyAttached,
    AlreadyExists,
    DiskNotFound,
    InstanceNotFound,
    InstanceTypeNotFound,
    NetworkInterfaceNotFound,
    NotAttached,
    ZoneNotFound,
)
"""What no force can help against."""

zones = st.sampled_from(("zone-a", "zone-b", "zone-c"))
types = st.sampled_from(("type-a", "type-b", "type-c"))
instances = st.sampled_from(("i-1", "i-2", "i-3"))
disks = st.sampled_from(("vol-1", "vol-2", "vol-3", "boot-1", "boot-2"))
interfaces = st.sampled_from(("eni-1", "eni-2"))
tags = st.sampled_from(({}, CO_TAGS, {"owner": "me"}, {"owner": "you", "x": "y"}))
transitions = st.sampled_from(
    (Transition(), Transition(held=True), Transition(after_seconds=2), Transition(after_reads=2))
)
force = st.booleans()
flags = st.booleans()


class OperatorMachine(RuleBasedStateMachine):
    """An operator's console, and the eyes of whoever trusts the indexes."""

    kept = Bundle("kept")

    def __init__(self) -> None:
        super().__init__()
        self.region = SmallRegion()
        self.numbers: dict[int, tuple[str, str]] = {}

    @initialize(fixed=flags, attach=transitions, detach=transitions)
    def begin(self, fixed: bool, attach: Transition, detach: Transition) -> None:
        self.region = SmallRegion(
            zones_are_fixed=fixed, capacity_gib=60, attach=attach, detach=detach
        )
        operator = self.region.operator
        for zone in ("zone-a", "zone-b"):
            operator.add_zone(zone)
        operator.put_instance_type(InstanceType("type-a", 2))
        operator.add_instance(Instance("i-1", "zone-a", "type-a"), boot_disk="boot-1")
        operator.add_instance(Instance("i-2", "zone-b"), boot_disk="boot-2")
        operator.add_disk(Disk("vol-1", "zone-a", max_attachments=2))
        operator.attach("vol-1", "i-1")

    # ---------------------------------------------------------------------------- zones and types

    @rule(zone=zones)
    def add_zone(self, zone: str) -> None:
        self.tried(lambda: self.region.operator.add_new_zone(zone), False)

    @rule(zone=zones, force=force)
    def remove_zone(self, zone: str, force: bool) -> None:
        self.tried(lambda: self.region.operator.remove_zone(zone, force=force), force)

    @rule(name=types, slots=st.sampled_from((None, 0, 1, 3)), shared=flags, boot=flags)
    def put_type(self, name: str, slots: int | None, shared: bool, boot: bool) -> None:
        self.region.operator.put_instance_type(InstanceType(name, slots, shared, boot))

    @rule(name=types, force=force)
    def remove_type(self, name: str, force: bool) -> None:
        self.tried(lambda: self.region.operator.remove_instance_type(name, force=force), force)

    # ---------------------------------------------------------------------------------- instances

    @rule(
        id=instances,
        type=st.none() | types,
        zone=zones,
        interfaces=st.integers(0, 2) | st.lists(interfaces, unique=True),
        boot=st.none() | disks,
        attached=st.lists(disks, max_size=3, unique=True),
        force=force,
    )
    def add_instance(self, id: str, boot: str | None, force: bool, **fields: Any) -> None:
        attached = [(disk, CO_TAGS) for disk in fields["attached"] if disk != boot]
        self.tried(
            lambda: self.region.operator.add_instance(
                Instance(id, fields["zone"], fields["type"]),
                network_interfaces=fields["interfaces"],
                boot_disk=boot,
                disks=attached,
                force=force,
            ),
            force,
        )

    @rule(id=instances, type=st.none() | types, zone=st.none() | zones, force=force)
    def change_instance(self, id: str, type: str | None, zone: str | None, force: bool) -> None:
        def changed(instance: Instance) -> Instance:
            return replace(instance, type=type, zone=zone or instance.zone)

        self.tried(lambda: self.region.operator.change_instance(id, changed, force=force), force)

    @rule(id=instances)
    def terminate(self, id: str) -> None:
        self.tried(lambda: self.region.operator.terminate_instance(id), False)

    @rule(id=instances, interface=st.none() | interfaces)
    def add_interface(self, id: str, interface: str | None) -> None:
        self.tried(lambda: self.region.operator.add_network_interface(id, interface), False)

    @rule(id=instances, interface=interfaces)
    def remove_interface(self, id: str, interface: str) -> None:
        self.tried(lambda: self.region.operator.remove_network_interface(id, interface), False)

    # -------------------------------------------------------------------------------------- disks

    @rule(id=disks, zone=zones, size=st.sampled_from((1, 30)), most=st.integers(1, 2), tags=tags)
    def add_disk(self, id: str, zone: str, size: int, most: int, tags: dict[str, str]) -> None:
        disk = Disk(id, zone, size_gib=size, max_attachments=most, tags=tags)
        self.tried(lambda: self.region.operator.add_disk(disk, check_room=True), False)

    @rule(
        id=disks,
        zone=st.none() | zones,
        size=st.sampled_from((1, 10, 30)),
        most=st.integers(1, 2),
        tags=tags,
        force=force,
    )
    def change_disk(self, id: str, zone: str | None, force: bool, **fields: Any) -> None:
        def changed(disk: Disk) -> Disk:
            return replace(
                disk,
                zone=zone or disk.zone,
                size_gib=fields["size"],
                max_attachments=fields["most"],
                tags=fields["tags"],
            )

        self.tried(lambda: self.region.operator.change_disk(id, changed, force=force), force)

    @rule(id=disks, force=force)
    def remove_disk(self, id: str, force: bool) -> None:
        self.tried(lambda: self.region.operator.remove_disk(id, force=force), force)

    # -------------------------------------------------------------------------------- attachments

    @rule(attach=transitions, detach=transitions)
    def set_transitions(self, attach: Transition, detach: Transition) -> None:
        self.region.operator.set_transitions(attach=attach, detach=detach)

    @rule(disk=disks, instance=instances, tags=tags, immediately=flags, make=flags, force=force)
    def attach(self, disk: str, instance: str, force: bool, **fields: Any) -> None:
        self.tried(
            lambda: self.region.operator.attach(disk, instance, force=force, **fields), force
        )

    @rule(disk=disks, instance=instances)
    def publish(self, disk: str, instance: str) -> None:
        self.tried(lambda: self.region.publish(disk, instance), False)

    @rule(disk=disks, instance=instances, immediately=flags, force=force)
    def detach(self, disk: str, instance: str, immediately: bool, force: bool) -> None:
        gone = self.tried(
            lambda: self.region.operator.detach(
                disk, instance, immediately=immediately, force=force
            ),
            force,
        )
        if immediately and gone is None:
            return
        assert not immediately or isinstance(gone, CloudError)

    @rule(
        disk=disks,
        instance=instances,
        state=st.none() | st.sampled_from(tuple(AttachmentState)),
        set_tags=tags,
        remove_tags=st.sampled_from(((), ("owner",))),
    )
    def change_attachment(
        self, disk: str, instance: str, state: AttachmentState | None, **fields: Any
    ) -> None:
        changed = self.tried(
            lambda: self.region.operator.change_attachment(disk, instance, state=state, **fields),
            True,
        )
        if isinstance(changed, Attachment):
            assert state in (None, changed.state)
            assert (changed.pending is None) == (changed.state is AttachmentState.ATTACHED)

    @rule()
    def release(self) -> None:
        self.region.operator.release()

    @rule(seconds=st.sampled_from((1.0, 5.0)))
    def let_time_pass(self, seconds: float) -> None:
        self.region.runtime.advance(seconds)

    @rule(instance=instances)
    def read(self, instance: str) -> None:
        self.tried(lambda: self.region.describe(instance), False)

    # ---------------------------------------------------------------------------------- snapshots

    @rule(target=kept)
    def keep(self) -> tuple[CloudSnapshot, Any]:
        snapshot = self.region.cloud.snapshot()
        return snapshot, picture(self.region)

    @rule(kept=kept, seconds=st.sampled_from((0.0, 1.0)), disk=disks, instance=instances)
    def put_back(
        self, kept: tuple[CloudSnapshot, Any], seconds: float, disk: str, instance: str
    ) -> None:
        snapshot, seen = kept
        self.region.runtime.advance(seconds)
        self.region.cloud.restore(snapshot)
        assert picture(self.region) == seen
        self.attach(disk=disk, instance=instance, force=True, make=True)

    @invariant()
    def the_indexes_tell_the_truth(self) -> None:
        check(self.region.cloud.core.store)

    @invariant()
    def a_number_is_given_once(self) -> None:
        for item in self.region.operator.all_attachments():
            there = (item.disk, item.instance)
            assert self.numbers.setdefault(item.number, there) == there

    @invariant()
    def an_attachment_that_is_not_attached_waits_for_something(self) -> None:
        for item in self.region.operator.all_attachments():
            assert (item.pending is None) == (item.state is AttachmentState.ATTACHED)

    def tried(self, call: Callable[[], Any], force: bool) -> Any:
        """Make a change; return what it returns, or its refusal, which must leave all as it was."""
        before = picture(self.region)
        try:
            return call()
        except CloudError as error:
            refusal = error
        assert not force or isinstance(refusal, ALWAYS_REFUSED), refusal
        assert picture(self.region) == before
        return refusal


def picture(region: SmallRegion) -> Any:
    """Return all that can be seen of a cloud, but for what only the clock changes."""
    operator = region.operator
    now_seconds = region.runtime.now()
    return (
        operator.view_zones(),
        operator.instance_types(),
        [
            (
                view.description.instance,
                view.description.network_interfaces,
                [
                    (
                        replace(item, pending=None),
                        item.pending and item.pending.left(now_seconds),
                    )
                    for item in view.description.attachments
                ],
                view.description.boot_disks,
                view.type,
            )
            for view in operator.find_instances(lambda _: True).instances
        ],
        [
            (item.disk, sorted(place.number for place in item.attachments))
            for item in operator.find_disks(lambda _: True).disks
        ],
        operator.transitions(),
        [status.quota for status in region.api.statuses()],
        operator.default_zone(),
    )
