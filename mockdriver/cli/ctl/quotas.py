"""``mockdriver ctl quotas``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from mockdriver.cli.ctl.asking import Session, asks
from mockdriver.cli.ctl.completing import api_names
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.printing import Row, table

if TYPE_CHECKING:
    from mockdriver.control.v1.cloud_pb2 import Api

_HEADINGS = ["API", "BURST", "PER SECOND", "MAX IDS", "DELAY", "CALLS", "THROTTLED"]


quotas = Noun(
    "quotas", default="list", help="Quotas of the cloud's APIs, and how often each was called."
)


@asks("list", quotas)
def list_quotas(session: Session) -> None:
    """List the cloud's APIs with quotas and counters."""
    found = session.control.cloud.apis()
    session.printer.listed(
        "apis", found, lambda: table(_HEADINGS, map(_row, found), nothing="no APIs")
    )


@asks("set", quotas)
@click.argument("api", shell_complete=api_names)
@click.option(
    "--burst",
    type=click.IntRange(min=0),
    metavar="N",
    help="Tokens in a full bucket; each call takes one.",
)
@click.option(
    "--per-second",
    type=click.FloatRange(min=0),
    metavar="N",
    help="New tokens per second; goes with --burst.",
)
@click.option(
    "--max-ids", type=click.IntRange(min=1), metavar="N", help="Ids that one call may name."
)
@click.option("--delay", default="", metavar="DURATION", help="What each call takes.")
def set_quota(
    session: Session,
    api: str,
    burst: int | None,
    per_second: float | None,
    max_ids: int | None,
    delay: str,
) -> None:
    """Give an API a new quota.

    It takes the place of all of the old one; without options there are no limits.
    """
    made = session.control.cloud.set_quota(
        api, burst=burst, per_second=per_second, max_ids=max_ids, delay=delay
    )
    session.printer.answer(made, lambda: table(_HEADINGS, [_row(made)], nothing=""))


def _row(api: Api) -> Row:
    quota = api.quota
    return [
        api.name,
        str(quota.burst) if quota.HasField("burst") else "-",
        f"{quota.per_second:g}" if quota.HasField("per_second") else "-",
        str(quota.max_ids) if quota.HasField("max_ids") else "-",
        quota.delay or "-",
        str(api.calls),
        str(api.throttled),
    ]
