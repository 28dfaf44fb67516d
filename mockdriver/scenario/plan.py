"""The cloud that a `cloud` part describes, written out: every instance, interface and disk.

Templates become instances, numbers become ids, defaults become values. Checks look at this plan,
and the builder follows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from mockdriver.cloud import Disk
from mockdriver.scenario.cloud_model import AttachmentModel, CloudModel, NewInstance
from mockdriver.scenario.codec import record

NUMBER_PLACE = "{n}"
"""What stands for 1, 2, 3 … in the ids of instances with a count."""


class InstancePlan(NamedTuple):
    """One instance to make, as `model` says where nothing else does.

    `source` is its place in the model's list of instances.
    """

    model: NewInstance
    id: str
    type: str | None
    zone: str
    network_interfaces: tuple[str, ...]
    boot_disk: str | None
    attached: tuple[str, ...]
    published: tuple[str, ...]
    source: int = 0

    def disks(self) -> Iterator[str]:
        """Yield the ids of all disks on the instance, in the order in which they are attached."""
        if self.boot_disk is not None:
            yield self.boot_disk
        yield from self.attached
        yield from self.published


@dataclass(frozen=True, slots=True)
class CloudPlan:
    """All that is to be made, in the order of the file.

    `boot_disks` are the ids of the disks that are one, by themselves or on an instance.
    """

    zones: tuple[str, ...]
    zones_are_fixed: bool
    instances: tuple[InstancePlan, ...]
    disks: tuple[Disk, ...]
    attachments: tuple[AttachmentModel, ...]
    boot_disks: frozenset[str]


def plan_cloud(cloud: CloudModel) -> CloudPlan:
    """Write the cloud out. The model has to be within `resource_count`'s cap."""
    instances = tuple(_instances(cloud))
    disks = _disks(cloud, instances)
    zones = dict.fromkeys(cloud.zones or ())
    fixed = bool(zones) if cloud.zones_are_fixed is None else cloud.zones_are_fixed
    if not (zones and fixed):
        zones |= dict.fromkeys([*(item.zone for item in instances), *(item.zone for item in disks)])
    if not zones:
        zones = {default_zone(cloud): None}
    boot_disks = frozenset(
        [
            *(item.boot_disk for item in instances if item.boot_disk is not None),
            *(item.id for item in disks if item.boot),
        ]
    )
    return CloudPlan(tuple(zones), fixed, instances, disks, cloud.attachments, boot_disks)


def plan_instance(
    model: NewInstance, id: str, *, zone: str, number: int | None = None, source: int = 0
) -> InstancePlan:
    """Write one instance out; `zone` is where it goes by default, `number` fills templates."""
    boot_disk = model.boot_disk
    return InstancePlan(
        model,
        id,
        model.type,
        zone if model.zone is None else model.zone,
        _ids(model.network_interfaces, id, "eni", number),
        None if boot_disk is None else _filled(boot_disk, number),
        _ids(model.attached, id, "attached", number),
        _ids(model.published, id, "published", number),
        source,
    )


def default_zone(cloud: CloudModel) -> str:
    """Return the zone of an instance that names none."""
    if cloud.default_zone is not None:
        return cloud.default_zone
    return cloud.zones[0] if cloud.zones else f"{cloud.region}a"


def resource_count(cloud: CloudModel) -> int:
    """Return how many resources the cloud begins with, without writing them out."""
    return (
        len(cloud.disks)
        + len(cloud.attachments)
        + sum((model.count or 1) * (1 + _resources_on(model)) for model in cloud.instances)
    )


def _resources_on(model: NewInstance) -> int:
    lists = (model.network_interfaces, model.attached, model.published)
    numbers = (item if isinstance(item, int) else len(item) for item in lists)
    return sum(numbers) + (model.boot_disk is not None)


def _instances(cloud: CloudModel) -> Iterator[InstancePlan]:
    position = 0
    zone = default_zone(cloud)
    for source, model in enumerate(cloud.instances):
        for number in range(model.count_from, model.count_from + (model.count or 1)):
            position += 1
            place = None if model.count is None else number
            id = f"i-{position}" if model.id is None else _filled(model.id, place)
            yield plan_instance(model, id, zone=zone, number=place, source=source)


def _disks(cloud: CloudModel, instances: tuple[InstancePlan, ...]) -> tuple[Disk, ...]:
    """Return the described disks, and then those that instances name besides."""
    zones: dict[str, str] = {}
    for instance in instances:
        for id in instance.disks():
            zones.setdefault(id, instance.zone)
    places = {instance.id: instance.zone for instance in instances}
    for attachment in cloud.attachments:
        zones.setdefault(attachment.disk, places.get(attachment.instance, default_zone(cloud)))
    first_zone = instances[0].zone if instances and not cloud.zones else default_zone(cloud)
    described = {
        model.id: record(Disk, model, zone=model.zone or zones.get(model.id, first_zone))
        for model in reversed(cloud.disks)
    }
    plans = {model.id: described[model.id] for model in cloud.disks}
    for id, zone in zones.items():
        if id not in plans:
            plans[id] = Disk(id, zone)
    return tuple(plans.values())


def _ids(
    given: int | tuple[str, ...], instance: str, word: str, number: int | None
) -> tuple[str, ...]:
    if given == 0:
        return ()
    if isinstance(given, int):
        return tuple([f"{instance}-{word}-{n}" for n in range(1, given + 1)])
    return given if number is None else tuple([_filled(id, number) for id in given])


def _filled(text: str, number: int | None) -> str:
    return text if number is None else text.replace(NUMBER_PLACE, str(number))
