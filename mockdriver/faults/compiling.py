"""From a fault as data to what is compared and done at each call; all its flaws are found here."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote

from google.protobuf import message_factory
from google.protobuf.message import Message

from mockdriver.cloud.errors import quoted
from mockdriver.faults import call_numbers, field_paths
from mockdriver.faults.call_numbers import CallNumbers
from mockdriver.faults.cloud_calls import CLOUD_ERRORS, CLOUD_FIELDS
from mockdriver.faults.errors import FaultHasFlaws, InjectedFailure
from mockdriver.faults.fault import Fault
from mockdriver.faults.field_paths import BadPath, FieldPath
from mockdriver.faults.field_values import BadValue, override, parse_for_override
from mockdriver.faults.flaws import BadFit, BadText, FlawAt, UnknownWord
from mockdriver.faults.pattern import Pattern
from mockdriver.faults.status_codes import OK, STATUS_CODES
from mockdriver.faults.subjects import Call, rpcs

MAX_CONDITIONS = 100
MAX_PATTERN_CHARACTERS = 1_024
MAX_OVERRIDES = 100
MAX_REPLY_BYTES = 16 * 1024 * 1024
"""How large the overridden fields of a reply can be together. Clients take 4 MiB by default, and
what happens beyond is worth a test."""

MAX_HEADER_BYTES = 7_000
"""Message and details travel in headers. Where these exceed 8 KiB, gRPC may refuse the answer and
give RESOURCE_EXHAUSTED by itself, which a CO would take for a full node."""

ANSWERS = ("code", "error", "no_answer", "reply", "exit")
WAITS = ("delay", "hold")


class Condition(Protocol):
    """Something that a call must have."""

    @property
    def label(self) -> str:
        """The key that says it."""

    def is_met(self, call: Call) -> bool:
        """Tell whether the call has it."""

    def mismatch(self, call: Call) -> str:
        """Say what the call has instead."""


class OfNode(NamedTuple):
    """The node that the call is about."""

    pattern: Pattern
    label: str = "node_id"

    def is_met(self, call: Call) -> bool:
        """Tell whether it is about such a node; a call of no node never is."""
        return call.node_id is not None and self.pattern.matches(call.node_id)

    def mismatch(self, call: Call) -> str:
        """Say which node it is about."""
        return _mismatch(self.label, call.node_id, self.pattern)


class OfRequest(NamedTuple):
    """A field of an RPC's request; of several items one is enough."""

    path: FieldPath
    pattern: Pattern

    @property
    def label(self) -> str:
        """The path as it was written."""
        return self.path.text

    def is_met(self, call: Any) -> bool:
        """Tell whether the field has such a value."""
        return any(
            field_paths.matches(self.pattern, text) for text in self.path.texts(call.request)
        )

    def mismatch(self, call: Any) -> str:
        """Say what the field has; of a secret one only that it is something else."""
        if self.path.is_secret:
            return f"{self.label} is something else"
        return _mismatch(self.label, next(self.path.texts(call.request)), self.pattern)


class OfCloudCall(NamedTuple):
    """Something that a call of a cloud API names."""

    label: str
    pattern: Pattern

    def is_met(self, call: Any) -> bool:
        """Tell whether it names such a thing."""
        return field_paths.matches(self.pattern, call.fields.get(self.label))

    def mismatch(self, call: Any) -> str:
        """Say what it names."""
        return _mismatch(self.label, call.fields.get(self.label), self.pattern)


def _mismatch(label: str, text: str | None, pattern: Pattern) -> str:
    has = "is not there" if text is None else f"is {quoted(text)}"
    return f"{label} {has}, it wants {quoted(pattern.text)}"


class Override(NamedTuple):
    """A field of the reply, and the value that takes its place."""

    path: FieldPath
    value: Any

    def apply(self, reply: Message) -> None:
        """Put the value into a reply."""
        override(reply, self.path, self.value)


class OnSubject(NamedTuple):
    """What a fault compares and overrides at the calls of one RPC, or of one cloud API."""

    conditions: tuple[Condition, ...] = ()
    overrides: tuple[Override, ...] = ()


class CompiledFault(NamedTuple):
    """A fault that can be. `on` has what it is about, by the name of the RPC or of the API."""

    fault: Fault
    on: Mapping[str, OnSubject]
    numbers: CallNumbers
    status: tuple[str, str, bytes] = ("", "", b"")

    def failure(self) -> InjectedFailure:
        """Return the error that the fault answers with."""
        return InjectedFailure(*self.status)


class _Found:
    """What fits one subject, and what does not. `followed` tells how far the paths could be."""

    def __init__(self) -> None:
        self.conditions: list[Condition] = []
        self.overrides: list[Override] = []
        self.flaws: list[FlawAt] = []
        self.followed = 0


