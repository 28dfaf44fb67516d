"""Options that make a fault: which calls it acts on, and what it does to them."""

from __future__ import annotations

import click

from mockdriver.cli.ctl.completing import api_names, code_names, instance_ids, rpc_names
from mockdriver.cli.ctl.options import json_objects, json_pairs, pairs, together

conditions = together(
    click.option(
        "--rpc",
        metavar="NAME",
        help="The RPC that it acts on; * and ? as in a shell, here and below.",
        shell_complete=rpc_names,
    ),
    click.option(
        "--cloud-api",
        metavar="NAME",
        help="The API of the cloud, in the place of an RPC.",
        shell_complete=api_names,
    ),
    click.option(
        "--node",
        "node_id",
        metavar="ID",
        help="The request's node_id, or the node whose Node service is asked; of a cloud API, the "
        "instance.",
        shell_complete=instance_ids,
    ),
    click.option(
        "--request",
        multiple=True,
        callback=pairs,
        metavar="PATH=VALUE",
        help="A field of the request, and the value that it must have; may be given several "
        "times. Of a cloud API: instance, disk.",
    ),
    click.option(
        "--calls",
        metavar="WHICH",
        help='Which of the calls that match: 3, 3-5, "first 2", "from 3", "every 2".',
    ),
    click.option(
        "--times", type=click.IntRange(min=0), metavar="N", help="Act at most so many times."
    ),
    click.option(
        "--probability", type=click.FloatRange(0, 1), metavar="P", help="Act with this probability."
    ),
    click.option("--seed", type=int, metavar="N", help="What the chance is drawn from."),
    click.option(
        "--when",
        type=click.Choice(["before", "after"]),
        metavar="WHEN",
        help="before: the work is not done. after: it is, and the answer is lost.",
    ),
    click.option("--lifetime", metavar="DURATION", help="Remove it by itself after this time."),
)
"""Which calls a fault acts on, and how long it lives."""

actions = together(
    click.option(
        "--code",
        metavar="CODE",
        help="End the call with this status code.",
        shell_complete=code_names,
    ),
    click.option("--message", metavar="TEXT", help="The message of the error."),
    click.option(
        "--detail",
        "details",
        multiple=True,
        callback=json_objects,
        metavar="JSON",
        help="A detail of the error, with @type; may be given several times.",
    ),
    click.option(
        "--error", metavar="NAME", help="Of a cloud API: the error that the cloud refuses with."
    ),
    click.option("--delay", metavar="DURATION", help="Wait so long first."),
    click.option(
        "--hold", metavar="BARRIER", help="Wait first at this barrier until it is released."
    ),
    click.option(
        "--no-answer/--answer",
        "no_answer",
        default=None,
        help="Never answer: the caller's deadline ends the call.",
    ),
    click.option(
        "--reply",
        multiple=True,
        callback=json_pairs,
        metavar="PATH=JSON",
        help="A field of the response, and the value that takes its place; may be given several "
        "times.",
    ),
    click.option(
        "--exit",
        "exit",
        type=click.IntRange(0, 255),
        metavar="CODE",
        help="End the server's process with this exit code.",
    ),
)
"""What a fault does."""

CONDITIONS = (
    "rpc",
    "cloud_api",
    "node_id",
    "request",
    "calls",
    "times",
    "probability",
    "seed",
    "when",
    "lifetime",
)
FIELDS = (
    *CONDITIONS,
    "code",
    "message",
    "details",
    "error",
    "delay",
    "hold",
    "no_answer",
    "reply",
    "exit",
)
"""The names of both, as the client has them."""
