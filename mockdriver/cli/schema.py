"""``mockdriver schema``."""

from __future__ import annotations

import json

import click

from mockdriver.scenario.schema import json_schema


@click.command()
def schema() -> None:
    """Print the JSON Schema of scenario files, for editors."""
    click.echo(json.dumps(json_schema(), indent=2))
