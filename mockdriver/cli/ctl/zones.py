"""``mockdriver ctl zones``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from mockdriver.cli.ctl.asking import Session, asks, remove_each
from mockdriver.cli.ctl.completing import zone_names
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.printing import line, table

zones = Noun("zones", default="list", help="Zones, with the room for disks in each.")


@asks("list", zones)
def list_zones(session: Session) -> None:
    """List the zones."""
    found = session.control.cloud.zones()
    session.printer.listed(
        "zones",
        found,
        lambda: table(
            ["NAME", "ROOM IN GIB"],
            [[item.name, str(item.available_gib)] for item in found],
            nothing="no zones",
        ),
    )


@asks("add", zones)
@click.argument("name")
def add(session: Session, name: str) -> None:
    """Add a zone."""
    added = session.control.cloud.add_zone(name)
    session.printer.answer(added, lambda: line(f"zone {added.name} is added"))


@asks("remove", zones)
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=zone_names)
@click.option("--force", is_flag=True, help="Also where something is in it.")
def remove(session: Session, names: Sequence[str], force: bool) -> None:
    """Remove zones."""
    cloud = session.control.cloud
    remove_each(session, "zone", names, lambda name: cloud.remove_zone(name, force=force))
