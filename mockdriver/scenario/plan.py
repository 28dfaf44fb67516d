"""The cloud that a `cloud` part describes, written out: every instance, interface and disk.

Templates become instances, numbers become ids, defaults become values. Checks look at this plan,
and the builder follows it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from mockdriver.scenario.cloud_model import CloudModel, DiskModel, NewInstance

NUMBER_PLACE = "{n}"
"""What stands for 1, 2, 3 … in the ids of instances with a count."""


class InstancePlan(NamedTuple):
    """One instance to make. `source` is its place in the model's list of instances."""

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


class DiskPlan(NamedTuple):
    """One disk to make. `source` is its place in the model's list, None if it has none there."""

    id: str
    zone: str
    size_gib: int = 10
    max_attachments: int = 1
    source: int | None = None


@dataclass(frozen=True, slots=True)
class CloudPlan:
    """All that is to be made, in the order of the file."""

    zones: tuple[str, ...]
    zones_are_fixed: bool
    instances: tuple[InstancePlan, ...]
    disks: tuple[DiskPlan, ...]


def plan_cloud(cloud: CloudModel) -> CloudPlan:
    """Write the cloud out. The model has to be within `resource_count`'s cap."""
    instances = tuple(_instances(cloud))
    disks = _disks(cloud, instances)
    zones = dict.fromkeys(cloud.zones or ())
    if not zones:
        zones = dict.fromkeys([*(item.zone for item in instances), *(item.zone for item in disks)])
    if not zones:
        zones = {default_zone(cloud): None}
    return CloudPlan(tuple(zones), bool(cloud.zones), instances, disks)


def plan_instance(
    model: NewInstance, id: str, *, zone: str, number: int | None = None, source: int = 0
) -> InstancePlan:
    """Write one instance out; `zone` is where it goes by default, `number` fills templates."""
    boot_disk = model.boot_disk
    return InstancePlan(
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
    return cloud.zones[0] if cloud.zones else f"{cloud.region}a"


def resource_count(cloud: CloudModel) -> int:
    """Return how many resources the cloud begins with, without writing them out."""
    return len(cloud.disks) + sum(
        (model.count or 1) * (1 + _resources_on(model)) for model in cloud.instances
    )


def _resources_on(model: NewInstance) -> int:
    lists = (model.network_interfaces, model.attached, model.published)
    numbers = (item if isinstance(item, int) else len(item) for item in lists)
    return sum(numbers) + (model.boot_disk is not None)


def _instances(cloud: CloudModel) -> Iterator[InstancePlan]:
    position = 0
    zone = default_zone(cloud)
    for source, model in enumerate(cloud.instances):
        for number in range(1, (model.count or 1) + 1):
            position += 1
            place = None if model.count is None else number
            id = f"i-{position}" if model.id is None else _filled(model.id, place)
            yield plan_instance(model, id, zone=zone, number=place, source=source)


def _disks(cloud: CloudModel, instances: tuple[InstancePlan, ...]) -> tuple[DiskPlan, ...]:
    """Return the described disks, and then those that instances name besides."""
    zones: dict[str, str] = {}
    for instance in instances:
        for id in instance.disks():
            zones.setdefault(id, instance.zone)
    first_zone = instances[0].zone if instances and not cloud.zones else default_zone(cloud)
    described = {
        model.id: _disk(model, zones.get(model.id, first_zone), source)
        for source, model in reversed(tuple(enumerate(cloud.disks)))
    }
    plans = {model.id: described[model.id] for model in cloud.disks}
    for id, zone in zones.items():
        if id not in plans:
            plans[id] = DiskPlan(id, zone)
    return tuple(plans.values())


def _disk(model: DiskModel, zone: str, source: int) -> DiskPlan:
    return DiskPlan(
        id=model.id,
        zone=model.zone if model.zone is not None else zone,
        size_gib=model.size_gib,
        max_attachments=model.max_attachments,
        source=source,
    )


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
