"""``mockdriver ctl clock``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mockdriver.cli.ctl.asking import Session, asks
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.printing import fields, time_of

if TYPE_CHECKING:
    from mockdriver.control.v1.state_pb2 import ClockReading


clock = Noun("clock", default="show", help="The clock that transitions, quotas and delays go by.")


@asks("show", clock)
def show(session: Session) -> None:
    """Show what the clock reads."""
    _print(session, session.control.clock.reading())


@asks("advance", clock)
@click.argument("duration")
def advance(session: Session, duration: str) -> None:
    """Move the clock forward by a DURATION: 30s, 1h30m."""
    _print(session, session.control.clock.advance(duration))


@asks("stop", clock)
def stop(session: Session) -> None:
    """Let the clock stand still, but for `advance`, until `start`."""
    _print(session, session.control.clock.stop())


@asks("start", clock)
def start(session: Session) -> None:
    """Let a stopped clock go on."""
    _print(session, session.control.clock.start())


def _print(session: Session, reading: ClockReading) -> None:
    session.printer.answer(
        reading,
        lambda: fields(
            [
                ("now", time_of(reading.now)),
                ("since the start", f"{reading.seconds:.3f} s"),
                ("stopped", "yes" if reading.stopped else "no"),
            ]
        ),
    )
