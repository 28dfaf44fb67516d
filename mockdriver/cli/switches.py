"""Option values that need more than a type: capabilities, their numbers, plugin names."""

from __future__ import annotations

import math
from collections.abc import Sequence

import click
from pydantic_core import PydanticCustomError

from mockdriver.driver.capabilities import (
    Capability,
    CapabilityMistake,
    parse_number,
    parse_switch,
)
from mockdriver.scenario.driver_model import PLUGIN_NAME
from mockdriver.scenario.kinds import problems_of


def capability_switches(
    ctx: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> dict[Capability, bool]:
    """Read the values of --capability; the last one for a capability holds."""
    try:
        return dict(parse_switch(value) for value in values)
    except CapabilityMistake as mistake:
        raise click.BadParameter(str(mistake)) from None


def capability_numbers(
    ctx: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> dict[Capability, int]:
    """Read the values of --capability-number; the last one for a capability holds."""
    try:
        return dict(parse_number(value) for value in values)
    except CapabilityMistake as mistake:
        raise click.BadParameter(str(mistake)) from None


def plugin_name(ctx: click.Context, parameter: click.Parameter, value: str | None) -> str | None:
    """Read the value of --driver-name, by the same rule as the scenario's key."""
    if value is not None:
        try:
            PLUGIN_NAME.check(value)
        except PydanticCustomError as error:
            raise click.BadParameter(problems_of(error)[0][1]) from None
    return value


def real_number(ctx: click.Context, parameter: click.Parameter, value: float) -> float:
    """Refuse `nan`, which is in no range and out of none."""
    if math.isnan(value):
        raise click.BadParameter(f"{value} is no number of seconds")
    return value
