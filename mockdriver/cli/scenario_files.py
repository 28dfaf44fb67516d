"""What commands do with the scenario files that they are given."""

from __future__ import annotations

from collections.abc import Iterable

import click

from mockdriver.scenario.load import LoadedScenario, load
from mockdriver.scenario.mistakes import ScenarioMistakes


class ScenarioProblem(click.ClickException):
    """Scenario files that cannot be used; prints their mistakes, one a line."""

    exit_code = 2

    def show(self, file: object = None) -> None:
        """Print the mistakes as they are: they begin with file, line and column."""
        click.echo(self.message, err=True)


def load_without_story_or_exit(name: str) -> LoadedScenario:
    """Load a scenario by file or name for a server, or end the program with its mistakes."""
    try:
        return load(name, story=False)
    except ScenarioMistakes as mistakes:
        raise ScenarioProblem(str(mistakes)) from None


def load_all_or_exit(names: Iterable[str]) -> list[LoadedScenario]:
    """Load scenarios with their stories, or end the program with the mistakes of all of them."""
    scenarios, mistakes = [], []
    for name in names:
        try:
            scenarios.append(load(name))
        except ScenarioMistakes as found:
            mistakes.append(str(found))
    if mistakes:
        raise ScenarioProblem("\n".join(mistakes))
    return scenarios
