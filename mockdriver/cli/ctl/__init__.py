"""``mockdriver ctl``: steers a running server from a shell, through its control API."""

from __future__ import annotations

import click

from mockdriver.cli.ctl.asking import settings
from mockdriver.cli.ctl.grammar import Sections

_HERE = "mockdriver.cli.ctl"

SECTIONS = {
    "The cloud": {
        "cloud": f"{_HERE}.cloud",
        "instances": f"{_HERE}.instances",
        "disks": f"{_HERE}.disks",
        "attachments": f"{_HERE}.attachments",
        "interfaces": f"{_HERE}.interfaces",
        "types": f"{_HERE}.types",
        "zones": f"{_HERE}.zones",
        "transitions": f"{_HERE}.transitions",
        "quotas": f"{_HERE}.quotas",
        "attach": f"{_HERE}.attachments",
        "detach": f"{_HERE}.attachments",
        "release": f"{_HERE}.release",
    },
    "What goes wrong": {
        "faults": f"{_HERE}.faults",
        "hold": f"{_HERE}.faults",
        "barriers": f"{_HERE}.barriers",
    },
    "What the driver was asked": {
        "calls": f"{_HERE}.calls",
        "expect": f"{_HERE}.calls",
        "wait": f"{_HERE}.calls",
        "node-info": f"{_HERE}.node_info",
    },
    "The server": {
        "server": f"{_HERE}.server",
        "scenario": f"{_HERE}.scenario",
        "snapshots": f"{_HERE}.snapshots",
        "clock": f"{_HERE}.clock",
        "restart-driver": f"{_HERE}.server",
    },
}
"""The module of each command, by section of the help; its function has the command's name."""

SINGULARS = {
    "instance": "instances",
    "disk": "disks",
    "attachment": "attachments",
    "type": "types",
    "fault": "faults",
    "call": "calls",
}
"""The singulars of nouns: without a verb they show one."""

EPILOG = """\
Exit codes: 0; 1 refused, or not as expected; 2 the command or a value in it is wrong; 3 nobody
answers; 4 not in time."""


@click.command(
    cls=Sections,
    sections=SECTIONS,
    singulars=SINGULARS,
    params=settings(of_each=False),
    epilog=EPILOG,
    subcommand_metavar="COMMAND [ARGS]...",
)
def ctl(endpoint: str | None, output: str | None) -> None:
    """Steer a running server: look at its cloud and change it, make calls fail, see its calls.

    A noun lists, `ctl instances`, or does what a verb says, `ctl instances add i-new`.
    """
