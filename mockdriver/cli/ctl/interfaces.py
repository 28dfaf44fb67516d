"""``mockdriver ctl interfaces``."""

from __future__ import annotations

import click

from mockdriver.cli.ctl import options
from mockdriver.cli.ctl.asking import Session, asks
from mockdriver.cli.ctl.completing import instance_ids, interface_ids
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.printing import line, table

interfaces = Noun(
    "interfaces",
    default="list",
    help="Network interfaces, which share the slots in some types.",
)


@asks("list", interfaces)
@click.argument("instance", required=False, shell_complete=instance_ids)
def list_interfaces(session: Session, instance: str | None) -> None:
    """List the network interfaces of all instances, or of one."""
    found = session.control.cloud.network_interfaces(instance or "")
    session.printer.listed(
        "network_interfaces",
        found,
        lambda: table(
            ["ID", "INSTANCE"],
            [[item.id, item.instance] for item in found],
            nothing="no network interfaces",
        ),
    )


@asks("add", interfaces)
@options.instance
@click.argument("id", required=False)
@options.count
def add(session: Session, instance: str, id: str | None, count: int | None) -> None:
    """Add a network interface, or several.

    Never refused for want of a slot.
    """
    _one_of_both(id, count)
    cloud = session.control.cloud
    added = (
        [cloud.add_network_interface(instance, id)]
        if id is not None
        else cloud.add_network_interfaces(instance, count or 1)
    )
    names = ", ".join(item.id for item in added)
    session.printer.listed(
        "network_interfaces", added, lambda: line(f"added to {instance}: {names}")
    )


@asks("remove", interfaces)
@options.instance
@click.argument("id", required=False, shell_complete=interface_ids)
@options.count
def remove(session: Session, instance: str, id: str | None, count: int | None) -> None:
    """Remove the network interface with an ID, or the newest ones."""
    _one_of_both(id, count)
    if id is not None:
        session.control.cloud.remove_network_interface(instance, id)
        session.printer.done(f"removed from {instance}: {id}")
    else:
        session.control.cloud.remove_network_interfaces(instance, count or 1)
        session.printer.done(f"removed from {instance}: the newest {count or 1}")


def _one_of_both(id: str | None, count: int | None) -> None:
    if id is not None and count is not None:
        raise click.UsageError("ID and --count are both given, allowed: one of both")
