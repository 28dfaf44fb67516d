"""``mockdriver ctl disks``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import click

from mockdriver.cli.ctl import options
from mockdriver.cli.ctl.asking import Session, asks, found_by_id, remove_each
from mockdriver.cli.ctl.completing import disk_ids, instance_ids, zone_names
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.printing import Row, fields, table

if TYPE_CHECKING:
    from mockdriver.control.v1.cloud_pb2 import Disk

_size = click.option("--size-gib", type=click.IntRange(min=1), metavar="N", help="Its size in GiB.")
_max_attachments = click.option(
    "--max-attachments",
    type=click.IntRange(min=1),
    metavar="N",
    help="How many instances it can be attached to at once.",
)


disks = Noun("disks", default="list", help="Disks, and the instances that they are attached to.")


@asks("list", disks)
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=disk_ids)
@options.of_zone
@click.option(
    "--instance",
    metavar="ID",
    help="Attached to this instance.",
    shell_complete=instance_ids,
)
def list_disks(
    session: Session, ids: Sequence[str], zone: str | None, instance: str | None
) -> None:
    """List disks: all, or those with an ID; * and ? as in a shell."""
    cloud = session.control.cloud
    found = found_by_id(
        "disk",
        ids,
        disks.verbs(),
        lambda wanted: cloud.disks(wanted, zone=zone or "", instance=instance or ""),
    )
    session.printer.listed(
        "disks",
        found,
        lambda: table(["ID", "ZONE", "GIB", "ATTACHED TO"], map(_row, found), nothing="no disks"),
    )


@asks("show", disks)
@click.argument("id", shell_complete=disk_ids)
def show(session: Session, id: str) -> None:
    """Show a disk."""
    _print_whole(session, session.control.cloud.disk(id))


@asks("add", disks)
@click.argument("id")
@click.option(
    "--zone",
    default="",
    metavar="ZONE",
    help="Its zone.  [default: the region's]",
    shell_complete=zone_names,
)
@_size
@_max_attachments
@options.tags
@options.force
def add(
    session: Session,
    id: str,
    zone: str,
    size_gib: int | None,
    max_attachments: int | None,
    tags: Mapping[str, str],
    force: bool,
) -> None:
    """Add a disk, by default of 10 GiB for one instance."""
    added = session.control.cloud.add_disk(
        id,
        zone=zone,
        size_gib=size_gib,
        max_attachments=max_attachments,
        tags=tags,
        force=force,
    )
    _print_whole(session, added)


@asks("change", disks)
@click.argument("id", shell_complete=disk_ids)
@click.option("--zone", metavar="ZONE", help="Another zone.", shell_complete=zone_names)
@_size
@_max_attachments
@options.tags
@options.remove_tags
@options.force
def change(
    session: Session,
    id: str,
    zone: str | None,
    size_gib: int | None,
    max_attachments: int | None,
    tags: Mapping[str, str],
    remove_tags: Sequence[str],
    force: bool,
) -> None:
    """Change what is given of a disk."""
    changed = session.control.cloud.change_disk(
        id,
        zone=zone,
        size_gib=size_gib,
        max_attachments=max_attachments,
        set_tags=tags,
        remove_tags=remove_tags,
        force=force,
    )
    _print_whole(session, changed)


@asks("remove", disks)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=disk_ids)
@click.option(
    "--force", is_flag=True, help="Also where they are attached; the attachments go along."
)
def remove(session: Session, ids: Sequence[str], force: bool) -> None:
    """Remove disks."""
    cloud = session.control.cloud
    remove_each(session, "disk", ids, lambda disk: cloud.remove_disk(disk, force=force))


def _row(disk: Disk) -> Row:
    return [disk.id, disk.zone, str(disk.size_gib), ", ".join(disk.instances) or "-"]


def _print_whole(session: Session, disk: Disk) -> None:
    tags = ", ".join(f"{key}={value}" for key, value in sorted(disk.tags.items()))
    session.printer.answer(
        disk,
        lambda: fields(
            [
                ("disk", disk.id),
                ("zone", disk.zone),
                ("size", f"{disk.size_gib} GiB"),
                ("attached to", ", ".join(disk.instances) or "nothing"),
                ("max attachments", str(disk.max_attachments)),
                ("boot disk", "yes" if disk.boot else "no"),
                ("tags", tags or "none"),
            ]
        ),
    )
