"""``mockdriver ctl barriers``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mockdriver.cli.ctl import options
from mockdriver.cli.ctl.asking import Session, asks
from mockdriver.cli.ctl.completing import barrier_names
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.printing import Row, table

if TYPE_CHECKING:
    from mockdriver.control.v1.faults_pb2 import Barrier

_HEADINGS = ["NAME", "HELD", "CALLS"]


barriers = Noun("barriers", default="list", help="Barriers, where faults hold calls.")


@asks("list", barriers)
def list_barriers(session: Session) -> None:
    """List the barriers, with the calls held at each."""
    found = session.control.faults.barriers()
    session.printer.listed(
        "barriers", found, lambda: table(_HEADINGS, map(_row, found), nothing="no barriers")
    )


@asks("wait", barriers)
@click.argument("barrier", shell_complete=barrier_names)
@click.option(
    "--count",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many calls.",
)
@options.timeout
def wait(session: Session, barrier: str, count: int, timeout: float) -> None:
    """Wait until so many calls are held at a BARRIER."""
    found = session.control.faults.wait_for_held(barrier, count, timeout_seconds=timeout)
    session.printer.answer(found, lambda: table(_HEADINGS, [_row(found)], nothing=""))


@asks("release", barriers)
@click.argument("barrier", required=False, shell_complete=barrier_names)
@click.option(
    "--count",
    type=click.IntRange(min=1),
    metavar="N",
    help="The longest held so many.  [default: all]",
)
def release(session: Session, barrier: str | None, count: int | None) -> None:
    """Let the calls go on that are held at a BARRIER, or at all."""
    released = session.control.faults.release(barrier or "", count or 0)
    session.printer.values({"released": released}, f"{released} calls go on")


def _row(barrier: Barrier) -> Row:
    return [barrier.name, str(barrier.held), ", ".join(map(str, barrier.calls)) or "-"]
