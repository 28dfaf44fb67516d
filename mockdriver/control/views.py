"""What the control API shows of the cloud's records: fields that hang together from several."""

from __future__ import annotations

from mockdriver.cloud import Attachment, InstanceType, InstanceView, slots
from mockdriver.cloud.transitions import Pending
from mockdriver.control.messages import message
from mockdriver.control.v1 import cloud_pb2
from mockdriver.driver.attachment_tags import is_out_of_band
from mockdriver.scenario.transition_kinds import wait_text


def instance(view: InstanceView, now_seconds: float) -> cloud_pb2.Instance:
    """Return an instance with what is on it."""
    description, type_ = view.description, view.type
    boot_disks = [item.disk for item in description.attachments if description.is_boot(item)]
    return message(
        cloud_pb2.Instance,
        description.instance,
        network_interfaces=[item.id for item in description.network_interfaces],
        boot_disk=boot_disks[0] if boot_disks else None,
        attachments=[
            attachment(item, description.is_boot(item), type_, now_seconds)
            for item in description.attachments
        ],
        slots=type_.slots,
        slot_users=slots.slot_users(
            type_,
            disks=len(description.attachments),
            boot_disks=len(boot_disks),
            network_interfaces=len(description.network_interfaces),
        ),
    )


def attachment(
    record: Attachment, boot: bool, type_: InstanceType, now_seconds: float
) -> cloud_pb2.Attachment:
    """Return an attachment; `type_` is that of its instance."""
    return message(
        cloud_pb2.Attachment,
        record,
        out_of_band=is_out_of_band(record.tags),
        boot=boot,
        uses_slot=type_.boot_disk_uses_slot or not boot,
        waits_for=None if record.pending is None else waits_for(record.pending, now_seconds),
    )


def waits_for(pending: Pending, now_seconds: float) -> str:
    """Return what a transition waits for, as a scenario file writes it: held, 2 reads, 1.5s."""
    return wait_text(pending.left(now_seconds))
