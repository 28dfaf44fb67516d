"""Options that several commands have, with one name and one meaning in all of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from mockdriver.cli.ctl.completing import disk_ids, instance_ids, type_names, zone_names
from mockdriver.scenario.durations import ALLOWED, parse_duration
from mockdriver.scenario.mistakes import shown

_F = TypeVar("_F", bound=Callable[..., Any])


def together(*options: Callable[[Any], Any]) -> Callable[[_F], _F]:
    """Return options as one, in the order in which help lists them."""

    def decorate(function: _F) -> _F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


# ----------------------------------------------------------------------------- values with a name


def pairs(ctx: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, str]:
    """Read options of the form NAME=VALUE; the last one for a name holds."""
    return dict(_pair(value) for value in values)


def json_pairs(
    ctx: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> dict[str, Any]:
    """Read options of the form NAME=VALUE whose values are JSON; what is none is text."""
    return {name: _json_or_text(text) for name, text in map(_pair, values)}


def json_object(
    ctx: click.Context, parameter: click.Parameter, value: str | None
) -> dict[str, Any] | None:
    """Read an option that is an object of JSON."""
    return None if value is None else _object(value)


def json_objects(
    ctx: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> list[dict[str, Any]]:
    """Read options that are an object of JSON each."""
    return [_object(value) for value in values]


def seconds(ctx: click.Context, parameter: click.Parameter, value: str) -> float:
    """Read a duration as scenario files write it, in seconds."""
    found = parse_duration(value)
    if found is None:
        raise click.BadParameter(f"{shown(value)} is not allowed, allowed: {ALLOWED}")
    return found


def _pair(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise click.BadParameter(f"{shown(text)} is not allowed, allowed: NAME=VALUE")
    return name, value


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise click.BadParameter(f"{shown(text)} is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise click.BadParameter(f"{shown(text)} is not allowed, allowed: an object of JSON")
    return value


# --------------------------------------------------------------------------- what a resource has

force = click.option("--force", is_flag=True, help="Do it although the cloud would refuse.")

of_type = click.option(
    "--type", "type_", metavar="TYPE", help="The instance type.", shell_complete=type_names
)
of_zone = click.option("--zone", metavar="ZONE", help="The zone.", shell_complete=zone_names)
of_instance = click.option(
    "--instance", metavar="ID", help="Of this instance only.", shell_complete=instance_ids
)
of_disk = click.option("--disk", metavar="ID", help="Of this disk only.", shell_complete=disk_ids)
count = click.option(
    "--count", type=click.IntRange(min=1), metavar="N", help="So many.  [default: 1]"
)
tags = click.option(
    "--tag",
    "tags",
    multiple=True,
    callback=pairs,
    metavar="KEY=VALUE",
    help="A tag; may be given several times.",
)
remove_tags = click.option(
    "--remove-tag", "remove_tags", multiple=True, metavar="KEY", help="A tag to take away."
)
timeout = click.option(
    "--timeout",
    default="10s",
    show_default=True,
    callback=seconds,
    metavar="DURATION",
    help="How long to wait at most.",
)

instance = click.argument("instance", shell_complete=instance_ids)
disk = click.argument("disk", shell_complete=disk_ids)

wait = click.option("--wait", is_flag=True, help="End only when the transition has ended.")
immediately = click.option("--immediately", is_flag=True, help="Without a transition.")


def given(values: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return those of the values that were given."""
    return {name: values[name] for name in names if values[name] not in (None, "", (), {}, [])}
