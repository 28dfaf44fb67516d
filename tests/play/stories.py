"""Stories inside tests: told in a few lines of YAML, and played in this process."""

from __future__ import annotations

from textwrap import dedent, indent

from mockdriver.play import StepResult, play
from mockdriver.scenario.load import LoadedScenario, loads

SMALL = """
    zones: [a, b]
    instance_types: {t: {slots: 4}}
    instances:
      - {id: i-1, type: t, zone: a, boot_disk: vol-boot}
      - {id: i-2, type: t, zone: b}
"""
"""The `cloud` of most tests: 3 slots are free on i-1, 4 on i-2."""


def told(steps: str, cloud: str = SMALL, driver: str = "{}") -> LoadedScenario:
    """Return the scenario with these steps; fails if there are mistakes in it."""
    parts = [
        f"scenario: told\ndriver: {driver}\ncloud:",
        indent(dedent(cloud), "  "),
        "story:",
        indent(dedent(steps), "  "),
    ]
    return loads("\n".join(parts), "told.yaml")


def played(steps: str, cloud: str = SMALL, driver: str = "{}") -> list[StepResult]:
    """Play the steps; return all results."""
    return list(play(told(steps, cloud, driver)))


def goes_well(steps: str, cloud: str = SMALL, driver: str = "{}") -> None:
    """Play the steps; fails unless each comes to what it expects."""
    wrong = mismatches(steps, cloud, driver)
    assert wrong == {}, wrong


def mismatches(steps: str, cloud: str = SMALL, driver: str = "{}") -> dict[int, list[str]]:
    """Play the steps; return the mismatches by the number of the step, from 1."""
    results = played(steps, cloud, driver)
    return {
        number: list(result.mismatches)
        for number, result in enumerate(results, 1)
        if not result.passed
    }
