"""Disks as a scenario file says them: those that the lines of instances do not make as they are."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from mockdriver.cloud import Disk
from mockdriver.scenario.cloud_model import DiskModel
from mockdriver.scenario.codec import short_data

MOST_IN_ORDER = 2_000
"""So many disks are listed for nothing but their order."""


def disks_data(
    disks: Mapping[str, Disk], named: Mapping[str, str], boot_disks: Collection[str]
) -> tuple[list[dict[str, Any]], bool]:
    """Return the disks to be described, and whether all disks get the order that they have.

    `disks` are in the order of their creation. `named` are those that other lines of the file name,
    in its order, each with the zone that it gets then; `boot_disks` those that become one by that.

    Disks that are described are made before those that are only named. So one that was made before
    a described one has to be described itself, however ordinary it is.
    """
    ordinary = {id for id, disk in disks.items() if _is_ordinary(disk, named, boot_disks)}
    only_named = _last_in_order(list(disks), ordinary, list(named))
    described = [disk for id, disk in disks.items() if id not in only_named]
    in_order = sum(disk.id in ordinary for disk in described) <= MOST_IN_ORDER
    if not in_order:
        described = [disk for disk in described if disk.id not in ordinary]
    return [_data(disk, named, boot_disks) for disk in described], in_order


def _is_ordinary(disk: Disk, named: Mapping[str, str], boot_disks: Collection[str]) -> bool:
    """Tell whether a disk is what a line that only names it makes."""
    zone = named.get(disk.id)
    return zone is not None and disk == Disk(disk.id, zone, boot=disk.id in boot_disks)


def _last_in_order(ids: list[str], ordinary: Collection[str], named: list[str]) -> set[str]:
    """Return the ordinary disks at the end of the list that come in the order of their naming."""
    places = {id: place for place, id in enumerate(named)}
    found: set[str] = set()
    next_place = len(named)
    for id in reversed(ids):
        if id not in ordinary or places[id] >= next_place:
            break
        next_place = places[id]
        found.add(id)
    return found


def _data(disk: Disk, named: Mapping[str, str], boot_disks: Collection[str]) -> dict[str, Any]:
    data = short_data(disk, DiskModel)
    if named.get(disk.id) == disk.zone:
        del data["zone"]
    if disk.id in boot_disks:
        data.pop("boot", None)
    return data
