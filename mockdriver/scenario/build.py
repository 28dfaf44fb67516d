"""From a loaded scenario to the simulated cloud that it describes."""

from __future__ import annotations

from collections.abc import Mapping

from mockdriver.cloud import Cloud, Disk, Instance, InstanceType, Transitions
from mockdriver.cloud.errors import CloudError
from mockdriver.runtime import Runtime
from mockdriver.scenario.cloud_model import CloudModel, InstanceTypeModel, NewInstance
from mockdriver.scenario.load import LoadedScenario
from mockdriver.scenario.plan import InstancePlan, default_zone, plan_instance


def build(
    scenario: LoadedScenario, runtime: Runtime, *, published_tags: Mapping[str, str]
) -> Cloud:
    """Make the cloud of a scenario, as it is when the story begins.

    `published_tags` are what the driver writes on an attachment that it makes: what the scenario
    lists as published gets them, everything else counts as out of band. Attachments get their
    numbers in the order of the file, and are there at once, whatever the transitions.
    """
    model, plan = scenario.cloud, scenario.plan
    cloud = Cloud(
        runtime,
        region=model.region,
        zones_are_fixed=plan.zones_are_fixed,
        transitions=Transitions(attach=model.transitions.attach, detach=model.transitions.detach),
        quotas=model.api.quotas(),
        capacity_gib=model.capacity_gib,
    )
    operator = cloud.operator
    for zone in plan.zones:
        operator.add_zone(zone)
    for name, type_ in model.instance_types.items():
        operator.put_instance_type(instance_type(name, type_))
    for disk in plan.disks:
        operator.add_disk(
            Disk(disk.id, disk.zone, size_gib=disk.size_gib, max_attachments=disk.max_attachments)
        )
    for instance in plan.instances:
        _add(cloud, instance, published_tags)
    return cloud


def instance_type(name: str, model: InstanceTypeModel) -> InstanceType:
    """Return the cloud's instance type of this description."""
    return InstanceType(
        name=name,
        slots=model.slots,
        network_interfaces_share_slots=model.network_interfaces_share_slots,
        boot_disk_uses_slot=model.boot_disk_uses_slot,
    )


def add_instance(
    cloud: Cloud, model: CloudModel, new: NewInstance, *, published_tags: Mapping[str, str]
) -> InstancePlan:
    """Add the instance of an `add_instance` step, with its disks and interfaces; return its plan.

    `model` is the scenario's cloud, for defaults. Disks that are not there are made. Raises what
    the cloud refuses with (`mockdriver.cloud.errors`), and then nothing was added.
    """
    assert new.id is not None, "the model sees to it"
    plan = plan_instance(new, new.id, zone=default_zone(model))
    operator = cloud.operator
    is_new = not operator.has_instance(plan.id)
    made = []
    try:
        for id in plan.disks():
            if not operator.has_disk(id):
                operator.add_disk(Disk(id, plan.zone))
                made.append(id)
        _add(cloud, plan, published_tags)
    except CloudError:
        if is_new and operator.has_instance(plan.id):
            operator.terminate_instance(plan.id)
        for id in made:
            if operator.has_disk(id):  # the boot disk goes with its instance
                operator.remove_disk(id)
        raise
    return plan


def _add(cloud: Cloud, plan: InstancePlan, published_tags: Mapping[str, str]) -> None:
    operator = cloud.operator
    instance = Instance(id=plan.id, zone=plan.zone, type=plan.type)
    operator.add_instance(instance, network_interfaces=0, boot_disk=plan.boot_disk)
    for disk in plan.attached:
        operator.attach(disk, plan.id, immediately=True)
    for disk in plan.published:
        operator.attach(disk, plan.id, tags=published_tags, immediately=True)
    # last, since the cloud refuses disks for want of slots, but never interfaces
    for interface in plan.network_interfaces:
        operator.add_network_interface(plan.id, interface)
