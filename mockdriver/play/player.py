"""Plays a story, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from mockdriver.cloud.errors import CloudError
from mockdriver.play import cloud_verbs, co_verbs, fault_verbs
from mockdriver.play.expectations import mismatches
from mockdriver.play.outcome import Outcome
from mockdriver.play.stage import Stage
from mockdriver.scenario.load import LoadedScenario
from mockdriver.scenario.story_model import Publish, Step
from mockdriver.server import compose

_Verb = Callable[[Stage, Any], Outcome]

VERBS: Mapping[str, _Verb] = {
    "register": co_verbs.register,
    "refresh": co_verbs.refresh,
    "node_info": co_verbs.node_info,
    "create_volume": co_verbs.create_volume,
    "delete_volume": co_verbs.delete_volume,
    "unpublish": co_verbs.unpublish,
    "attach": cloud_verbs.attach,
    "detach": cloud_verbs.detach,
    "add_network_interface": cloud_verbs.add_network_interface,
    "remove_network_interface": cloud_verbs.remove_network_interface,
    "add_instance": cloud_verbs.add_instance,
    "terminate_instance": cloud_verbs.terminate_instance,
    "edit_instance_type": cloud_verbs.edit_instance_type,
    "set_quota": cloud_verbs.set_quota,
    "release": fault_verbs.release,
    "add_fault": fault_verbs.add_fault,
    "clear_faults": fault_verbs.clear_faults,
    "hold": fault_verbs.hold,
    "wait_for_calls": fault_verbs.wait_for_calls,
    "calls": fault_verbs.calls,
    "advance": cloud_verbs.advance,
    "restart_driver": cloud_verbs.restart_driver,
}
"""One entry a verb, but for `publish`, whose volumes are made before its step is counted."""


@dataclass(frozen=True)
class StepResult:
    """One step of a story as it was played; no `mismatches` is a pass."""

    file: str
    step: Step
    outcome: Outcome
    cloud_calls: Mapping[str, int]
    mismatches: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Tell whether everything was as expected."""
        return not self.mismatches


def play(loaded: LoadedScenario) -> Iterator[StepResult]:
    """Play the story of a scenario in a private server, yielding each step's result.

    A step that fails does not end the story: what follows may tell why.
    """
    with Stage(loaded) as stage:
        for step in loaded.story:
            outcome, cloud_calls = _play_step(stage, step)
            yield StepResult(
                file=loaded.file,
                step=step,
                outcome=outcome,
                cloud_calls=cloud_calls,
                mismatches=tuple(mismatches(step.expect, outcome, cloud_calls)),
            )


def _play_step(stage: Stage, step: Step) -> tuple[Outcome, Mapping[str, int]]:
    run = _prepared(stage, step)
    cloud = stage.cloud
    before = cloud.api.calls()
    outcome = run()
    # A restart that loses the state makes a new cloud, whose counters begin at nothing.
    since = before if stage.cloud is cloud else dict.fromkeys(before, 0)
    after = stage.cloud.api.calls()
    return outcome, {api: after[api] - since[api] for api in after}


def _prepared(stage: Stage, step: Step) -> Callable[[], Outcome]:
    """Do what comes before the step's counters start; return what carries it out."""
    arguments = step.arguments
    if isinstance(arguments, Publish):
        made = co_verbs.made_volumes(stage, arguments)
        return lambda: co_verbs.publish(stage, arguments, made)
    return lambda: _refusable(VERBS[step.verb], stage, arguments)


def _refusable(verb: _Verb, stage: Stage, arguments: object) -> Outcome:
    try:
        outcome = verb(stage, arguments)
    except CloudError as error:
        return Outcome(
            error=type(error).__name__,
            cloud_code=compose.code_of(error),
            messages=(str(error),),
        )
    return outcome if outcome.codes else replace(outcome, cloud_code="OK")
