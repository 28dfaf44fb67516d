"""Which calls somebody asks about: conditions that a call must meet, all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import NamedTuple

from google.protobuf.descriptor import Descriptor, MethodDescriptor

from csi_spec import csi_pb2
from mockdriver.journal.entry import RUNNING, Moment
from mockdriver.journal.errors import QueryMistake
from mockdriver.journal.field_paths import NoSuchField, field_reader
from mockdriver.journal.patterns import Test, is_pattern, matcher
from mockdriver.scenario.code_names import CODES
from mockdriver.scenario.mistakes import quoted, unknown_name

NO_FIELDS: Mapping[str, str] = {}

CODE_NAMES = (*CODES, RUNNING)

_METHODS: dict[str, list[MethodDescriptor]] = {
    service.name: list(service.methods) for service in csi_pb2.DESCRIPTOR.services_by_name.values()
}


class Condition(NamedTuple):
    """One thing that a call must meet: what it is called, what is wanted, what a call has."""

    name: str
    wanted: str
    found: Callable[[Moment], list[str]]
    test: Test

    def met(self, moment: Moment) -> bool:
        """Tell whether a call meets it; of several texts that it has, one is enough."""
        return any(map(self.test, self.found(moment)))

    def __str__(self) -> str:
        return f"{self.name}={quoted(self.wanted)}"


class CallFilter:
    """Conditions of calls; what is left empty is none. In texts, `*` and `?` are as in a shell.

    `node_id` is the node whose Node service was asked, else the one that the request names.
    `code` is the name of a status code, RUNNING, or `!` and a name: ended with another code.
    `request` and `response` are texts by path (see `field_paths`). `message` is somewhere in the
    message. `after` is a sequence number: it is not a condition, it says which calls are looked
    at. Raises QueryMistake for an RPC, service, code or field that CSI does not have.
    """

    def __init__(
        self,
        *,
        rpc: str = "",
        service: str = "",
        node_id: str = "",
        code: str = "",
        request: Mapping[str, str] = NO_FIELDS,
        response: Mapping[str, str] = NO_FIELDS,
        fault: str = "",
        after: int = 0,
        message: str = "",
    ) -> None:
        self.rpc, self.service, self.code, self.after = rpc, service, code, after
        conditions = [
            _condition("rpc", rpc, lambda moment: [moment.entry.rpc]),
            _condition("service", service, lambda moment: [moment.entry.service]),
            _condition("node_id", node_id, _node_ids),
            _code_condition(code) if code else None,
            _condition("fault", fault, lambda moment: [*moment.faults]),
            _condition("message", message, lambda moment: [moment.message], anywhere=True),
        ]
        self.conditions: tuple[Condition, ...] = tuple(
            condition for condition in conditions if condition is not None
        )
        methods = self._methods()
        if after < 0:
            raise QueryMistake("after", f"{after} is not allowed, allowed: 0 or more")
        self.conditions += (
            *_of_fields("request", request, methods, lambda method: method.input_type),
            *_of_fields("response", response, methods, lambda method: method.output_type),
        )

    def matches(self, moment: Moment) -> bool:
        """Tell whether a call meets all conditions."""
        if moment.entry.sequence <= self.after:
            return False
        return all(condition.met(moment) for condition in self._cheapest_first)

    def matching(self, moments: Iterable[Moment]) -> list[Moment]:
        """Return those of the calls that match, in their order."""
        return [moment for moment in moments if self.matches(moment)]

    def __str__(self) -> str:
        return ", ".join(map(str, self.conditions)) or "no condition"

    @cached_property
    def _cheapest_first(self) -> list[Condition]:
        # Fields need a decoded message, and so does the node of a controller's call.
        plain = ("rpc", "service", "code", "fault", "message")
        return sorted(self.conditions, key=lambda condition: condition.name not in plain)

    def _methods(self) -> list[MethodDescriptor]:
        """Return the RPCs that can match."""
        of_service = matcher(self.service or "*")
        services = [name for name in _METHODS if of_service(name)]
        if not services:
            raise QueryMistake("service", unknown_name("service", self.service, _METHODS))
        of_rpc = matcher(self.rpc or "*")
        known = [method for name in services for method in _METHODS[name]]
        methods = [method for method in known if of_rpc(method.name)]
        if not methods:
            names = [method.name for method in known]
            raise QueryMistake("rpc", unknown_name("RPC", self.rpc, names))
        return methods


def _condition(
    name: str,
    wanted: str,
    found: Callable[[Moment], list[str]],
    *,
    anywhere: bool = False,
) -> Condition | None:
    if not wanted:
        return None
    return Condition(name, wanted, found, matcher(f"*{wanted}*" if anywhere else wanted))


def _code_condition(wanted: str) -> Condition:
    name = wanted.removeprefix("!")
    if not is_pattern(name) and name not in CODE_NAMES:
        raise QueryMistake("code", unknown_name("code", name, CODE_NAMES))
    test = matcher(name)
    if name == wanted:
        return Condition("code", wanted, lambda moment: [moment.code], test)
    # A call in flight has no code yet, so it has no other one either.
    return Condition(
        "code",
        wanted,
        lambda moment: [moment.code],
        lambda code: code != RUNNING and not test(code),
    )


def _node_ids(moment: Moment) -> list[str]:
    entry = moment.entry
    if entry.node_id is not None:
        return [entry.node_id]
    if "node_id" not in entry.request_type.DESCRIPTOR.fields_by_name:
        return []
    named = moment.request.get("node_id")
    return [] if named is None else [named]


def _of_fields(
    side: str,
    fields: Mapping[str, str],
    methods: Iterable[MethodDescriptor],
    type_of: Callable[[MethodDescriptor], Descriptor],
) -> list[Condition]:
    """Return a condition for each field of requests or responses, in the order of the paths."""
    return [
        Condition(
            f"{side}.{path}",
            wanted,
            _texts_at(path, side, dict.fromkeys(map(type_of, methods))),
            matcher(wanted),
        )
        for path, wanted in sorted(fields.items())
    ]


def _texts_at(path: str, side: str, types: Iterable[Descriptor]) -> Callable[[Moment], list[str]]:
    readers, problem = {}, ""
    for type_ in types:
        try:
            readers[type_.full_name] = field_reader(type_, path)
        except NoSuchField as error:
            problem = str(error)
    if not readers:
        raise QueryMistake(f"{side}[{quoted(path)}]", problem)

    def texts(moment: Moment) -> list[str]:
        entry = moment.entry
        type_ = entry.request_type if side == "request" else entry.response_type
        read = readers.get(type_.DESCRIPTOR.full_name)
        if read is None or (side == "response" and moment.code != "OK"):
            return []
        return read(moment.request if side == "request" else moment.response)

    return texts


EVERY_CALL = CallFilter()
