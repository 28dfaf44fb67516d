"""The command line. The only place that prints."""

from __future__ import annotations

from importlib import import_module

import click

import mockdriver

COMMANDS = {
    "serve": "mockdriver.cli.serve",
    "play": "mockdriver.cli.play",
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
        command = getattr(import_module(module), cmd_name)
        assert isinstance(command, click.Command)
        return command


@click.command(cls=_LazyCommands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(mockdriver.__version__, message="mockdriver %(version)s")
def main() -> None:
    """Mock CSI driver for KEP-6011, in front of a simulated cloud."""
