"""``mockdriver ctl instances``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mockdriver.cli.ctl import options, slot_bar
from mockdriver.cli.ctl.asking import Session, asks, found_by_id, remove_each
from mockdriver.cli.ctl.attachments import attachment_rows, headings
from mockdriver.cli.ctl.completing import disk_ids, instance_ids, type_names, zone_names
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.printing import Row, fields, line, table

if TYPE_CHECKING:
    from mockdriver.control.v1.cloud_pb2 import Instance


instances = Noun("instances", default="list", help="Instances, and who uses their slots.")


@asks("list", instances)
@click.argument("ids", nargs=-1, metavar="[ID]...", shell_complete=instance_ids)
@options.of_type
@options.of_zone
def list_instances(
    session: Session, ids: Sequence[str], type_: str | None, zone: str | None
) -> None:
    """List instances: all, or those with an ID; * and ? as in a shell."""
    cloud = session.control.cloud
    found = found_by_id(
        "instance",
        ids,
        instances.verbs(),
        lambda wanted: cloud.instances(wanted, type=type_ or "", zone=zone or ""),
    )
    session.printer.listed("instances", found, lambda: _print_table(found))


@asks("show", instances)
@click.argument("id", shell_complete=instance_ids)
def show(session: Session, id: str) -> None:
    """Show an instance with its slots and who uses them."""
    found = session.control.cloud.instance(id)
    session.printer.answer(found, lambda: _print_whole(found))


@asks("add", instances)
@click.argument("id")
@click.option(
    "--type",
    "type_",
    default="",
    metavar="TYPE",
    help="Its type.  [default: none, hence no limit]",
    shell_complete=type_names,
)
@click.option(
    "--zone",
    default="",
    metavar="ZONE",
    help="Its zone.  [default: the region's]",
    shell_complete=zone_names,
)
@click.option(
    "--interfaces",
    type=click.IntRange(min=0),
    metavar="N",
    help="How many network interfaces.  [default: 1]",
)
@click.option(
    "--interface",
    "interface_ids",
    multiple=True,
    metavar="ID",
    help="A network interface with this id; may be given several times.",
)
@click.option("--boot-disk", default="", metavar="ID", help="Its boot disk.  [default: none]")
@click.option(
    "--attached",
    multiple=True,
    metavar="ID",
    help="A disk attached out of band; may be given several times.",
    shell_complete=disk_ids,
)
@click.option(
    "--published",
    multiple=True,
    metavar="ID",
    help="A disk published by the CO; may be given several times.",
    shell_complete=disk_ids,
)
@options.force
def add(
    session: Session,
    id: str,
    type_: str,
    zone: str,
    interfaces: int | None,
    interface_ids: Sequence[str],
    boot_disk: str,
    attached: Sequence[str],
    published: Sequence[str],
    force: bool,
) -> None:
    """Add an instance, with what is on it. Disks that are not there are made."""
    if interfaces is not None and interface_ids:
        raise click.UsageError("--interfaces and --interface are both given, allowed: one of both")
    added = session.control.cloud.add_instance(
        id,
        type=type_,
        zone=zone,
        network_interfaces=list(interface_ids) or interfaces,
        boot_disk=boot_disk,
        attached=attached,
        published=published,
        force=force,
    )
    session.printer.answer(added, lambda: _print_whole(added))


@asks("change", instances)
@click.argument("id", shell_complete=instance_ids)
@click.option(
    "--type", "type_", metavar="TYPE", help="Another type; '' for none.", shell_complete=type_names
)
@click.option("--zone", metavar="ZONE", help="Another zone.", shell_complete=zone_names)
@options.force
def change(session: Session, id: str, type_: str | None, zone: str | None, force: bool) -> None:
    """Give an instance another type or zone."""
    changed = session.control.cloud.change_instance(id, type=type_, zone=zone, force=force)
    session.printer.answer(changed, lambda: _print_whole(changed))


@asks("remove", instances)
@click.argument("ids", nargs=-1, required=True, metavar="ID...", shell_complete=instance_ids)
def remove(session: Session, ids: Sequence[str]) -> None:
    """Remove instances. Interfaces and boot disk go along, other disks are free."""
    remove_each(session, "instance", ids, session.control.cloud.remove_instance)


def _print_table(found: Sequence[Instance]) -> None:
    table(
        ["ID", "TYPE", "ZONE", "SLOTS", "INTERFACES", "BOOT DISK", "CSI", "OUT OF BAND"],
        map(_row, found),
        nothing="no instances",
    )


def _row(instance: Instance) -> Row:
    others = [item for item in instance.attachments if not item.boot]
    by_hand = sum(item.out_of_band for item in others)
    return [
        instance.id,
        instance.type or "-",
        instance.zone,
        slot_bar.usage(instance),
        str(len(instance.network_interfaces)),
        instance.boot_disk or "-",
        str(len(others) - by_hand),
        str(by_hand),
    ]


def _print_whole(instance: Instance) -> None:
    fields(
        [
            ("instance", instance.id),
            ("type", instance.type or "none"),
            ("zone", instance.zone),
            ("interfaces", ", ".join(instance.network_interfaces) or "none"),
            ("slots", slot_bar.usage(instance)),
        ]
    )
    bar = slot_bar.bar(instance)
    if bar:
        click.echo(bar)
    line(slot_bar.legend(instance))
    if instance.attachments:
        click.echo()
        table(headings(), map(attachment_rows, instance.attachments), nothing="")
