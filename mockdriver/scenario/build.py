"""From a loaded scenario to the simulated cloud that it describes."""

from __future__ import annotations

from collections.abc import Mapping

from mockdriver.cloud import (
    AttachmentState,
    Cloud,
    Instance,
    InstanceType,
    Transition,
    Transitions,
)
from mockdriver.cloud.resources import NO_TAGS
from mockdriver.runtime import Runtime
from mockdriver.scenario.cloud_model import AttachmentModel, NewInstance
from mockdriver.scenario.codec import record
from mockdriver.scenario.load import LoadedScenario
from mockdriver.scenario.plan import InstancePlan, default_zone, plan_instance


def build(
    scenario: LoadedScenario,
    runtime: Runtime,
    *,
    published_tags: Mapping[str, str],
    after: Cloud | None = None,
) -> Cloud:
    """Make the cloud of a scenario, as it is when the story begins.

    `published_tags` are what the driver writes on an attachment that it makes: what the scenario
    lists as published gets them, everything else counts as out of band. Attachments get their
    numbers in the order of the file, and are there at once, whatever the transitions. With `after`
    these are none that this other cloud has given.
    """
    model, plan = scenario.cloud, scenario.plan
    cloud = Cloud(
        runtime,
        region=model.region,
        default_zone=default_zone(model),
        zones_are_fixed=plan.zones_are_fixed,
        transitions=record(Transitions, model.transitions),
        quotas=model.api.quotas(),
        capacity_gib=model.capacity_gib,
    )
    if after is not None:
        cloud.go_on_after(after)
    operator = cloud.operator
    for zone in plan.zones:
        operator.add_zone(zone)
    for name, type_ in model.instance_types.items():
        operator.put_instance_type(record(InstanceType, type_, name=name))
    for disk in plan.disks:
        operator.add_disk(disk)
    for instance in plan.instances:
        _add(cloud, instance, published_tags)
    for attachment in plan.attachments:
        _attach(cloud, attachment, published_tags)
    return cloud


def _attach(cloud: Cloud, model: AttachmentModel, published_tags: Mapping[str, str]) -> None:
    """Make an attachment, and put it into its state.

    The checks of the file have found that it is allowed, or is to be forced. Here all are: network
    interfaces are on the instance already, and they must not keep a disk out.
    """
    operator = cloud.operator
    tags = {**published_tags, **model.tags} if model.published else model.tags
    operator.attach(model.disk, model.instance, tags=tags, immediately=True, force=True)
    state = AttachmentState(model.state)
    if state is not AttachmentState.ATTACHED:
        waiting = model.waits_for or Transition(held=True)
        pending = waiting.begin(cloud.core.runtime.now())
        operator.change_attachment(model.disk, model.instance, state=state, pending=pending)


def add_instance(
    cloud: Cloud, new: NewInstance, *, published_tags: Mapping[str, str], force: bool = False
) -> InstancePlan:
    """Add an instance to a cloud, with its disks and interfaces, in one step; return its plan.

    Disks that are not there are made. Raises what the cloud refuses with, and then nothing was
    added; `force` is as in `Operator.add_instance`.
    """
    assert new.id is not None, "the caller sees to it"
    plan = plan_instance(new, new.id, zone=cloud.operator.default_zone())
    _add(cloud, plan, published_tags, force=force)
    return plan


def _add(
    cloud: Cloud, plan: InstancePlan, published_tags: Mapping[str, str], *, force: bool = False
) -> None:
    cloud.operator.add_instance(
        record(Instance, plan.model, id=plan.id, zone=plan.zone),
        network_interfaces=plan.network_interfaces,
        boot_disk=plan.boot_disk,
        disks=[
            *((disk, NO_TAGS) for disk in plan.attached),
            *((disk, published_tags) for disk in plan.published),
        ],
        force=force,
    )
