"""Which calls somebody asks about: conditions that a call must meet, all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress

from google.protobuf import descriptor_pool
from google.protobuf.descriptor import MethodDescriptor, ServiceDescriptor

from csi_spec import csi_pb2
from mockdriver.journal.conditions import (
    Condition,
    Texts,
    of_code,
    of_fields,
    of_text,
    pattern_of,
)
from mockdriver.journal.entry import Moment
from mockdriver.journal.errors import QueryMistake
from mockdriver.scenario.mistakes import unknown_name

NO_FIELDS: Mapping[str, str] = {}

MAX_FIELDS = 100
"""How many fields of messages a filter may be about."""

KUBELET_REGISTRATION = "pluginregistration.Registration"
"""A service that is none of CSI's, whose calls stand in the journal of a server that has it."""


class CallFilter:
    """Conditions of calls; what is left empty is none. In texts, `*` and `?` are as in a shell.

    `node_id` is the node that the request names, else the one whose Node service was asked.
    `code` is the name of a status code, RUNNING, or `!` and a name: ended with another code.
    `request` and `response` are texts by path, as faults have them (`faults.field_paths`); a secret
    has the text that stands in its place. `message` is somewhere in the message. `after` is a
    sequence number: it is no condition, it says which calls are looked at. Raises QueryMistake for
    an RPC, service, code, field or value that CSI does not have.
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
        if after < 0:
            raise QueryMistake("after", f"{after} is not allowed, allowed: 0 or more")
        for name, fields in (("request", request), ("response", response)):
            if len(fields) > MAX_FIELDS:
                problem = f"{len(fields)} fields are not allowed, allowed: at most {MAX_FIELDS}"
                raise QueryMistake(name, problem)
        self.code, self.after = code, after
        methods = _methods(service, rpc)
        requests = [method.input_type for method in methods]
        responses = [method.output_type for method in methods]
        self.conditions: tuple[Condition, ...] = (
            *of_text("rpc", rpc, lambda moment: [moment.entry.rpc]),
            *of_text("service", service, lambda moment: [moment.entry.service]),
            *of_text("node_id", node_id, _node_id, is_costly=True),
            *of_code(code),
            *of_text("fault", fault, lambda moment: [*moment.faults]),
            *of_text("message", message, lambda moment: [moment.message], anywhere=True),
            *of_fields("request", request, requests, lambda moment: moment.request_message),
            *of_fields("response", response, responses, lambda moment: moment.response_message),
        )
        self._cheapest_first = sorted(self.conditions, key=lambda condition: condition.is_costly)

    def matches(self, moment: Moment) -> bool:
        """Tell whether a call meets all conditions."""
        if moment.entry.sequence <= self.after:
            return False
        return all(condition.test(moment) for condition in self._cheapest_first)

    def matching(self, moments: Iterable[Moment]) -> list[Moment]:
        """Return those of the calls that match, in their order."""
        return [moment for moment in moments if self.matches(moment)]

    def __str__(self) -> str:
        """Return what belongs after the word "calls": ` with code="OK" after call 17`."""
        with_these = f" with {', '.join(map(str, self.conditions))}" if self.conditions else ""
        return f"{with_these} after call {self.after}" if self.after else with_these


def _methods(service: str, rpc: str) -> list[MethodDescriptor]:
    """Return the RPCs that can match; raises QueryMistake if there are none."""
    of_service, of_rpc = pattern_of("service", service or "*"), pattern_of("rpc", rpc or "*")
    names = [found.name for found in _services()]
    services = [found for found in _services() if of_service.matches(found.name)]
    if not services:
        raise QueryMistake("service", unknown_name("service", service, names))
    known = [
        method for found in services for method in found.methods if not method.server_streaming
    ]
    methods = [method for method in known if of_rpc.matches(method.name)]
    if not methods:
        raise QueryMistake("rpc", unknown_name("RPC", rpc, [method.name for method in known]))
    return methods


def _services() -> list[ServiceDescriptor]:
    """Return the services that calls can be of: CSI's, and the kubelet's where it is in use."""
    services = list(csi_pb2.DESCRIPTOR.services_by_name.values())
    with suppress(KeyError):
        # By name: only the server may know the package that describes it.
        services.append(descriptor_pool.Default().FindServiceByName(KUBELET_REGISTRATION))
    return services


def _node_id(moment: Moment) -> Texts:
    entry, named = moment.entry, ""
    if "node_id" in entry.request_type.DESCRIPTOR.fields_by_name:
        named = getattr(moment.request_message, "node_id", "")
    return [named or entry.node_id]


EVERY_CALL = CallFilter()
"""Without any condition."""