def flaws_of(fault: Fault) -> tuple[FlawAt, ...]:
    """Return all that is wrong with a fault, in the order of its keys; ranges are not looked at."""
    try:
        compile_fault(fault)
    except FaultHasFlaws as error:
        return error.flaws
    return ()


def compile_fault(fault: Fault) -> CompiledFault:
    """Return the fault made ready; raises FaultHasFlaws with all that is wrong with it."""
    flaws = list(_flaws_of_sizes(fault))
    on = {} if flaws else _subjects(fault, flaws)
    numbers = call_numbers.parse(fault.calls) if fault.calls else call_numbers.ALL
    if numbers is None:
        flaws.append(FlawAt(("calls",), BadText(fault.calls, call_numbers.ALLOWED)))
    flaws += _flaws_of_actions(fault)
    status = _status(fault, flaws)
    if flaws or numbers is None:
        order = list(Fault.__dataclass_fields__)
        raise FaultHasFlaws(sorted(flaws, key=lambda item: _rank(item, order)))
    return CompiledFault(fault, on, numbers, status)


def _rank(found: FlawAt, order: list[str]) -> int:
    key = str(found.place[0]) if found.place else ""
    return next((i for i, name in enumerate(order) if name.removesuffix("_seconds") == key), -1)


def _flaws_of_sizes(fault: Fault) -> Iterator[FlawAt]:
    for key, count, most in (
        ("request", len(fault.request), MAX_CONDITIONS),
        ("reply", len(fault.reply), MAX_OVERRIDES),
    ):
        if count > most:
            yield FlawAt((key,), BadFit(f"{count} fields are given, allowed: at most {most}"))
    for place, text in (
        (("rpc",), fault.rpc),
        (("cloud_api",), fault.cloud_api),
        (("node_id",), fault.node_id),
        *((("request", path), text) for path, text in fault.request.items()),
    ):
        if len(text) > MAX_PATTERN_CHARACTERS:
            allowed = f"at most {MAX_PATTERN_CHARACTERS} characters"
            yield FlawAt(place, BadText(text, allowed))


# ------------------------------------------------------------------------------- which calls


def _subjects(fault: Fault, flaws: list[FlawAt]) -> dict[str, OnSubject]:
    """Return what the fault is about. Of a pattern, what all the fault's fields fit."""
    if bool(fault.rpc) == bool(fault.cloud_api):
        given = "both are given" if fault.rpc else "neither is given"
        text = f"{given}, exactly one of rpc and cloud_api is needed"
        flaws.append(FlawAt((), BadFit(text)))
        return {}
    key, kind, wanted = (
        ("rpc", "RPC", fault.rpc) if fault.rpc else ("cloud_api", "cloud API", fault.cloud_api)
    )
    known = tuple(rpcs() if fault.rpc else CLOUD_FIELDS)
    look = _look_at_rpc if fault.rpc else _look_at_cloud_api
    pattern = Pattern(wanted)
    names = [name for name in known if pattern.matches(name)]
    if not names:
        flaws.append(FlawAt((key,), UnknownWord(kind, wanted, known)))
        return {}
    found = {name: look(fault, name) for name in names}
    fitting = {name: item for name, item in found.items() if not item.flaws}
    if not fitting:
        flaws += min(found.values(), key=_distance).flaws
    return {
        name: OnSubject(tuple(item.conditions), tuple(item.overrides))
        for name, item in fitting.items()
    }


def _distance(found: _Found) -> tuple[int, int, int]:
    """Return how far a fault is from fitting a subject."""
    unknown = sum(item.at_key for item in found.flaws)
    return unknown, len(found.flaws), -found.followed


def _look_at_rpc(fault: Fault, name: str) -> _Found:
    found, rpc = _Found(), rpcs()[name]
    if fault.node_id:
        if rpc.service != "Node" and "node_id" not in rpc.request.fields_by_name:
            text = f"a call of {name} is about no node; leave node_id out"
            found.flaws.append(FlawAt(("node_id",), BadFit(text)))
        found.conditions.append(OfNode(Pattern(fault.node_id)))
    for text, wanted in fault.request.items():
        try:
            path = field_paths.parse(text, rpc.request)
        except BadPath as bad:
            found.flaws.append(FlawAt(("request", text), bad.flaw, at_key=True))
            found.followed += bad.followed
            continue
        found.followed += len(text)
        pattern = field_paths.pattern_for(path, wanted)
        if isinstance(pattern, Pattern):
            found.conditions.append(OfRequest(path, pattern))
        else:
            found.flaws.append(FlawAt(("request", text), pattern))
    reply = message_factory.GetMessageClass(rpc.response)()
    for text, value in fault.reply.items():
        try:
            path = parse_for_override(text, rpc.response)
            found.followed += len(text)
            override(reply, path, value)
        except BadPath as bad:
            found.flaws.append(FlawAt(("reply", text), bad.flaw, at_key=True))
            found.followed += bad.followed
        except BadValue as bad:
            found.flaws.append(FlawAt(("reply", text, *bad.place), bad.flaw))
        else:
            found.overrides.append(Override(path, value))
    if reply.ByteSize() > MAX_REPLY_BYTES:
        text = f"would have {reply.ByteSize()} bytes, allowed are {MAX_REPLY_BYTES}"
        found.flaws.append(FlawAt(("reply",), BadFit(text)))
    return found


