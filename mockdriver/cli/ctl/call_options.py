"""Options that say which calls are meant: the fields of a filter."""

from __future__ import annotations

import click

from mockdriver.cli.ctl.completing import code_names, fault_names, instance_ids, rpc_names
from mockdriver.cli.ctl.options import pairs, together

which_calls = together(
    click.option(
        "--rpc",
        metavar="NAME",
        help="The RPC; * and ? as in a shell, here and below.",
        shell_complete=rpc_names,
    ),
    click.option("--service", metavar="NAME", help="Identity, Controller or Node."),
    click.option(
        "--node",
        "node_id",
        metavar="ID",
        help="The request's node_id, or the node whose Node service was asked.",
        shell_complete=instance_ids,
    ),
    click.option(
        "--code",
        metavar="CODE",
        help="How it ended: OK, NOT_FOUND ..., RUNNING while it is in flight; !OK is any other.",
        shell_complete=code_names,
    ),
    click.option(
        "--request",
        multiple=True,
        callback=pairs,
        metavar="PATH=VALUE",
        help="A field of the request, and its value; may be given several times.",
    ),
    click.option(
        "--response",
        multiple=True,
        callback=pairs,
        metavar="PATH=VALUE",
        help="A field of the response, likewise.",
    ),
    click.option(
        "--fault", metavar="NAME", help="A fault that acted on it.", shell_complete=fault_names
    ),
    click.option(
        "--after",
        type=click.IntRange(min=0),
        metavar="NUMBER",
        help="Only calls after the one with this number.",
    ),
    click.option("--message", metavar="TEXT", help="Text in the message of its error."),
)
"""The fields of a filter of calls."""

FIELDS = (
    "rpc",
    "service",
    "node_id",
    "code",
    "request",
    "response",
    "fault",
    "after",
    "message",
)
