"""``mockdriver ctl release``."""

from __future__ import annotations

import click

from mockdriver.cli.ctl import options
from mockdriver.cli.ctl.asking import Session, asks
from mockdriver.cli.ctl.completing import barrier_names


@asks("release")
@options.of_instance
@options.of_disk
@click.option(
    "--barrier",
    metavar="NAME",
    help="Calls held at this barrier, in the place of transitions.",
    shell_complete=barrier_names,
)
@click.option(
    "--calls",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --barrier: the longest held so many.  [default: all]",
)
def release(
    session: Session,
    instance: str | None,
    disk: str | None,
    barrier: str | None,
    calls: int | None,
) -> None:
    """Let held transitions end, or held calls go on.

    Transitions by instance and disk, by default all; calls by barrier.
    """
    if barrier is not None and (instance is not None or disk is not None):
        raise click.UsageError("--barrier is about calls, --instance and --disk about transitions")
    if calls is not None and barrier is None:
        raise click.UsageError("--calls goes with --barrier only")
    if barrier is None:
        ended = session.control.cloud.release(instance=instance or "", disk=disk or "")
        words = f"{ended} transitions ended"
    else:
        ended = session.control.faults.release(barrier, calls or 0)
        words = f"{ended} calls go on"
    session.printer.values({"released": ended}, words)
