"""Calls as rows of a table, each on one line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from mockdriver.cli.ctl.plain import struct
from mockdriver.cli.ctl.printing import Columns, Row, Styled, as_json, fields, table

if TYPE_CHECKING:
    from mockdriver.client import Call

HEADINGS = ["NUMBER", "START", "TOOK", "RPC", "NODE", "CODE", "FAULTS", "REQUEST, ERROR"]
_WIDTHS_IN_A_STREAM = [6, 12, 10, 25, 12, 18, 6, 0]
_NODE = "node_id"


def row(call: Call) -> Row:
    """Return a call as cells."""
    is_running = call.code == "RUNNING"
    return [
        str(call.sequence),
        f"{call.start:%H:%M:%S}.{call.start.microsecond // 1000:03}",
        "" if is_running else f"{call.duration_seconds * 1000:.1f} ms",
        call.rpc,
        call.node_id or str(call.request.get(_NODE, "")) or "-",
        Styled(call.code, _COLOURS.get(call.code, "red")),
        ", ".join(call.faults) or "-",
        _about(call),
    ]


def stream_columns() -> Columns:
    """Return columns for calls that are still to come."""
    return Columns(HEADINGS, _WIDTHS_IN_A_STREAM)


def print_whole(call: Call) -> None:
    """Print everything about a call."""
    fields(
        [
            ("call", str(call.sequence)),
            ("rpc", f"{call.service}.{call.rpc}"),
            ("node", call.node_id or "-"),
            ("peer", call.peer),
            ("start", f"{call.start:%Y-%m-%d %H:%M:%S.%f}"),
            ("took", f"{call.duration_seconds * 1000:.3f} ms"),
            ("code", Styled(call.code, _COLOURS.get(call.code, "red"))),
            ("message", call.message or "-"),
            ("faults", ", ".join(call.faults) or "-"),
            ("in flight beside it", str(call.calls_in_flight)),
        ]
    )
    original = call.original
    for title, message in (("request", original.request), ("response", original.response)):
        click.echo(f"{title}:")
        for text in as_json(struct(message), indent=2).splitlines():
            click.echo(f"  {text}")
    if call.cloud_calls:
        click.echo("calls of the cloud:")
        table(
            ["API", "IDS", "TOOK", "ERROR"],
            [
                [
                    item.api,
                    ", ".join(item.ids) or "-",
                    f"{item.duration_seconds * 1000:.1f} ms",
                    item.error or "-",
                ]
                for item in call.cloud_calls
            ],
            nothing="",
        )


_COLOURS = {"OK": "green", "RUNNING": "cyan"}


def _about(call: Call) -> str:
    request = struct(call.original.request)
    # What names something comes first.
    names = sorted(
        (name for name in request if name != _NODE),
        key=lambda name: isinstance(request[name], Mapping),
    )
    parts = [f"{name}={_value(request[name])}" for name in names]
    if call.message:
        parts.append(f"-> {call.message}")
    return " ".join(parts)


def _value(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Mapping):
        return "{" + " ".join(f"{key}={_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + " ".join(map(_value, value)) + "]"
    return json.dumps(value)
