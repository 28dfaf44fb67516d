"""Plays a story, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from mockdriver.client import ControlError
from mockdriver.cloud.errors import CloudError
from mockdriver.play import cloud_verbs, co_verbs, fault_verbs
from mockdriver.play.expectations import mismatches
from mockdriver.play.outcome import Outcome
from mockdriver.play.private_site import PrivateSite
from mockdriver.play.site import NotServed, Site
from mockdriver.play.stage import Stage
from mockdriver.scenario.load import LoadedScenario
from mockdriver.scenario.story_model import Collect, OfTheCo, Publish, Step

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
"""One entry a verb, but for `publish`, whose volumes are made before its step is counted, and for
`collect`, which has the outcome of another step."""

_CLOUD_ERRORS = frozenset(kind.__name__ for kind in CloudError.__subclasses__())


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


def play(loaded: LoadedScenario, site: Site | None = None) -> Iterator[StepResult]:
    """Play the story of a scenario, yielding each step's result.

    It is played in a private server, or at another site. A step that fails does not end the story:
    what follows may tell why. Raises ControlError if nobody answers at the site, or the scenario
    cannot be loaded there.
    """
    with Stage(site or PrivateSite(loaded), loaded) as stage:
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
    before, starts = stage.cloud_calls(), stage.times_started_over
    outcome = run()
    stage.settle()
    after = stage.cloud_calls()
    # Where the scenario started over, the counters began at nothing.
    since = before if stage.times_started_over == starts else dict.fromkeys(after, 0)
    return outcome, {api: after[api] - since[api] for api in after}


def _prepared(stage: Stage, step: Step) -> Callable[[], Outcome]:
    """Do what comes before the step's counters start; return what carries it out."""
    arguments = step.arguments
    if isinstance(arguments, Collect):
        return lambda: stage.collect(step.under_way)
    if isinstance(arguments, Publish):
        made = co_verbs.made_volumes(stage, arguments)
        run = partial(co_verbs.publish, stage, arguments, made)
    else:
        run = partial(VERBS[step.verb], stage, arguments)
    if not isinstance(arguments, OfTheCo):
        return lambda: _with_cloud_code(_refusable(run))
    if step.under_way:
        return lambda: _left_under_way(stage, step.under_way, run)
    return lambda: _refusable(run)


def _left_under_way(stage: Stage, name: str, run: Callable[[], Outcome]) -> Outcome:
    stage.begin(name, lambda: _refusable(run))
    return Outcome(note="under way")


def _refusable(run: Callable[[], Outcome]) -> Outcome:
    try:
        return run()
    except NotServed as error:
        return Outcome(problem=str(error))
    except ControlError as error:
        return _refused(error)


def _with_cloud_code(outcome: Outcome) -> Outcome:
    return outcome if outcome.error else replace(outcome, cloud_code="OK")


def _refused(error: ControlError) -> Outcome:
    """Return what the cloud's refusal comes to; any other error is no outcome of a step."""
    if not error.error:
        raise error
    words = error.message.removeprefix(f"{error.error}: ")
    if error.error not in _CLOUD_ERRORS:
        return Outcome(problem=words)
    return Outcome(error=error.error, cloud_code=error.code.name, messages=(words,))
