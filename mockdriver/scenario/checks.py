"""Checks of the `cloud` part across the file: names that must exist, ids, slots, attachments."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from mockdriver.scenario.cloud_model import MAX_INSTANCES, CloudModel
from mockdriver.scenario.kinds import MAX_ID_BYTES, disk_id_problem
from mockdriver.scenario.mistakes import Mistake, Path, not_among, quoted
from mockdriver.scenario.plan import (
    NUMBER_PLACE,
    CloudPlan,
    InstancePlan,
    plan_cloud,
    resource_count,
)
from mockdriver.scenario.validation import Report, Validated

MAX_RESOURCES = 200_000

_INSTANCES: Path = ("cloud", "instances")
_DISKS: Path = ("cloud", "disks")
_ZONES: Path = ("cloud", "zones")
_ATTACHMENTS: Path = ("cloud", "attachments")
_PLACES: tuple[Path, ...] = (
    ("cloud", "region"),
    ("cloud", "default_zone"),
    ("cloud", "zones_are_fixed"),
)
_NAMING_KEYS = frozenset({"id", "count", "count_from"})


class CloudChecks:
    """Looks for mistakes in what is right by itself; `warnings` are no mistakes."""

    def __init__(self, report: Report, found: Validated) -> None:
        self._report = report
        self._found = found
        self._cloud: CloudModel = found.model.cloud
        self._reported: set[tuple[str, Path]] = set()
        self.warnings: list[Mistake] = []

    def run(self) -> CloudPlan | None:
        """Report the mistakes; return the plan, None where there is too much to write out."""
        self._zones()
        self._instance_references()
        if self._is_too_large():
            return None
        plan = plan_cloud(self._cloud)
        self._disk_ids()
        self._instance_ids(plan)
        self._attachment_instances(plan)
        self._disk_id_lengths(plan)
        if self._found.is_whole(_INSTANCES):
            self._interface_ids(plan)
        if self._found.is_whole(_INSTANCES, _DISKS, _ZONES, _ATTACHMENTS, *_PLACES):
            self._attachments(plan)
        self._slots(plan)
        return plan

    def _is_too_large(self) -> bool:
        instances = sum(model.count or 1 for model in self._cloud.instances)
        resources = resource_count(self._cloud)
        for count, limit, words in (
            (instances, MAX_INSTANCES, "instances"),
            (resources, MAX_RESOURCES, "resources"),
        ):
            if count > limit:
                text = f"the cloud begins with {count} {words}, allowed: at most {limit}"
                self._report.add(self._found.path("cloud"), text, at_key=True)
                return True
        return False

    def _zones(self) -> None:
        seen: dict[str, int] = {}
        for index, zone in enumerate(self._cloud.zones or ()):
            if zone in seen:
                self._report.add(
                    self._found.path(*_ZONES, index), f"zone {quoted(zone)} is listed twice"
                )
            seen[zone] = index
        if self._cloud.zones == () and self._found.is_whole(_ZONES):
            self._report.add(_ZONES, "an empty list, allowed: at least one zone")

    def _instance_references(self) -> None:
        for index, model in enumerate(self._cloud.instances):
            place = (*_INSTANCES, index)
            check_type(self._report, self._found, model.type, (*place, "type"))
            check_zone(self._report, self._found, model.zone, (*place, "zone"))
            several = model.count is not None and model.count > 1
            if several and model.id is not None and NUMBER_PLACE not in model.id:
                text = (
                    f"{quoted(model.id)} is the id of {model.count} instances, "
                    f'allowed: an id with {NUMBER_PLACE} in it, such as "i-{NUMBER_PLACE}"'
                )
                self._report.add(self._found.path(*place, "id"), text)
        for index, disk in enumerate(self._cloud.disks):
            check_zone(self._report, self._found, disk.zone, (*_DISKS, index, "zone"))
        default_zone = self._cloud.default_zone
        check_zone(self._report, self._found, default_zone, ("cloud", "default_zone"))

    def _disk_ids(self) -> None:
        first: dict[str, int] = {}
        for index, disk in enumerate(self._cloud.disks):
            if disk.id in first:
                self._twice(
                    "disk", disk.id, (*_DISKS, index, "id"), (*_DISKS, first[disk.id], "id")
                )
            first.setdefault(disk.id, index)

    def _instance_ids(self, plan: CloudPlan) -> None:
        positions_are_known = ids_are_known(self._found)
        first: dict[str, int] = {}
        for instance in plan.instances:
            model = self._cloud.instances[instance.source]
            if model.id is None and not positions_are_known:
                continue
            place = (*_INSTANCES, instance.source)
            if len(instance.id.encode()) > MAX_ID_BYTES:
                text = f"{quoted(instance.id)} is too long, allowed: at most {MAX_ID_BYTES} bytes"
                self._once("long", place, text)
            # a template without a place for the number is reported as such
            if first.setdefault(instance.id, instance.source) != instance.source:
                self._twice("instance", instance.id, place, (*_INSTANCES, first[instance.id]))

    def _disk_id_lengths(self, plan: CloudPlan) -> None:
        for index, disk in enumerate(self._cloud.disks):
            self._disk_id_length(disk.id, (*_DISKS, index, "id"))
        for instance in plan.instances:
            for key, id in _disks_by_key(instance):
                self._disk_id_length(id, (*_INSTANCES, instance.source, key))
        for index, attachment in enumerate(self._cloud.attachments):
            self._disk_id_length(attachment.disk, (*_ATTACHMENTS, index, "disk"))

    def _disk_id_length(self, id: str, place: Path) -> None:
        problem = disk_id_problem(id)
        if problem is not None:
            self._once("long disk", place, problem)

    def _interface_ids(self, plan: CloudPlan) -> None:
        first: dict[str, int] = {}
        for instance in _distinct(plan):
            for id in instance.network_interfaces:
                if id in first:
                    place = (*_INSTANCES, instance.source, "network_interfaces")
                    other = (*_INSTANCES, first[id], "network_interfaces")
                    self._twice("network interface", id, place, other)
                first.setdefault(id, instance.source)

    def _attachment_instances(self, plan: CloudPlan) -> None:
        if not ids_are_known(self._found):
            return
        known = {instance.id for instance in plan.instances}
        for index, attachment in enumerate(self._cloud.attachments):
            if attachment.instance not in known:
                path = self._found.path(*_ATTACHMENTS, index, "instance")
                self._report.add(path, not_among("instance", attachment.instance, known))

    def _attachments(self, plan: CloudPlan) -> None:
        disks = {disk.id: disk for disk in plan.disks}
        counts: Counter[str] = Counter()
        seen: set[tuple[str, str]] = set()
        for instance, place, id, force in _all_attachments(plan):
            disk = disks[id]
            counts[id] += 1
            if (id, instance.id) in seen:
                text = f"disk {quoted(id)} is on instance {quoted(instance.id)} already"
                self._once("same", place, f"{text}, allowed: once in all its lists")
            elif not force and id in plan.boot_disks and counts[id] > 1:
                text = f"disk {quoted(id)} is a boot disk, which belongs to one instance alone"
                self._once("boot", place, text)
            elif not force and counts[id] > disk.max_attachments:
                text = f"disk {quoted(id)} is attached in more places than its max_attachments"
                self._once("max", place, f"{text}, allowed: {disk.max_attachments}")
            elif not force and disk.zone != instance.zone:
                text = (
                    f"disk {quoted(id)} is in zone {quoted(disk.zone)}, allowed: "
                    f"disks in the instance's zone, {quoted(instance.zone)}"
                )
                self._once("zone", place, text)
            seen.add((id, instance.id))

    def _slots(self, plan: CloudPlan) -> None:
        checked: set[int] = set()
        more = defaultdict(list)
        for attachment in plan.attachments if self._found.is_whole(_ATTACHMENTS) else ():
            if not attachment.force:
                more[attachment.instance].append(attachment.disk)
        for instance in plan.instances:
            is_like_another = instance.source in checked and instance.id not in more
            if is_like_another or instance.type not in self._cloud.instance_types:
                continue
            checked.add(instance.source)
            place = self._found.path(*_INSTANCES, instance.source)
            type_place = self._found.path("cloud", "instance_types", instance.type)
            if self._found.is_whole(place, type_place):
                ids = (*instance.disks(), *more.get(instance.id, ()))
                boot_disks = sum(id in plan.boot_disks for id in ids)
                self._slots_of(instance, len(ids), boot_disks, place)

    def _slots_of(
        self, instance: InstancePlan, attached: int, boot_disks: int, place: Path
    ) -> None:
        type_ = self._cloud.instance_types[instance.type or ""]
        if type_.slots is None:
            return
        disks = attached if type_.boot_disk_uses_slot else attached - boot_disks
        interfaces = len(instance.network_interfaces) * type_.network_interfaces_share_slots
        has = f"instance {quoted(instance.id)} of type {quoted(instance.type or '')} has"
        if disks > type_.slots:
            text = f"{has} {disks} disks in slots, allowed: at most its {type_.slots} slots"
            self._report.add(place, text)
        elif disks + interfaces > type_.slots:
            text = (
                f"{has} {interfaces} network interfaces and {disks} disks in {type_.slots} slots; "
                "attaching will be refused"
            )
            self.warnings.append(self._report.line_about(place, text))

    def _twice(self, kind: str, id: str, place: Path, first: Path) -> None:
        line, column = self._report.tree.position(self._found.path(*first))
        text = f"{kind} {quoted(id)} is there already, at {line}:{column}; ids are given once"
        self._once(kind, place, text)

    def _once(self, kind: str, place: Path, text: str) -> None:
        """Report a kind of mistake once for each place: 5,000 instances can come from one line."""
        path = self._found.path(*place)
        if (kind, path) not in self._reported:
            self._reported.add((kind, path))
            self._report.add(path, text)


def _all_attachments(plan: CloudPlan) -> Iterator[tuple[InstancePlan, Path, str, bool]]:
    """Yield the instance, the place in the model, the disk, and whether it is forced, of each."""
    instances = {instance.id: instance for instance in _distinct(plan)}
    for instance in instances.values():
        for key, id in _disks_by_key(instance):
            yield instance, (*_INSTANCES, instance.source, key), id, False
    for index, attachment in enumerate(plan.attachments):
        if attachment.instance in instances:
            place = (*_ATTACHMENTS, index)
            yield instances[attachment.instance], place, attachment.disk, attachment.force


def check_type(report: Report, found: Validated, name: str | None, place: Path) -> None:
    """Report a type that is not among `cloud.instance_types`."""
    types_path: Path = ("cloud", "instance_types")
    node = report.tree.find(types_path)
    known = dict.fromkeys((*found.model.cloud.instance_types, *(node.keys if node else ())))
    if name is None or name in known or any(types_path[:end] in found.cut for end in range(3)):
        return
    report.add(found.path(*place), not_among("instance type", name, known))


def check_zone(report: Report, found: Validated, zone: str | None, place: Path) -> None:
    """Report a zone that is not among `cloud.zones`, where these are given."""
    cloud = found.model.cloud
    zones = cloud.zones
    if cloud.zones_are_fixed is False or not found.is_whole(("cloud", "zones_are_fixed")):
        return
    if zone is None or not zones or zone in zones or not found.is_whole(_ZONES):
        return
    report.add(found.path(*place), not_among("zone", zone, zones))


def ids_are_known(found: Validated) -> bool:
    """Tell whether the ids of all instances are known, in spite of what was cut out."""
    for path in found.cut:
        if path == _INSTANCES[: len(path)]:
            return False
        if path[:2] == _INSTANCES:
            inside = [element for element in path[2:] if isinstance(element, str)]
            if not inside or inside[0] in _NAMING_KEYS:
                return False
    return True


def _distinct(plan: CloudPlan) -> Iterable[InstancePlan]:
    """Return the instances without those whose id is there twice, which is reported anyway."""
    found: dict[str, InstancePlan] = {}
    for instance in plan.instances:
        found.setdefault(instance.id, instance)
    return found.values()


def _disks_by_key(instance: InstancePlan) -> Iterator[tuple[str, str]]:
    """Yield each disk on an instance with the key that puts it there."""
    if instance.boot_disk is not None:
        yield "boot_disk", instance.boot_disk
    lists: Iterable[tuple[str, tuple[str, ...]]] = (
        ("attached", instance.attached),
        ("published", instance.published),
    )
    for key, ids in lists:
        for id in ids:
            yield key, id
