"""Loading a scenario: from a file, a shipped name or a text to a validated `LoadedScenario`."""

from __future__ import annotations

from dataclasses import dataclass

from mockdriver.scenario.checks import CloudChecks
from mockdriver.scenario.cloud_model import CloudModel
from mockdriver.scenario.composing import compose
from mockdriver.scenario.driver_model import DriverModel
from mockdriver.scenario.mistakes import Mistake
from mockdriver.scenario.plan import CloudPlan
from mockdriver.scenario.shipped import resolve
from mockdriver.scenario.source import read_text
from mockdriver.scenario.story_checks import StoryChecks
from mockdriver.scenario.story_model import Step
from mockdriver.scenario.validation import Report, validate


@dataclass(frozen=True, slots=True)
class LoadedScenario:
    """A scenario without mistakes. `file` is its name in messages.

    `plan` is the cloud written out; `build.build` follows it. `warnings` are lines about what is
    allowed but perhaps not meant.
    """

    file: str
    name: str
    about: str
    driver: DriverModel
    cloud: CloudModel
    plan: CloudPlan
    story: tuple[Step, ...]
    warnings: tuple[Mistake, ...]


def load(file_or_name: str) -> LoadedScenario:
    """Load a scenario file, or a shipped scenario by its name.

    What is there as a file, or looks like one (a slash, .yaml, .yml), is a file. Raises
    ScenarioMistakes with all that is wrong.
    """
    path, shown = resolve(file_or_name)
    return loads(read_text(path, shown), shown)


def loads(text: str, file: str = "scenario") -> LoadedScenario:
    """Load a scenario from the text of a file; raises ScenarioMistakes with all that is wrong."""
    report = Report(file, compose(text, file))
    found = validate(report)
    if found is None:
        raise report.failure()
    cloud_checks = CloudChecks(report, found)
    plan = cloud_checks.run()
    story = StoryChecks(report, found, plan).run()
    if report.mistakes or plan is None:
        raise report.failure()
    model = found.model
    return LoadedScenario(
        file=report.file,
        name=model.scenario,
        about=model.about,
        driver=model.driver,
        cloud=model.cloud,
        plan=plan,
        story=story,
        warnings=tuple(cloud_checks.warnings),
    )
