"""``mockdriver ctl snapshots``."""

from __future__ import annotations

from collections.abc import Sequence

import click

from mockdriver.cli.ctl.asking import Session, asks, remove_each
from mockdriver.cli.ctl.completing import snapshot_names
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.printing import line, table, time_of

_name = click.argument("name", shell_complete=snapshot_names)


snapshots = Noun(
    "snapshots", default="list", help="States that were kept under a name, to go back to."
)


@asks("list", snapshots)
def list_snapshots(session: Session) -> None:
    """List the snapshots."""
    found = session.control.state.snapshots()
    session.printer.listed(
        "snapshots",
        found,
        lambda: table(
            ["NAME", "TAKEN"],
            [[item.name, time_of(item.taken)] for item in found],
            nothing="no snapshots",
        ),
    )


@asks("save", snapshots)
@_name
def save(session: Session, name: str) -> None:
    """Keep the present state under a NAME.

    A snapshot of that name is replaced.
    """
    saved = session.control.state.snapshot(name)
    session.printer.answer(saved, lambda: line(f"the state is kept as {saved.name}"))


@asks("restore", snapshots)
@_name
def restore(session: Session, name: str) -> None:
    """Go back to a snapshot."""
    found = session.control.state.restore(name)
    session.printer.answer(found, lambda: line(f"the state is that of {found.name}"))


@asks("remove", snapshots)
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=snapshot_names)
def remove(session: Session, names: Sequence[str]) -> None:
    """Forget snapshots."""
    remove_each(session, "snapshot", names, session.control.state.delete_snapshot)
