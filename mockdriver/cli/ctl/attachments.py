"""``mockdriver ctl attachments``, ``attach`` and ``detach``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, cast

import click

from mockdriver.cli.ctl import options
from mockdriver.cli.ctl.asking import Session, asks
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.printing import Row, fields, line, table

if TYPE_CHECKING:
    from mockdriver.client.cloud import AttachmentState
    from mockdriver.control.v1.cloud_pb2 import Attachment

STATES = ("attaching", "attached", "detaching", "busy")


attachments = Noun("attachments", default="list", help="Attachments of disks to instances.")


@asks("list", attachments)
@options.of_instance
@options.of_disk
def list_attachments(session: Session, instance: str | None, disk: str | None) -> None:
    """List attachments: all, or those of an instance or a disk."""
    found = session.control.cloud.attachments(instance=instance or "", disk=disk or "")
    session.printer.listed(
        "attachments",
        found,
        lambda: table(
            ["INSTANCE", *headings()],
            [[item.instance, *attachment_rows(item)] for item in found],
            nothing="no attachments",
        ),
    )


@asks("show", attachments)
@options.instance
@options.disk
def show(session: Session, instance: str, disk: str) -> None:
    """Show the attachment of a DISK to an INSTANCE."""
    _print_whole(session, session.control.cloud.attachment(instance, disk))


@asks("change", attachments)
@options.instance
@options.disk
@click.option(
    "--state",
    type=click.Choice(STATES),
    metavar="STATE",
    help="Put it into this state: attaching, attached, detaching or busy. It stays so until it is "
    "changed or released.",
)
@options.tags
@options.remove_tags
def change(
    session: Session,
    instance: str,
    disk: str,
    state: str | None,
    tags: Mapping[str, str],
    remove_tags: Sequence[str],
) -> None:
    """Put an attachment into a state by hand, or change its tags."""
    changed = session.control.cloud.change_attachment(
        instance,
        disk,
        state=cast("AttachmentState | None", state),
        set_tags=tags,
        remove_tags=remove_tags,
    )
    _print_whole(session, changed)


@asks("attach")
@options.instance
@options.disk
@options.wait
@options.immediately
@click.option(
    "--force",
    is_flag=True,
    help="Attach it although the cloud would refuse: past the slots, in another zone, past "
    "max_attachments.",
)
@click.option("--published", is_flag=True, help="As if the CO had published it through the driver.")
def attach(
    session: Session,
    instance: str,
    disk: str,
    wait: bool,
    immediately: bool,
    force: bool,
    published: bool,
) -> None:
    """Attach a DISK to an INSTANCE out of band.

    A disk that is not there is made, in the instance's zone.
    """
    made = session.control.cloud.attach(
        instance, disk, wait=wait, immediately=immediately, force=force, published=published
    )
    session.printer.answer(made, lambda: line(_sentence(made)))


@asks("detach")
@options.instance
@options.disk
@options.wait
@options.immediately
@click.option(
    "--force",
    is_flag=True,
    help="Detach it although the cloud would refuse: a boot disk, an attachment that is busy.",
)
def detach(
    session: Session, instance: str, disk: str, wait: bool, immediately: bool, force: bool
) -> None:
    """Detach a DISK from an INSTANCE, whoever attached it."""
    left = session.control.cloud.detach(
        instance, disk, wait=wait, immediately=immediately, force=force
    )
    if left is None:
        session.printer.done(f"disk {disk} is detached from {instance}")
    else:
        session.printer.under("attachment", left, lambda: line(_sentence(left)))


def headings() -> Row:
    """Return the headings of what `attachment_rows` returns."""
    return ["DISK", "STATE", "NUMBER", "BY", "USES A SLOT", "WAITS FOR"]


def attachment_rows(attachment: Attachment) -> Row:
    """Return an attachment as cells of a table, without its instance."""
    return [
        attachment.disk,
        attachment.state,
        str(attachment.number),
        _by(attachment),
        "yes" if attachment.uses_slot else "no",
        attachment.waits_for or "-",
    ]


def _by(attachment: Attachment) -> str:
    if attachment.boot:
        return "boot"
    return "out of band" if attachment.out_of_band else "CSI"


def _sentence(attachment: Attachment) -> str:
    to = "from" if attachment.state == "detaching" else "to"
    rest = f", waits for: {attachment.waits_for}" if attachment.waits_for else ""
    return f"disk {attachment.disk} is {attachment.state} {to} {attachment.instance}{rest}"


def _print_whole(session: Session, attachment: Attachment) -> None:
    session.printer.answer(
        attachment,
        lambda: fields(
            [
                ("instance", attachment.instance),
                *zip(
                    [name.lower() for name in headings()], attachment_rows(attachment), strict=True
                ),
                (
                    "tags",
                    ", ".join(f"{key}={value}" for key, value in sorted(attachment.tags.items()))
                    or "none",
                ),
            ]
        ),
    )
