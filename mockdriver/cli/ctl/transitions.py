"""``mockdriver ctl transitions``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mockdriver.cli.ctl.asking import Session, asks
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.printing import fields

if TYPE_CHECKING:
    from mockdriver.control.v1.cloud_pb2 import Transitions

_HOW_LONG = 'immediately, held, "after 2s" or "after 3 reads".'


transitions = Noun("transitions", default="show", help="How long attaching and detaching take.")


@asks("show", transitions)
def show(session: Session) -> None:
    """Show how long attaching and detaching take."""
    _print(session, session.control.cloud.transitions())


@asks("set", transitions)
@click.option("--attach", default="", metavar="HOW", help=f"How long attaching takes: {_HOW_LONG}")
@click.option("--detach", default="", metavar="HOW", help=f"How long detaching takes: {_HOW_LONG}")
def set_transitions(session: Session, attach: str, detach: str) -> None:
    """Set how long attaching and detaching take from now on."""
    if not attach and not detach:
        raise click.UsageError("nothing to set, allowed: --attach, --detach")
    _print(session, session.control.cloud.set_transitions(attach=attach, detach=detach))


def _print(session: Session, found: Transitions) -> None:
    session.printer.answer(
        found, lambda: fields([("attach", found.attach), ("detach", found.detach)])
    )
