"""The command line. The only place that prints."""

from __future__ import annotations

import gc
import os
from importlib import import_module

import click

import mockdriver
from mockdriver.scenario.mistakes import unknown_name

# gRPC writes lines of its own to standard error, about connections that end, for one: they are
# neither text nor JSON of our log. Who wants them sets the variable.
os.environ.setdefault("GRPC_VERBOSITY", "ERROR")

COMMANDS = {
    "serve": "mockdriver.cli.serve",
    "wait": "mockdriver.cli.wait",
    "play": "mockdriver.cli.play",
    "ctl": "mockdriver.cli.ctl",
    "check": "mockdriver.cli.check",
    "scenarios": "mockdriver.cli.scenarios",
    "schema": "mockdriver.cli.schema",
}
"""The module of each command; its function has the command's name."""


class _LazyCommands(click.Group):
    """Imports a command when it is asked for: gRPC costs more than most commands need."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = COMMANDS.get(cmd_name)
        if module is None:
            return None
        # Imports make many objects and no garbage: looking for some costs a tenth of the start.
        gc.disable()
        command = getattr(import_module(module), cmd_name)
        gc.enable()
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        # click suggests only commands that are imported already
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(unknown_name("command", args[0], COMMANDS))
        return super().resolve_command(ctx, args)


@click.command(cls=_LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(mockdriver.__version__, message="mockdriver %(version)s")
def main() -> None:
    """Mock CSI driver for KEP-6011, in front of a simulated cloud."""
