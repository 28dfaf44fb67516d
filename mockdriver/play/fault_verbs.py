"""The verbs of faults, and of the record of calls; they go through the control API."""

from __future__ import annotations

from typing import Any, cast

from mockdriver.client import CallFilter, FaultFields
from mockdriver.play.outcome import Outcome
from mockdriver.play.stage import Stage
from mockdriver.scenario.fault_model import FaultModel, data_of
from mockdriver.scenario.story_model import (
    AddFault,
    Calls,
    ClearFaults,
    Hold,
    Release,
    WaitForCalls,
)
from mockdriver.scenario.story_model import CallFilter as FilterModel

DONE = Outcome()

WAIT_SECONDS = 10.0
"""How long `wait_for_calls` waits at most where the step does not say."""


def add_fault(stage: Stage, arguments: AddFault) -> Outcome:
    """Add a fault, at the end of the list or before another one."""
    stage.control.faults.add(before=arguments.before or "", **_fields(arguments))
    return DONE


def clear_faults(stage: Stage, arguments: ClearFaults) -> Outcome:
    """Remove all faults, or one; calls that they hold go on."""
    if arguments.name is None:
        stage.control.faults.clear()
    else:
        stage.control.faults.delete(arguments.name)
    return DONE


def hold(stage: Stage, arguments: Hold) -> Outcome:
    """Add a fault that holds calls at a barrier."""
    stage.control.faults.add(**_fields(arguments.fault()))
    return DONE


def release(stage: Stage, arguments: Release) -> Outcome:
    """End held transitions, and let held calls go on; one of both if the step says which."""
    only_transitions = arguments.instance is not None or arguments.disk is not None
    if arguments.barrier is None:
        stage.control.cloud.release(instance=arguments.instance or "", disk=arguments.disk or "")
    if not only_transitions:
        stage.control.faults.release(arguments.barrier or "", arguments.calls or 0)
    return DONE


def wait_for_calls(stage: Stage, arguments: WaitForCalls) -> Outcome:
    """Wait until so many calls match, or are held at a barrier."""
    control, seconds = stage.control, arguments.timeout_seconds
    if seconds is None:
        seconds = WAIT_SECONDS
    if arguments.barrier is not None:
        control.faults.wait_for_held(arguments.barrier, arguments.count, timeout_seconds=seconds)
    else:
        control.calls.wait(
            arguments.count,
            timeout_seconds=seconds,
            arrived=arguments.arrived,
            **_filter(arguments),
        )
    return DONE


def calls(stage: Stage, arguments: Calls) -> Outcome:
    """Count the calls that match, and look whether they came in the order that is wanted."""
    wanted = _filter(arguments)
    if arguments.in_this_order:
        places = [_filter(place) for place in arguments.in_this_order]
        verdict = stage.control.calls.expect(in_this_order=places, **wanted)
        if not verdict:
            return Outcome(problem=verdict.problem)
    return Outcome(fields={"count": stage.control.calls.count(**wanted)})


def _fields(model: FaultModel) -> FaultFields:
    return cast(FaultFields, data_of(model.fault()))


def _filter(model: FilterModel) -> CallFilter:
    given: dict[str, Any] = {name: getattr(model, name) for name in FilterModel.model_fields}
    return cast(CallFilter, {name: value for name, value in given.items() if value})
