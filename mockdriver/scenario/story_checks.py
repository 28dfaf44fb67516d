"""Checks of the `story` part against the cloud: instances and types that steps name, and answers.

What a story may name wrongly on purpose is not checked: `refresh`, `publish` and `unpublish` of a
volume test NOT_FOUND with unknown ids, and a step that expects an error may cause one.
"""

from __future__ import annotations

from collections.abc import Collection

from mockdriver.scenario.checks import check_type, check_zone, ids_are_known
from mockdriver.scenario.code_names import CODES
from mockdriver.scenario.fault_checks import check_fault, check_filter
from mockdriver.scenario.mistakes import Path, not_among, quoted
from mockdriver.scenario.plan import CloudPlan
from mockdriver.scenario.steps_under_way import StepsUnderWay
from mockdriver.scenario.story_model import (
    AddFault,
    AddInstance,
    AddNetworkInterface,
    Arguments,
    Attach,
    CallFilter,
    Detach,
    EditInstanceType,
    Expect,
    Hold,
    NodeInfo,
    Publish,
    Register,
    Release,
    RemoveNetworkInterface,
    RestartDriver,
    Step,
    TerminateInstance,
    Unpublish,
)
from mockdriver.scenario.validation import Report, Validated

_CALL = ("cloud_calls", "code", *CODES)
_NODE = ("max_volumes_per_node", "accessible_topology", "effective_limit")

ANSWERS: dict[str, Collection[str]] = {
    "register": (*_CALL, *_NODE, "published_volume_ids", "node_id"),
    "refresh": (*_CALL, *_NODE, "published_volume_ids", "node_id"),
    "node_info": (*_CALL, *_NODE, "node_id"),
    "create_volume": (*_CALL, "volume_id", "capacity_bytes", "accessible_topology"),
    "delete_volume": _CALL,
    "publish": (*_CALL, "publish_context"),
    "unpublish": _CALL,
    "wait_for_calls": (),
    "calls": ("count",),
}
"""What a step can expect, by verb. Verbs of the cloud answer with `error` or nothing."""

OF_THE_CLOUD = (*_CALL, "error")


class StoryChecks:
    """Goes through the steps in order, and knows what instances there are by then."""

    def __init__(self, report: Report, found: Validated, plan: CloudPlan | None) -> None:
        self._report = report
        self._found = found
        # None: which instances there are is not known, so that no name can be called unknown
        self._instances: dict[str, None] | None = None
        if plan is not None and ids_are_known(found):
            self._instances = dict.fromkeys(item.id for item in plan.instances)
        self._at_start = tuple(self._instances or ())
        self._terminated: set[str] = set()
        self._under_way = StepsUnderWay(report, found)

    def run(self) -> tuple[Step, ...]:
        """Report the mistakes; return the steps."""
        steps = []
        for index, model in enumerate(self._found.model.story):
            verb, arguments = model.verb_and_arguments()
            path = self._found.path("story", index)
            line, column = self._report.tree.position(path)
            name, answers = self._under_way.look_at(verb, arguments, ("story", index, verb))
            step = Step(verb, arguments, model.expect, line, column, under_way=name)
            self._expectations(step, answers, ("story", index, "expect"))
            self._arguments(step, ("story", index, verb))
            steps.append(step)
        self._under_way.finish()
        return tuple(steps)

    def _expectations(self, step: Step, answers: str, place: Path) -> None:
        """Report what a step cannot answer; `answers` is the verb whose answers it has."""
        if not answers:
            if step.expect.model_fields_set:
                text = f"{step.verb} answers nothing yet, its calls are left under way; the step "
                self._report.add(self._found.path(*place), f"{text}that collects it can expect")
            return
        allowed = ANSWERS.get(answers, OF_THE_CLOUD)
        for name in Expect.model_fields:
            if step.expect.gives(name) and name not in allowed:
                others = [item for item in allowed if item not in CODES]
                others += ["counts of codes"] if "code" in allowed else []
                listed = ", ".join(others) or "nothing"
                text = f"{answers} does not answer this, allowed: {listed}"
                self._report.add(self._found.path(*place, name), text, at_key=True)

    def _arguments(self, step: Step, place: Path) -> None:
        expects_error = _expects_error(step.expect)
        self._faults(step.arguments, place)
        if isinstance(step.arguments, RestartDriver) and step.arguments.state == "lose":
            # The scenario starts over: what was added is gone, what was terminated is back.
            self._terminated = set(self._instances or ()) - set(self._at_start)
        if isinstance(step.arguments, TerminateInstance) and not expects_error:
            self._terminated.add(step.arguments.instance)
        match step.arguments:
            case Register(node=node) | NodeInfo(node=node):
                self._instance(node, (*place, "node"))
            case Publish(node=node) | Unpublish(node=str(node)) if step.arguments.count is not None:
                self._instance(node, (*place, "node"))
            case AddInstance() as model:
                self._new_instance(model, place, expects_error=expects_error)
            case _ if expects_error:
                pass
            case (
                Attach(instance=instance)
                | Detach(instance=instance)
                | AddNetworkInterface(instance=instance)
                | RemoveNetworkInterface(instance=instance)
                | TerminateInstance(instance=instance)
                | Release(instance=str(instance))
            ):
                self._instance(instance, (*place, "instance"))
            case EditInstanceType(type=type_, instance=instance):
                check_type(self._report, self._found, type_, (*place, "type"))
                if instance is not None:
                    self._instance(instance, (*place, "instance"))

    def _faults(self, arguments: Arguments, place: Path) -> None:
        match arguments:
            case AddFault():
                check_fault(self._report, self._found, arguments, place)
            case Hold():
                check_fault(self._report, self._found, arguments.fault(), place)
            case CallFilter():
                check_filter(self._report, self._found, arguments, place)
                for index, later in enumerate(getattr(arguments, "in_this_order", ())):
                    inside = (*place, "in_this_order", index)
                    check_filter(self._report, self._found, later, inside)

    def _new_instance(self, model: AddInstance, place: Path, *, expects_error: bool) -> None:
        if self._instances is not None and model.id is not None:
            is_there = model.id in self._instances and model.id not in self._terminated
            if is_there and not expects_error:
                text = f"instance {quoted(model.id)} is there already; ids are given once"
                self._report.add(self._found.path(*place, "id"), text)
            if not expects_error:
                self._instances[model.id] = None
                self._terminated.discard(model.id)
        if not expects_error:
            check_type(self._report, self._found, model.type, (*place, "type"))
            check_zone(self._report, self._found, model.zone, (*place, "zone"))

    def _instance(self, id: str, place: Path) -> None:
        if self._instances is not None and id not in self._instances:
            text = not_among("instance", id, self._instances)
            self._report.add(self._found.path(*place), text)


def _expects_error(expect: Expect) -> bool:
    """Tell whether a step wants to be refused, by the name of an error or by a code."""
    codes = [expect.code, *(code for code, count in expect.codes.items() if count)]
    return expect.error is not None or any(code not in (None, "OK") for code in codes)
