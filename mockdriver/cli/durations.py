"""Options that are durations."""

from __future__ import annotations

import click

from mockdriver.scenario.durations import ALLOWED, parse_duration


def duration(ctx: click.Context, parameter: click.Parameter, value: str) -> float:
    """Read a duration as scenario files write it, in seconds."""
    seconds = parse_duration(value)
    if seconds is None:
        raise click.BadParameter(f"{value[:100]!r} is not {ALLOWED}")
    return seconds