def _look_at_cloud_api(fault: Fault, name: str) -> _Found:
    found, fields = _Found(), CLOUD_FIELDS[name]
    if fault.node_id:
        if "instance" not in fields:
            text = f"a call of {name} names no instance; leave node_id out"
            found.flaws.append(FlawAt(("node_id",), BadFit(text)))
        found.conditions.append(OfNode(Pattern(fault.node_id)))
    for text, wanted in fault.request.items():
        if text in fields:
            found.conditions.append(OfCloudCall(text, Pattern(wanted)))
            found.followed += 1
        else:
            flaw = UnknownWord(f"field of {name}", text, fields)
            found.flaws.append(FlawAt(("request", text), flaw, at_key=True))
    if fault.error and fault.error not in CLOUD_ERRORS[name]:
        flaw = UnknownWord(f"error of {name}", fault.error, CLOUD_ERRORS[name])
        found.flaws.append(FlawAt(("error",), flaw))
    return found


# ----------------------------------------------------------------------------- what it does


def _given(fault: Fault, keys: tuple[str, ...]) -> list[str]:
    values: dict[str, Callable[[], bool]] = {
        "delay": lambda: fault.delay_seconds > 0,
        "exit": lambda: fault.exit is not None,
    }
    return [key for key in keys if values.get(key, lambda k=key: bool(getattr(fault, k)))()]


def _flaws_of_actions(fault: Fault) -> Iterator[FlawAt]:
    answers = _given(fault, ANSWERS)
    if len(answers) > 1:
        text = f"{' and '.join(answers)} are given, at most one of {', '.join(ANSWERS)} is allowed"
        yield FlawAt((answers[1],), BadFit(text))
    if not answers and not _given(fault, WAITS):
        text = f"it does nothing, needed is one of {', '.join((*ANSWERS, *WAITS))}"
        yield FlawAt((), BadFit(text))
    if fault.error and not fault.cloud_api:
        text = "is what a cloud API refuses with; an RPC answers with a code"
        yield FlawAt(("error",), BadFit(text))
    if fault.reply and fault.cloud_api:
        yield FlawAt(("reply",), BadFit("only an RPC has a reply whose fields can be overridden"))
    for key in ("message", "details"):
        if getattr(fault, key) and fault.code in ("", OK):
            yield FlawAt((key,), BadFit("goes with a code other than OK only"))
    if fault.seed and fault.probability is None:
        yield FlawAt(("seed",), BadFit("goes with a probability only"))


def _status(fault: Fault, flaws: list[FlawAt]) -> tuple[str, str, bytes]:
    if not fault.code:
        return "", "", b""
    if fault.code not in STATUS_CODES:
        flaws.append(FlawAt(("code",), UnknownWord("status code", fault.code, STATUS_CODES)))
        return "", "", b""
    if fault.code == OK and fault.cloud_api:
        text = "a cloud API cannot answer OK without doing the work, allowed: any other code"
        flaws.append(FlawAt(("code",), BadFit(text)))
    message = fault.message or f"fault {fault.name}"
    encoded = _encoded_details(fault, message, flaws)
    size = len(quote(message)) + -(-len(encoded) // 3) * 4  # percent-encoded, and as base64
    if size > MAX_HEADER_BYTES:
        key, words = ("details", "message and details") if fault.details else ("message", "it")
        text = f"{words} would be headers of {size} bytes, allowed are {MAX_HEADER_BYTES}"
        flaws.append(FlawAt((key,), BadFit(text)))
    return fault.code, message, encoded


def _encoded_details(fault: Fault, message: str, flaws: list[FlawAt]) -> bytes:
    if not fault.details:
        return b""
    from mockdriver.faults import error_details  # noqa: PLC0415 - few faults have details

    details = []
    for index, given in enumerate(fault.details):
        try:
            details.append(error_details.detail(given))
        except BadValue as bad:
            flaws.append(FlawAt(("details", index, *bad.place), bad.flaw))
    return error_details.status_bytes(STATUS_CODES.index(fault.code), message, details)
