"""From a cloud to the `cloud` part of a scenario that builds it again: the way back of `build`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mockdriver.cloud import Instance
from mockdriver.cloud.cloud import CloudSnapshot
from mockdriver.cloud.slots import UNTYPED
from mockdriver.cloud.token_bucket import UNLIMITED
from mockdriver.scenario.attachment_data import AttachmentData
from mockdriver.scenario.cloud_model import (
    CloudModel,
    InstanceTypeModel,
    NewInstance,
    QuotaModel,
    TransitionsModel,
)
from mockdriver.scenario.codec import short_data
from mockdriver.scenario.disk_data import MOST_IN_ORDER, disks_data
from mockdriver.scenario.runs import in_runs

Data = dict[str, Any]
Notes = list[str]


def cloud_data(snapshot: CloudSnapshot, published_tags: Mapping[str, str], notes: Notes) -> Data:
    """Return what a file says of a cloud, so that a cloud that is built of it is the same.

    `published_tags` are what the driver writes on what a scenario lists as published. What a file
    cannot say of this cloud goes into `notes`.
    """
    store = snapshot.store
    attachments = AttachmentData(store, published_tags, snapshot.taken_seconds)
    instances = [
        _instance(snapshot, instance, attachments, notes) for instance in store.instances.values()
    ]
    rest = attachments.rest()
    disks, in_order = disks_data(store.disks, attachments.named, attachments.boot_disks)
    if not in_order:
        notes.append(f"the order of the disks, which are more than {MOST_IN_ORDER}")
    basics = short_data(snapshot, CloudModel)
    parts: Data = {
        "region": basics.get("region"),
        **_zones(snapshot, notes),
        "capacity_gib": basics.get("capacity_gib"),
        "instance_types": {
            name: short_data(type_, InstanceTypeModel)
            for name, type_ in store.instance_types.items()
        },
        "instances": in_runs(instances),
        "disks": disks,
        "attachments": rest,
        "transitions": short_data(snapshot.transitions, TransitionsModel),
        "api": {
            name: short_data(quota, QuotaModel)
            for name, quota in snapshot.api.quotas.items()
            if quota != UNLIMITED
        },
    }
    return {key: value for key, value in parts.items() if value not in (None, [], {})}


def _zones(snapshot: CloudSnapshot, notes: Notes) -> Data:
    """Return the zones, unless they follow from what is in them."""
    store, region_default = snapshot.store, f"{snapshot.region}a"
    in_use = dict.fromkeys(
        [
            *(instance.zone for instance in store.instances.values()),
            *(disk.zone for disk in store.disks.values()),
        ]
    )
    lost = [zone for zone in in_use if zone not in store.zones]
    notes.extend(f"that zone {zone} was removed while something was in it" for zone in lost)
    zones = [*store.zones, *lost]
    if snapshot.zones_are_fixed and not zones:
        notes.append("that all zones were removed")
        return {"zones_are_fixed": True, "default_zone": snapshot.default_zone}
    follows = zones == (list(in_use) or [region_default])
    if not snapshot.zones_are_fixed and follows and snapshot.default_zone == region_default:
        return {}
    found: Data = {"zones": zones}
    if not snapshot.zones_are_fixed:
        found["zones_are_fixed"] = False
    if snapshot.zones_are_fixed and snapshot.default_zone not in zones:
        notes.append(f"that {snapshot.default_zone}, the zone of what names none, was removed")
    elif snapshot.default_zone != zones[0]:
        found["default_zone"] = snapshot.default_zone
    return found


def _instance(
    snapshot: CloudSnapshot, instance: Instance, attachments: AttachmentData, notes: Notes
) -> Data:
    store = snapshot.store
    found = short_data(instance, NewInstance)
    type_ = UNTYPED
    if instance.type is not None:
        type_ = store.instance_types.get(instance.type, UNTYPED)
        if type_ is UNTYPED:
            del found["type"]
            notes.append(f"that instance {instance.id} had the type {instance.type}, now removed")
    if instance.zone == snapshot.default_zone and snapshot.default_zone in store.zones:
        del found["zone"]
    lists = attachments.lists_of(instance, type_)
    parts = {
        "network_interfaces": ("eni", list(store.occupancies[instance.id].network_interfaces)),
        "attached": ("attached", lists.attached),
        "published": ("published", lists.published),
    }
    if lists.boot_disk is not None:
        found["boot_disk"] = lists.boot_disk
    for key, (word, ids) in parts.items():
        value = _number_or_list(ids, instance.id, word)
        if value != NewInstance.model_fields[key].default:
            found[key] = value
    return found


def _number_or_list(ids: Sequence[str], instance: str, word: str) -> int | list[str]:
    """Return ids as a number, if that names the same."""
    usual = [f"{instance}-{word}-{n}" for n in range(1, len(ids) + 1)]
    return len(ids) if list(ids) == usual else list(ids)
