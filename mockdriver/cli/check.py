"""``mockdriver check``."""

from __future__ import annotations

import sys

import click

from mockdriver.scenario.load import load
from mockdriver.scenario.mistakes import ScenarioMistakes


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE|NAME...")
def check(files: tuple[str, ...]) -> None:
    """Tell whether scenario files are right; list all mistakes of those that are not.

    Exits with 0 if all are right, else with 1.
    """
    wrong = False
    for name in files:
        try:
            loaded = load(name)
        except ScenarioMistakes as mistakes:
            wrong = True
            click.echo(str(mistakes), err=True)
        else:
            click.echo(f"{loaded.file}: ok, {len(loaded.story)} steps")
    sys.exit(1 if wrong else 0)
