"""The verbs of the cloud: what happens out of band, without the CO and without the driver."""

from __future__ import annotations

from dataclasses import replace

from mockdriver.cloud import Attachment, Caller, Disk
from mockdriver.play.outcome import Outcome
from mockdriver.play.stage import Stage
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
from mockdriver.server import compose

DONE = Outcome()


def attach(stage: Stage, arguments: Attach) -> Outcome:
    """Attach disks out of band. A disk that is not there is made, in the instance's zone."""
    operator = stage.cloud.operator
    zone = operator.instance(arguments.instance).zone
    for disk in _disks_to_attach(stage, arguments):
        if not operator.has_disk(disk):
            operator.add_disk(Disk(id=disk, zone=zone))
        outcome = _finish(stage, operator.attach(disk, arguments.instance), arguments.wait)
        if outcome.problem is not None:
            return outcome
    return DONE


def detach(stage: Stage, arguments: Detach) -> Outcome:
    """Detach disks out of band; a count means the oldest that the CO did not publish."""
    operator = stage.cloud.operator
    if arguments.count is None:
        assert arguments.disk is not None
        disks = [arguments.disk]
    else:
        disks = [
            attachment.disk
            for attachment in operator.attachments(arguments.instance)
            if not attachment.tags and not operator.disk(attachment.disk).boot
        ][: arguments.count]
        if len(disks) < arguments.count:
            return Outcome(
                problem=f"{len(disks)} disks are attached to {arguments.instance} out of band, "
                f"cannot detach {arguments.count}"
            )
    for disk in disks:
        outcome = _finish(stage, operator.detach(disk, arguments.instance), arguments.wait)
        if outcome.problem is not None:
            return outcome
    return DONE


def add_network_interface(stage: Stage, arguments: AddNetworkInterface) -> Outcome:
    """Add interfaces, whether or not a slot is left for them."""
    for _ in range(arguments.count):
        stage.cloud.operator.add_network_interface(arguments.instance)
    return DONE


def remove_network_interface(stage: Stage, arguments: RemoveNetworkInterface) -> Outcome:
    """Remove the newest interfaces."""
    stage.cloud.operator.remove_network_interfaces(arguments.instance, arguments.count)
    return DONE


def add_instance(stage: Stage, arguments: AddInstance) -> Outcome:
    """Add an instance; the CO knows what is published on it."""
    plan = compose.add_instance(stage.loaded, stage.cloud, arguments)
    for volume_id in plan.published:
        stage.records.remember(plan.id, volume_id, published=True)
    return DONE


def terminate_instance(stage: Stage, arguments: TerminateInstance) -> Outcome:
    """Remove an instance."""
    stage.cloud.operator.terminate_instance(arguments.instance)
    return DONE


def edit_instance_type(stage: Stage, arguments: EditInstanceType) -> Outcome:
    """Change a type, or give an instance another one."""
    operator = stage.cloud.operator
    if arguments.instance is not None:
        operator.change_instance_type(arguments.instance, arguments.type)
    else:
        edited = replace(operator.instance_type(arguments.type), **arguments.changes())
        operator.put_instance_type(edited)
    return DONE


def set_quota(stage: Stage, arguments: SetQuota) -> Outcome:
    """Give cloud APIs new quotas, with full buckets."""
    for api, quota in arguments.quotas().items():
        stage.cloud.api.set_quota(api, quota)
    return DONE


def advance(stage: Stage, arguments: Advance) -> Outcome:
    """Move the clock."""
    stage.runtime.advance(arguments.seconds)
    return DONE


def restart_driver(stage: Stage, arguments: RestartDriver) -> Outcome:
    """Stop the driver and start it again; the cloud stays, unless its state is to be lost."""
    stage.restart(lose_state=arguments.state == "lose")
    return DONE


def _disks_to_attach(stage: Stage, arguments: Attach) -> list[str]:
    if arguments.count is None:
        assert arguments.disk is not None
        return [arguments.disk]
    disks: list[str] = []
    number = 0
    while len(disks) < arguments.count:
        number += 1
        disk = f"{arguments.instance}-attached-{number}"
        if not stage.cloud.operator.has_disk(disk):
            disks.append(disk)
    return disks


def _finish(stage: Stage, attachment: Attachment | None, wait: bool) -> Outcome:
    """Wait for the end of a transition, if the step is to wait and the end can come."""
    if attachment is None or attachment.pending is None or not wait:
        return DONE
    if attachment.pending.due_seconds is None:
        needed = "a release" if attachment.pending.held else "reads"
        return Outcome(
            problem=f"disk {attachment.disk} stays {attachment.state} until {needed}, which cannot "
            "come while this step waits; say wait: false"
        )
    with stage.runtime.working():
        stage.cloud.operator.wait_until_settled(attachment, Caller(stage.runtime))
    return DONE
