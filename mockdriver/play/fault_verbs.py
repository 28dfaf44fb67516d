"""The verbs of faults, and of the record of calls."""

from __future__ import annotations

from mockdriver.cloud import Caller
from mockdriver.faults.errors import FaultsError
from mockdriver.journal.errors import CallsNotSeen
from mockdriver.journal.expectations import InThisOrder
from mockdriver.journal.filters import CallFilter
from mockdriver.journal.waiting import wait_for_calls as wait_for_recorded_calls
from mockdriver.play.outcome import Outcome
from mockdriver.play.stage import Stage
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


def add_fault(stage: Stage, arguments: AddFault) -> Outcome:
    """Add a fault, at the end of the list or before another one."""
    try:
        stage.faults.create(arguments.fault(), before=arguments.before or "")
    except FaultsError as error:
        return Outcome(problem=str(error))
    return DONE


def clear_faults(stage: Stage, arguments: ClearFaults) -> Outcome:
    """Remove all faults, or one; calls that they hold go on."""
    if arguments.name is None:
        stage.faults.clear()
        return DONE
    try:
        stage.faults.delete(arguments.name)
    except FaultsError as error:
        return Outcome(problem=str(error))
    return DONE


def hold(stage: Stage, arguments: Hold) -> Outcome:
    """Add a fault that holds calls at a barrier."""
    try:
        stage.faults.create(arguments.fault().fault())
    except FaultsError as error:
        return Outcome(problem=str(error))
    return DONE


def release(stage: Stage, arguments: Release) -> Outcome:
    """End held transitions, and let held calls go on; one of both if the step says which."""
    only_transitions = arguments.instance is not None or arguments.disk is not None
    if arguments.barrier is None:
        stage.cloud.operator.release(instance=arguments.instance, disk=arguments.disk)
    if not only_transitions:
        try:
            stage.faults.release(arguments.barrier or "", arguments.calls or 0)
        except FaultsError as error:
            return Outcome(problem=str(error))
    return DONE


def wait_for_calls(stage: Stage, arguments: WaitForCalls) -> Outcome:
    """Wait until so many calls match, or are held at a barrier."""
    caller, seconds = Caller(stage.runtime), arguments.timeout_seconds
    try:
        with stage.runtime.working():
            if arguments.barrier is not None:
                stage.faults.wait_until_held(arguments.barrier, arguments.count, seconds, caller)
            else:
                wait_for_recorded_calls(
                    stage.journal,
                    _filter(arguments),
                    caller,
                    stage.runtime,
                    count=arguments.count,
                    timeout_seconds=seconds,
                    arrived=arguments.arrived,
                )
    except (FaultsError, CallsNotSeen) as error:
        return Outcome(problem=str(error))
    return DONE


def calls(stage: Stage, arguments: Calls) -> Outcome:
    """Count the calls that match, and look whether they came in the order that is wanted."""
    wanted = _filter(arguments)
    count = len(wanted.matching(stage.journal.moments()))
    if arguments.in_this_order:
        places = tuple([_filter(place) for place in arguments.in_this_order])
        verdict = InThisOrder(places).judge(stage.journal, wanted)
        if not verdict.met:
            return Outcome(problem=verdict.problem)
    return Outcome(fields={"count": count})


def _filter(model: FilterModel) -> CallFilter:
    given = {name: getattr(model, name) for name in FilterModel.model_fields}
    return CallFilter(**{name: value for name, value in given.items() if value})
