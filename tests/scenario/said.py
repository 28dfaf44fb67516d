"""All that a scenario file can say of a cloud, in a form that can be compared."""

from __future__ import annotations

from typing import Any

from mockdriver.cloud import Attachment, Cloud


def said(cloud: Cloud) -> dict[str, Any]:
    """Return it; of what no file can say, what the file makes of it."""
    snapshot = cloud.snapshot()
    store = snapshot.store
    in_use = [item.zone for item in store.instances.values()]
    in_use += [item.zone for item in store.disks.values()]
    zones = list(dict.fromkeys([*store.zones, *in_use]))
    fixed = snapshot.zones_are_fixed
    default_zone = snapshot.default_zone
    if fixed and zones and default_zone not in zones:
        default_zone = zones[0]
    now_seconds = snapshot.taken_seconds
    return {
        "region": snapshot.region,
        "zones": zones or [default_zone],
        "zones_are_fixed": fixed,
        "default_zone": default_zone,
        "capacity_gib": snapshot.capacity_gib,
        "instance_types": list(store.instance_types.values()),
        "instances": [
            {
                "id": id,
                "zone": instance.zone,
                "type": instance.type if instance.type in store.instance_types else None,
                "network_interfaces": list(store.occupancies[id].network_interfaces),
                "boot_disks": store.occupancies[id].boot_disks,
                "attachments": [
                    _attachment(item, now_seconds)
                    for item in _by_number(store.occupancies[id].attachments.values())
                ],
            }
            for id, instance in store.instances.items()
        ],
        "disks": list(store.disks.values()),
        "instances_of": {
            id: [item.instance for item in _by_number(cloud.operator.attachments_of(id))]
            for id in store.disks
        },
        "transitions": snapshot.transitions,
        "quotas": snapshot.api.quotas,
    }


def _attachment(item: Attachment, now_seconds: float) -> tuple[Any, ...]:
    left = None if item.pending is None else item.pending.left(now_seconds)
    if left is not None and left.after_seconds is not None:
        return item.disk, item.state, dict(item.tags), round(left.after_seconds, 6)
    return item.disk, item.state, dict(item.tags), left


def _by_number(items: Any) -> list[Attachment]:
    return sorted(items, key=lambda item: item.number)
