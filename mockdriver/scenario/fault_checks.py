"""Checks of the `faults` part: what depends on the RPC, and names that are given twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mockdriver.faults import Fault
from mockdriver.faults.fault import MAX_FAULTS
from mockdriver.scenario.fault_model import FaultModel, flaws, words
from mockdriver.scenario.mistakes import Path, quoted
from mockdriver.scenario.validation import Report, Validated

if TYPE_CHECKING:  # a server that plays no story does not pay for the models of stories
    from mockdriver.scenario.story_model import CallFilter


def check_faults(report: Report, found: Validated) -> tuple[Fault, ...]:
    """Report the mistakes; return the faults."""
    faults, first = list[Fault](), dict[str, int]()
    if len(found.model.faults) > MAX_FAULTS:
        text = f"{len(found.model.faults)} faults, allowed: at most {MAX_FAULTS}"
        report.add(found.path("faults"), text, at_key=True)
        return ()
    for index, model in enumerate(found.model.faults):
        faults.append(check_fault(report, found, model, ("faults", index)))
        name = model.name
        if name is None:
            continue
        if name in first:
            line, column = report.tree.position(found.path("faults", first[name]))
            text = (
                f"fault {quoted(name)} is there already, at {line}:{column}; names are given once"
            )
            report.add(found.path("faults", index, "name"), text)
        first.setdefault(name, index)
    return tuple(faults)


def check_filter(report: Report, found: Validated, model: CallFilter, place: Path) -> None:
    """Report the mistakes of a filter of calls: an RPC or fields that there are not."""
    from mockdriver.faults.calls_meant import flaws_of_calls  # noqa: PLC0415 - as in fault_model

    for flaw in flaws_of_calls(model.rpc, model.service, model.request, model.response):
        report.add(found.path(*place) + flaw.place, words(flaw.flaw), at_key=flaw.at_key)


def check_fault(report: Report, found: Validated, model: FaultModel, place: Path) -> Fault:
    """Report the mistakes of one fault; return it."""
    fault, path = model.fault(), found.path(*place)
    for flaw in flaws(fault, is_whole=found.is_whole(path)):
        report.add(path + flaw.place, words(flaw.flaw), at_key=flaw.at_key)
    return fault
