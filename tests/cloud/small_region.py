"""A cloud with a virtual clock, and short ways to fill it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from mockdriver.cloud import (
    DEFAULT_CAPACITY_GIB,
    IMMEDIATELY,
    Attachment,
    Caller,
    Cloud,
    Disk,
    Instance,
    InstanceDescription,
    InstanceType,
    Quota,
    Transition,
    Transitions,
)
from mockdriver.runtime import Runtime, VirtualRuntime

ZONE = "zone-a"
OTHER_ZONE = "zone-b"
CO_TAGS = {"access_mode": "SINGLE_NODE_WRITER"}
"""What a driver leaves on the attachments that it makes; out of band there is no such tag."""


class SmallRegion:
    """A cloud, the credentials of a driver (`api` and `caller`) and those of its operator."""

    def __init__(
        self,
        *,
        attach: Transition = IMMEDIATELY,
        detach: Transition = IMMEDIATELY,
        quotas: Mapping[str, Quota] | None = None,
        zones_are_fixed: bool = False,
        capacity_gib: int = DEFAULT_CAPACITY_GIB,
        runtime: Runtime | None = None,
    ) -> None:
        self.runtime = VirtualRuntime() if runtime is None else runtime
        self.cloud = Cloud(
            self.runtime,
            transitions=Transitions(attach=attach, detach=detach),
            quotas=quotas,
            zones_are_fixed=zones_are_fixed,
            capacity_gib=capacity_gib,
        )
        self.api = self.cloud.api
        self.operator = self.cloud.operator
        self.caller = Caller(self.runtime)
        self._fresh_disks = count(1)

    def add_instance(
        self,
        name: str = "i-1",
        *,
        slots: int | None = None,
        shared: bool = False,
        boot_uses_slot: bool = True,
        interfaces: int = 1,
        boot_disk: str | None = None,
        zone: str = ZONE,
    ) -> str:
        """Add an instance of a type of its own, `type-of-<name>`; return its id."""
        self.put_type(name, slots=slots, shared=shared, boot_uses_slot=boot_uses_slot)
        self.operator.add_instance(
            Instance(id=name, zone=zone, type=f"type-of-{name}"),
            network_interfaces=interfaces,
            boot_disk=boot_disk,
        )
        return name

    def put_type(
        self, name: str, *, slots: int | None, shared: bool = False, boot_uses_slot: bool = True
    ) -> InstanceType:
        """Add or edit the type of the instance with this name."""
        type_ = InstanceType(
            name=f"type-of-{name}",
            slots=slots,
            network_interfaces_share_slots=shared,
            boot_disk_uses_slot=boot_uses_slot,
        )
        self.operator.put_instance_type(type_)
        return type_

    def add_disk(self, name: str, *, zone: str = ZONE, max_attachments: int = 1) -> str:
        """Add a disk; return its id."""
        self.operator.add_disk(Disk(id=name, zone=zone, max_attachments=max_attachments))
        return name

    def add_disks(self, number: int, prefix: str = "vol") -> list[str]:
        """Add `number` disks; return their ids."""
        return [self.add_disk(f"{prefix}-{n}") for n in range(1, number + 1)]

    def add_fresh_disk(self) -> str:
        """Add a disk with an id that no test names."""
        return self.add_disk(f"fresh-{next(self._fresh_disks)}")

    def publish(self, disk: str, instance: str = "i-1", *, exclusive: bool = False) -> Attachment:
        """Attach as a driver does for its CO."""
        return self.api.attach(disk, instance, self.caller, exclusive=exclusive, tags=CO_TAGS)

    def attach_new(self, number: int, instance: str = "i-1", prefix: str = "vol") -> list[str]:
        """Add `number` disks and publish them; return their ids."""
        disks = self.add_disks(number, prefix)
        for disk in disks:
            self.publish(disk, instance)
        return disks

    def unpublish(self, disk: str, instance: str = "i-1") -> Attachment | None:
        """Detach as a driver does for its CO."""
        return self.api.detach(disk, instance, self.caller)

    def describe(self, instance: str = "i-1") -> InstanceDescription:
        """Describe one instance by the API, which is a read."""
        return self.api.describe_instances([instance], self.caller)[0]

    def type_of(self, instance: str = "i-1") -> InstanceType:
        """Return the type of an instance that has one."""
        name = self.operator.instance(instance).type
        assert name is not None
        return self.operator.instance_type(name)

    def attached(self, instance: str = "i-1") -> list[str]:
        """Return the ids of all disks on an instance, without a read."""
        return [attachment.disk for attachment in self.operator.attachments(instance)]

    def listed(self, instance: str = "i-1") -> list[str]:
        """Return the ids of the disks that use a slot; by the API, which is a read."""
        using = self.describe(instance).attachments_using_slots(self.type_of(instance))
        return [attachment.disk for attachment in using]

    def states(self, instance: str = "i-1") -> dict[str, str]:
        """Return the states of all attachments on an instance, without a read."""
        return {item.disk: item.state.value for item in self.operator.attachments(instance)}
