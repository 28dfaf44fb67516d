"""``mockdriver ctl types``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from mockdriver.cli.ctl.asking import Session, asks, remove_each
from mockdriver.cli.ctl.completing import type_names
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.printing import Row, fields, table

if TYPE_CHECKING:
    from mockdriver.control.v1.cloud_pb2 import InstanceType

_shares = click.option(
    "--interfaces-share-slots/--no-interfaces-share-slots",
    "shares",
    default=None,
    help="Whether each network interface uses a slot.",
)
_boot = click.option(
    "--boot-disk-uses-slot/--no-boot-disk-uses-slot",
    "boot",
    default=None,
    help="Whether the boot disk uses a slot.",
)
_slots = click.option(
    "--slots", type=click.IntRange(min=0), metavar="N", help="The number of slots."
)
_name = click.argument("name", shell_complete=type_names)


types = Noun("types", default="list", help="Instance types, with the slots of each.")


@asks("list", types)
def list_types(session: Session) -> None:
    """List the instance types."""
    found = session.control.cloud.instance_types()
    session.printer.listed(
        "instance_types",
        found,
        lambda: table(
            ["NAME", "SLOTS", "INTERFACES SHARE SLOTS", "BOOT DISK USES SLOT"],
            map(_row, found),
            nothing="no instance types",
        ),
    )


@asks("show", types)
@_name
def show(session: Session, name: str) -> None:
    """Show an instance type."""
    _print(session, session.control.cloud.instance_type(name))


@asks("add", types)
@click.argument("name")
@_slots
@_shares
@_boot
def add(
    session: Session, name: str, slots: int | None, shares: bool | None, boot: bool | None
) -> None:
    """Add an instance type; without --slots it has no limit."""
    added = session.control.cloud.add_instance_type(
        name,
        slots=slots,
        network_interfaces_share_slots=bool(shares),
        boot_disk_uses_slot=boot,
    )
    _print(session, added)


@asks("change", types)
@_name
@_slots
@click.option("--no-slots", is_flag=True, help="Take the limit away.")
@_shares
@_boot
def change(
    session: Session,
    name: str,
    slots: int | None,
    no_slots: bool,
    shares: bool | None,
    boot: bool | None,
) -> None:
    """Change what is given of a type, for all its instances.

    Never refused for slots in use.
    """
    changed = session.control.cloud.change_instance_type(
        name,
        slots=slots,
        no_slots=no_slots,
        network_interfaces_share_slots=shares,
        boot_disk_uses_slot=boot,
    )
    _print(session, changed)


@asks("remove", types)
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=type_names)
@click.option(
    "--force", is_flag=True, help="Also where an instance has it; that one has none then."
)
def remove(session: Session, names: Sequence[str], force: bool) -> None:
    """Remove instance types."""
    cloud = session.control.cloud
    remove_each(session, "type", names, lambda name: cloud.remove_instance_type(name, force=force))


def _row(type_: InstanceType) -> Row:
    return [
        type_.name,
        str(type_.slots) if type_.HasField("slots") else "no limit",
        "yes" if type_.network_interfaces_share_slots else "no",
        "yes" if type_.boot_disk_uses_slot else "no",
    ]


def _print(session: Session, type_: InstanceType) -> None:
    names = ["type", "slots", "interfaces share slots", "boot disk uses slot"]
    session.printer.answer(type_, lambda: fields(zip(names, _row(type_), strict=True)))
