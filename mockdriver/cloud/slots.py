"""Slot arithmetic: who uses an instance's slots, and what is left. Pure functions.

A *slot* is one unit of an instance's attachment capacity. Its users are attached disks, the boot
disk if the type says so, and each network interface if these share the slots.
"""

from __future__ import annotations

from mockdriver.cloud.resources import InstanceType

UNTYPED = InstanceType(name="", slots=None)
"""Stands for the type of an instance that has none: no limit."""


def disks_using_slots(type_: InstanceType, *, disks: int, boot_disks: int) -> int:
    """Return how many of the attached disks use a slot; `disks` counts the `boot_disks` too."""
    return disks if type_.boot_disk_uses_slot else disks - boot_disks


def interfaces_using_slots(type_: InstanceType, network_interfaces: int) -> int:
    """Return how many of the network interfaces use a slot."""
    return network_interfaces if type_.network_interfaces_share_slots else 0


def slot_users(type_: InstanceType, *, disks: int, boot_disks: int, network_interfaces: int) -> int:
    """Return how many slots are in use. It can exceed the slots: interfaces are never refused."""
    return disks_using_slots(type_, disks=disks, boot_disks=boot_disks) + interfaces_using_slots(
        type_, network_interfaces
    )


def max_volumes_per_node(type_: InstanceType, network_interfaces: int) -> int:
    """Return the limit that the SP reports: slots less those that network interfaces use.

    KEP-6011, "volume classification": the SP accounts for interfaces, the CO for disks. 0 means
    unspecified, so a full instance reports 1 and never less.
    """
    if type_.slots is None:
        return 0
    return at_least_one(type_.slots - interfaces_using_slots(type_, network_interfaces))


def at_least_one(limit: int) -> int:
    """Return `limit`, or 1 where it is less: 0 would tell the CO that there is no limit."""
    return max(1, limit)
