"""The verbs of the cloud: what happens out of band, without the CO and without the driver.

They go through the control API, to whatever server the story is played against.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from mockdriver.control.v1 import cloud_pb2
from mockdriver.play.outcome import Outcome
from mockdriver.play.stage import Stage
from mockdriver.scenario.durations import format_duration
from mockdriver.scenario.plan import default_zone, plan_instance
from mockdriver.scenario.story_model import (
    AddInstance,
    AddNetworkInterface,
    Advance,
    Attach,
    Detach,
    EditInstanceType,
    RemoveNetworkInterface,
    RestartDriver,
    SetQuota,
    TerminateInstance,
)

DONE = Outcome()

_INTERFACES_AT_ONCE = 1_000
"""The control API adds and removes so many at once at most."""


def attach(stage: Stage, arguments: Attach) -> Outcome:
    """Attach disks out of band. A disk that is not there is made, in the instance's zone."""
    cloud = stage.control.cloud
    transition = cloud.transitions().attach
    wait = arguments.wait and _ends_by_itself(transition)
    for disk in _disks_to_attach(stage, arguments):
        made = cloud.attach(arguments.instance, disk, wait=wait)
        if arguments.wait and made.waits_for:
            return _stays(made)
    return DONE


def detach(stage: Stage, arguments: Detach) -> Outcome:
    """Detach disks out of band; a count means the oldest that the CO did not publish."""
    cloud = stage.control.cloud
    if arguments.count is None:
        assert arguments.disk is not None
        disks = [arguments.disk]
    else:
        disks = [
            attachment.disk
            for attachment in cloud.instance(arguments.instance).attachments
            if attachment.out_of_band and not attachment.boot
        ][: arguments.count]
        if len(disks) < arguments.count:
            return Outcome(
                problem=f"{len(disks)} disks are attached to {arguments.instance} out of band, "
                f"cannot detach {arguments.count}"
            )
    wait = arguments.wait and _ends_by_itself(cloud.transitions().detach)
    for disk in disks:
        left = cloud.detach(arguments.instance, disk, wait=wait)
        if arguments.wait and left is not None and left.waits_for:
            return _stays(left)
    return DONE


def add_network_interface(stage: Stage, arguments: AddNetworkInterface) -> Outcome:
    """Add interfaces, whether or not a slot is left for them."""
    cloud = stage.control.cloud
    _in_portions(
        arguments.count, lambda count: cloud.add_network_interfaces(arguments.instance, count)
    )
    return DONE


def remove_network_interface(stage: Stage, arguments: RemoveNetworkInterface) -> Outcome:
    """Remove the newest interfaces."""
    cloud = stage.control.cloud
    _in_portions(
        arguments.count, lambda count: cloud.remove_network_interfaces(arguments.instance, count)
    )
    return DONE


def add_instance(stage: Stage, arguments: AddInstance) -> Outcome:
    """Add an instance; the CO knows what is published on it."""
    assert arguments.id is not None, "the model sees to it"
    plan = plan_instance(arguments, arguments.id, zone=default_zone(stage.loaded.cloud))
    stage.control.cloud.add_instance(
        plan.id,
        type=plan.type or "",
        zone=arguments.zone or "",
        network_interfaces=plan.network_interfaces or 0,
        boot_disk=plan.boot_disk or "",
        attached=plan.attached,
        published=plan.published,
    )
    for volume_id in plan.published:
        stage.records.remember(plan.id, volume_id, published=True)
    return DONE


def terminate_instance(stage: Stage, arguments: TerminateInstance) -> Outcome:
    """Remove an instance."""
    stage.control.cloud.remove_instance(arguments.instance)
    return DONE


def edit_instance_type(stage: Stage, arguments: EditInstanceType) -> Outcome:
    """Change a type, or give an instance another one."""
    cloud = stage.control.cloud
    if arguments.instance is not None:
        cloud.change_instance(arguments.instance, type=arguments.type)
        return DONE
    changes = arguments.changes()
    takes_limit_away = "slots" in changes and changes["slots"] is None
    cloud.change_instance_type(arguments.type, no_slots=takes_limit_away, **changes)
    return DONE


def set_quota(stage: Stage, arguments: SetQuota) -> Outcome:
    """Give cloud APIs new quotas, with full buckets."""
    for api, quota in arguments.quotas().items():
        stage.control.cloud.set_quota(
            api,
            burst=None if quota.burst is None else int(quota.burst),
            per_second=quota.per_second,
            max_ids=quota.max_ids,
            delay=format_duration(quota.delay_seconds),
        )
    return DONE


def advance(stage: Stage, arguments: Advance) -> Outcome:
    """Move the clock."""
    stage.control.clock.advance(format_duration(arguments.seconds))
    return DONE


def restart_driver(stage: Stage, arguments: RestartDriver) -> Outcome:
    """Stop the driver and start it again; the cloud stays, unless its state is to be lost."""
    if arguments.state == "lose":
        stage.start_over()
    else:
        stage.control.state.restart_driver()
    return DONE


def _disks_to_attach(stage: Stage, arguments: Attach) -> list[str]:
    if arguments.count is None:
        assert arguments.disk is not None
        return [arguments.disk]
    prefix = f"{arguments.instance}-attached-"
    taken = {disk.id for disk in stage.control.cloud.disks(f"{_pattern_of(prefix)}*")}
    disks: list[str] = []
    number = 0
    while len(disks) < arguments.count:
        number += 1
        if f"{prefix}{number}" not in taken:
            disks.append(f"{prefix}{number}")
    return disks


def _pattern_of(text: str) -> str:
    """Return a pattern that the text matches, whatever stars it has."""
    return text.replace("*", "?")


def _in_portions(count: int, do: Callable[[int], object]) -> None:
    while count > 0:
        do(min(count, _INTERFACES_AT_ONCE))
        count -= _INTERFACES_AT_ONCE


def _ends_by_itself(transition: str) -> bool:
    """Tell whether a transition ends while the step waits: by now, or when its time has come."""
    return re.search(r"held|read", transition) is None


def _stays(attachment: cloud_pb2.Attachment) -> Outcome:
    needed = "a release" if attachment.waits_for == "held" else "reads"
    return Outcome(
        problem=f"disk {attachment.disk} stays {attachment.state} until {needed}, which cannot "
        "come while this step waits; say wait: false"
    )
