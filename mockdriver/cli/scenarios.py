"""``mockdriver scenarios``."""

from __future__ import annotations

import click

from mockdriver.scenario.shipped import shipped


@click.command()
def scenarios() -> None:
    """List the scenarios that come with mockdriver, by the names that --scenario takes."""
    found = shipped()
    width = max(len(item.name) for item in found)
    for item in found:
        click.echo(f"{item.name:{width}}  {item.about}")
