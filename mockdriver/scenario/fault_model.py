"""A fault as scenario files, the API and stories write it: the one schema of faults.

The model knows keys and kinds of values. What depends on the RPC, such as the fields of its
request, is told by `faults.compiling`; `checked` asks both.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field, ValidationError

from mockdriver.faults import Fault
from mockdriver.faults.call_numbers import ALLOWED as ALLOWED_NUMBERS
from mockdriver.faults.call_numbers import PATTERN as NUMBERS_PATTERN
from mockdriver.faults.call_numbers import parse as parse_numbers
from mockdriver.faults.cloud_calls import ERROR_NAMES
from mockdriver.faults.fault import AFTER, BEFORE
from mockdriver.faults.flaws import BadText, Flaw, FlawAt, UnknownWord
from mockdriver.scenario.base_model import Model
from mockdriver.scenario.code_names import CODES
from mockdriver.scenario.durations import format_duration
from mockdriver.scenario.kinds import (
    DURATION,
    INT64_MAX,
    INT64_MIN,
    MISTAKE,
    Flag,
    Id,
    Kind,
    Seconds,
    Text,
    mistake,
    mistakes_at,
    name_of,
    whole_number,
)
from mockdriver.scenario.mistakes import (
    UnknownName,
    not_allowed,
    not_among,
    path_text,
    shown,
)

MAX_EXIT_CODE = 255

_FIELD_PATHS = "a mapping from paths of fields, such as a.b, to"


def _check_call_numbers(value: object) -> str:
    text = str(value) if type(value) is int else value
    if isinstance(text, str) and parse_numbers(text) is not None:
        return text
    raise mistake(not_allowed(value, ALLOWED_NUMBERS))


def _check_probability(value: object) -> float:
    if type(value) in (int, float) and isinstance(value, int | float):
        chance = float(value)
        if math.isfinite(chance) and 0 < chance <= 1:
            return chance
    raise mistake(not_allowed(value, "a number above 0, at most 1"))


def _check_lifetime(value: object) -> float:
    seconds = DURATION.check(value)
    assert isinstance(seconds, float)
    if seconds > 0:
        return seconds
    raise mistake(not_allowed(value, "a duration above 0"))


def _check_request(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise mistake(not_allowed(value, f"{_FIELD_PATHS} texts"))
    problems = [
        (
            (path,),
            not_allowed(wanted, "a text, in which * and ? are as in a shell; a number; a flag"),
        )
        for path, wanted in value.items()
        if not isinstance(wanted, str | bool | int)
    ]
    if problems:
        raise mistakes_at(list(problems))
    return {path: _as_text(wanted) for path, wanted in value.items()}


def _as_text(value: str | bool | int) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _check_reply(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise mistake(not_allowed(value, f"{_FIELD_PATHS} values"))
    return value


def _check_details(value: object) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list | tuple):
        raise mistake(not_allowed(value, "a list of google.rpc messages"))
    problems = [
        ((index,), not_allowed(item, "a mapping with @type, the name of a google.rpc message"))
        for index, item in enumerate(value)
        if not isinstance(item, dict)
    ]
    if problems:
        raise mistakes_at(list(problems))
    return tuple(value)


_scalar = {"anyOf": [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}]}
Numbers = Annotated[
    str,
    Kind(
        _check_call_numbers,
        {
            "anyOf": [
                {"type": "integer", "minimum": 1},
                {"type": "string", "pattern": NUMBERS_PATTERN},
            ]
        },
    ),
]
Probability = Annotated[
    float, Kind(_check_probability, {"type": "number", "exclusiveMinimum": 0, "maximum": 1})
]
Lifetime = Annotated[float, Kind(_check_lifetime, DURATION.schema)]
Request = Annotated[
    dict[str, str], Kind(_check_request, {"type": "object", "additionalProperties": _scalar})
]
Reply = Annotated[dict[str, Any], Kind(_check_reply, {"type": "object"})]
Details = Annotated[
    tuple[dict[str, Any], ...],
    Kind(
        _check_details,
        {"type": "array", "items": {"type": "object", "required": ["@type"]}},
    ),
]


class FaultModel(Model):
    """Something that goes wrong: which calls it is about, and what it does to them."""

    name: Id | None = Field(default=None, description="Its name. Default: fault-1 and so on.")
    rpc: Text | None = Field(
        default=None, description="The RPC, with * and ? as in a shell. Or cloud_api."
    )
    cloud_api: Text | None = Field(
        default=None, description="The API of the cloud, with * and ? as in a shell. Or rpc."
    )
    node_id: Text | None = Field(
        default=None, description="The node that the call is about, with * and ?."
    )
    request: Request = Field(
        default_factory=dict, description="Values of fields of the request by path, with * and ?."
    )
    calls: Numbers | None = Field(
        default=None, description=f"{ALLOWED_NUMBERS.capitalize()}; counted are those that match."
    )
    times: Annotated[int, whole_number(1)] | None = Field(
        default=None, description="Acts so many times at most."
    )
    probability: Probability | None = Field(
        default=None, description="Acts with this probability, drawn from seed."
    )
    seed: Annotated[int, whole_number(INT64_MIN, INT64_MAX)] = Field(
        default=0, description="The same seed draws the same."
    )
    when: Annotated[str, name_of("moment", (BEFORE, AFTER))] | None = Field(
        default=None, description="before: the work is not done. after: done, then the answer lost."
    )
    code: Annotated[str, name_of("status code", CODES)] | None = Field(
        default=None, description="The status code to answer with."
    )
    message: Text | None = Field(default=None, description="The message beside the code.")
    details: Details = Field(
        default=(), description="google.rpc messages beside the code, each with @type."
    )
    error: Annotated[str, name_of("cloud error", ERROR_NAMES)] | None = Field(
        default=None, description="The error that the cloud API refuses with."
    )
    delay_seconds: Seconds = Field(
        default=0.0, alias="delay", description="Waits so long first, a duration."
    )
    hold: Id | None = Field(
        default=None, description="Waits first at this barrier, until it is released."
    )
    no_answer: Flag = Field(
        default=False, description="Never answers: the caller's deadline ends the call."
    )
    reply: Reply = Field(
        default_factory=dict, description="Fields of the response by path, and their new values."
    )
    exit: Annotated[int, whole_number(0, MAX_EXIT_CODE)] | None = Field(
        default=None, description="Ends the process with this exit code."
    )
    lifetime_seconds: Lifetime | None = Field(
        default=None, alias="lifetime", description="Removed by itself after this duration."
    )
    enabled: Flag = Field(default=True, description="false: it is in the list and matches nothing.")

    def fault(self) -> Fault:
        """Return the fault as data; what is not given stays empty."""
        given = {name: getattr(self, name) for name in FaultModel.model_fields}
        return Fault(**{name: value for name, value in given.items() if value is not None})


def data_of(fault: Fault) -> dict[str, Any]:
    """Return a fault as a scenario file writes it: the keys whose values are not the defaults."""
    empty, found = Fault(), dict[str, Any]()
    for name, info in FaultModel.model_fields.items():
        value = getattr(fault, name)
        if value == getattr(empty, name):
            continue
        if name.endswith("_seconds"):
            value = format_duration(value)
        elif isinstance(value, Mapping):
            value = dict(value)
        elif isinstance(value, tuple):
            value = [dict(item) for item in value]
        found[info.alias or name] = value
    return found


class FaultMistakes(Exception):
    """A fault that cannot be. `problems` are pairs of a key, or what is inside of it, and words."""

    def __init__(self, problems: list[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        lines = [f"{place}: {text}" for place, text in self.problems[:_SHOWN_PROBLEMS]]
        more = len(self.problems) - _SHOWN_PROBLEMS
        super().__init__("; ".join(lines) + (f"; and {more} more" if more > 0 else ""))


_SHOWN_PROBLEMS = 20


def checked(data: Mapping[str, Any]) -> Fault:
    """Return the fault that plain data describes; raises FaultMistakes with all that is wrong."""
    problems: list[tuple[str, str]] = []
    given, wrong = dict(data), set[str]()
    try:
        model = FaultModel.model_validate(given)
    except ValidationError as error:
        for detail in error.errors(include_url=False):
            place = detail["loc"]
            wrong.add(str(place[0]))
            if detail["type"] == MISTAKE:
                inside = detail["ctx"]["problems"]
                problems += [(path_text(place + at), str(text)) for at, text in inside]
            else:
                problems.append((path_text(place), f"{shown(detail['input'])} is not allowed"))
        model = FaultModel.model_validate(
            {key: value for key, value in given.items() if key not in wrong}
        )
    fault = model.fault()
    problems += [
        (path_text(found.place) if found.place else "fault", str(words(found.flaw)))
        for found in flaws(fault, is_whole=not wrong)
    ]
    if problems:
        raise FaultMistakes(problems)
    return fault


def flaws(fault: Fault, *, is_whole: bool) -> Iterator[FlawAt]:
    """Yield what is wrong with a fault as a whole.

    Of one out of which something wrong was cut, only what does not follow from that.
    """
    from mockdriver.faults.compiling import flaws_of  # noqa: PLC0415 - brings CSI's messages

    for found in flaws_of(fault):
        if is_whole or (found.place and found.place[0] in _ON_THEIR_OWN):
            yield found


_ON_THEIR_OWN = frozenset({"rpc", "cloud_api", "node_id", "request", "reply", "details"})
"""The keys whose values are wrong whatever the other ones are."""


def words(flaw: Flaw) -> str | UnknownName:
    """Return a flaw in the words of all mistakes, with the nearest name where there is one."""
    match flaw:
        case UnknownWord(kind, given, known):
            return not_among(kind, given, known)
        case BadText(given, allowed):
            return not_allowed(given, allowed)
        case _:
            return str(flaw)
