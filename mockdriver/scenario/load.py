"""Loading a scenario: from a file, a shipped name or a text to a validated `LoadedScenario`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from mockdriver.faults import Fault
from mockdriver.scenario.checks import CloudChecks
from mockdriver.scenario.cloud_model import CloudModel
from mockdriver.scenario.composing import compose
from mockdriver.scenario.driver_model import DriverModel
from mockdriver.scenario.fault_checks import check_faults
from mockdriver.scenario.head_model import HeadModel
from mockdriver.scenario.mistakes import Mistake
from mockdriver.scenario.plan import CloudPlan
from mockdriver.scenario.shipped import resolve, resolve_name
from mockdriver.scenario.source import read_text
from mockdriver.scenario.validation import Report, Validated, validate

if TYPE_CHECKING:  # a server that plays no story does not pay for the models of stories
    from mockdriver.scenario.story_model import Step


@dataclass(frozen=True, slots=True)
class LoadedScenario:
    """A scenario without mistakes. `file` is its name in messages, `text` what it says.

    `plan` is the cloud written out; `build.build` follows it. `faults` are what goes wrong from the
    start. `warnings` are lines about what is allowed but perhaps not meant. `story` is empty if it
    was not read.
    """

    file: str
    text: str
    name: str
    about: str
    driver: DriverModel
    cloud: CloudModel
    plan: CloudPlan
    faults: tuple[Fault, ...]
    story: tuple[Step, ...]
    warnings: tuple[Mistake, ...]


def load(file_or_name: str, *, story: bool = True) -> LoadedScenario:
    """Load a scenario file, or a shipped scenario by its name.

    What is there as a file, or looks like one (a slash, .yaml, .yml), is a file. Raises
    ScenarioMistakes with all that is wrong. Without `story` that part is not read.
    """
    path, shown = resolve(file_or_name)
    return loads(read_text(path, shown), shown, story=story)


def load_shipped(name: str, *, story: bool = True) -> LoadedScenario:
    """Load a shipped scenario; raises ScenarioMistakes for any other name, be it that of a file."""
    path, shown = resolve_name(name)
    return loads(read_text(path, shown), shown, story=story)


def loads(text: str, file: str = "scenario", *, story: bool = True) -> LoadedScenario:
    """Load a scenario from the text of a file; raises ScenarioMistakes with all that is wrong."""
    report = Report(file, compose(text, file), _model(story))
    found = validate(report)
    if found is None:
        raise report.failure()
    cloud_checks = CloudChecks(report, found)
    plan = cloud_checks.run()
    faults = check_faults(report, found)
    steps = _steps(report, found, plan) if story else ()
    if report.mistakes or plan is None:
        raise report.failure()
    model = found.model
    return LoadedScenario(
        file=report.file,
        text=text,
        name=model.scenario,
        about=model.about,
        driver=model.driver,
        cloud=model.cloud,
        plan=plan,
        faults=faults,
        story=steps,
        warnings=tuple(cloud_checks.warnings),
    )


def _model(story: bool) -> type[HeadModel]:
    if not story:
        return HeadModel
    from mockdriver.scenario.scenario_model import ScenarioModel  # noqa: PLC0415 - see above

    return ScenarioModel


def _steps(report: Report, found: Validated, plan: CloudPlan | None) -> tuple[Step, ...]:
    from mockdriver.scenario.story_checks import StoryChecks  # noqa: PLC0415 - see above

    return StoryChecks(report, found, plan).run()
