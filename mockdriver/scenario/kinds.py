"""The kinds of values that scenario files hold: how each is checked, and its JSON Schema.

A kind is written into a model's field as `Annotated[type, kind]`. It decides alone whether a value
is allowed, so that its message can say in plain words what is.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, TypeVar

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler, Strict
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from mockdriver.scenario.durations import ALLOWED as ALLOWED_DURATIONS
from mockdriver.scenario.durations import PATTERN as DURATION_PATTERN
from mockdriver.scenario.durations import format_duration, parse_duration
from mockdriver.scenario.mistakes import Path, UnknownName, not_allowed, not_among, quoted

MISTAKE = "mistake"
"""The pydantic error type under which a kind reports; see `mistakes_at`."""

MAX_ID_BYTES = 256
MAX_DISK_ID_BYTES = 128
"""A disk's id is a CSI volume_id, which CSI limits to less than a node_id (Size Limits)."""
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

JsonSchema = Mapping[str, Any]
_Item = TypeVar("_Item")

ListOf = Annotated[tuple[_Item, ...], Strict(False)]
"""A list in the file, a tuple in the model; the items stay strict."""


Problem = tuple[Path, str | UnknownName]
"""A mistake inside a value: where in it, and what is wrong."""


def mistake(text: str | UnknownName) -> PydanticCustomError:
    """Return the error that a kind raises about the whole value."""
    return mistakes_at([((), text)])


def mistakes_at(problems: list[Problem]) -> PydanticCustomError:
    """Return one error for mistakes inside one value."""
    return PydanticCustomError(MISTAKE, "see the problems in the context", {"problems": problems})


@dataclass(frozen=True, eq=False)
class Kind:
    """One kind: `check` returns the value for the model or raises `mistake(...)`.

    `write` is the way back: it returns what a file says of a value of the model. Without it, that
    is the value itself.
    """

    check: Callable[[object], object]
    schema: JsonSchema
    write: Callable[[Any], object] | None = None

    def __get_pydantic_core_schema__(
        self, source: type[Any], handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        """Tell pydantic to leave the whole decision to `check`."""
        return core_schema.no_info_plain_validator_function(self.check)

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        """Describe the kind to editors."""
        return dict(self.schema)


def whole_number(minimum: int, maximum: int = INT64_MAX) -> Kind:
    """Return the kind of whole numbers from `minimum` to `maximum`."""
    if maximum < INT64_MAX:
        allowed = f"a whole number from {minimum} to {maximum}"
    elif minimum > INT64_MIN:
        allowed = f"a whole number of at least {minimum}"
    else:
        allowed = "a whole number"

    def check(value: object) -> int:
        if type(value) is int and minimum <= value <= maximum:
            return value
        raise mistake(not_allowed(value, allowed))

    return Kind(check, {"type": "integer", "minimum": minimum, "maximum": maximum})


def number(minimum: int, maximum: int) -> Kind:
    """Return the kind of numbers, fractions included, from `minimum` to `maximum`."""

    def check(value: object) -> float:
        if type(value) in (int, float) and isinstance(value, int | float):
            wanted = float(value)
            if math.isfinite(wanted) and minimum <= wanted <= maximum:
                return wanted
        raise mistake(not_allowed(value, f"a number from {minimum} to {maximum}"))

    return Kind(check, {"type": "number", "minimum": minimum, "maximum": maximum})


def name_of(kind: str, known: Iterable[str]) -> Kind:
    """Return the kind of names out of a fixed list; `kind` is what the names are names of."""
    names = tuple(known)

    def check(value: object) -> str:
        if not isinstance(value, str):
            raise mistake(not_allowed(value, f"one of {', '.join(names)}"))
        if value not in names:
            raise mistake(not_among(kind, value, names))
        return value

    return Kind(check, {"enum": list(names)})


def text_that(
    allowed: str, is_allowed: Callable[[str], bool], schema: JsonSchema | None = None
) -> Kind:
    """Return the kind of texts for which `is_allowed` holds; `allowed` says so in words."""

    def check(value: object) -> str:
        if isinstance(value, str):
            if is_allowed(value):
                return value
            raise mistake(not_allowed(value, allowed))
        raise mistake(f"{not_allowed(value, allowed)}{_quotes_hint(value)}")

    return Kind(check, {"type": "string", **(schema or {})})


def _quotes_hint(value: object) -> str:
    if isinstance(value, bool | int | float):
        return f"; text that looks like something else needs quotes: {quoted(str(value))}"
    return ""


def is_id(text: str) -> bool:
    """Tell whether `text` can be the id of a resource: 1 to 256 bytes, no control characters."""
    return (
        text != ""
        and len(text) <= MAX_ID_BYTES
        and len(text.encode()) <= MAX_ID_BYTES
        and _CONTROL.search(text) is None
    )


def disk_id_problem(id: str) -> str | None:
    """Return why an id is too long for a disk, or None."""
    # A character has at most 4 bytes: short ids need no encoding to be known short.
    if len(id) * 4 > MAX_DISK_ID_BYTES and (size := len(id.encode())) > MAX_DISK_ID_BYTES:
        return (
            f"the disk's id {quoted(id)} has {size} bytes, allowed: at most {MAX_DISK_ID_BYTES}, "
            "since it is a CSI volume_id"
        )
    return None


_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")

_ID_WORDS = f"text of 1 to {MAX_ID_BYTES} bytes without control characters"


def _check_flag(value: object) -> bool:
    if isinstance(value, bool):
        return value
    raise mistake(not_allowed(value, "true or false"))


def _check_duration(value: object) -> float:
    if isinstance(value, str):
        seconds = parse_duration(value)
        if seconds is not None:
            return seconds
    elif type(value) is int and value == 0:
        return 0.0
    elif type(value) in (int, float):
        raise mistake(f"{not_allowed(value, ALLOWED_DURATIONS)}; a number needs a unit")
    raise mistake(not_allowed(value, ALLOWED_DURATIONS))


TEXT = text_that("text", lambda _: True)
ID = text_that(_ID_WORDS, is_id, {"minLength": 1, "maxLength": MAX_ID_BYTES})
FLAG = Kind(_check_flag, {"type": "boolean"})
DURATION = Kind(
    _check_duration,
    {"anyOf": [{"type": "string", "pattern": DURATION_PATTERN}, {"const": 0}]},
    format_duration,
)


def count_or(items: Kind, minimum: int, maximum: int, words: str) -> Kind:
    """Return the kind that is a number, or a list of `items` that does not repeat itself."""
    allowed = f"a whole number from {minimum} to {maximum}, or a list of {words}"

    def check(value: object) -> int | tuple[str, ...]:
        if type(value) is int and minimum <= value <= maximum:
            return value
        if not isinstance(value, list | tuple):
            raise mistake(not_allowed(value, allowed))
        problems: list[Problem] = []
        first: dict[str, int] = {}
        for index, item in enumerate(value):
            try:
                items.check(item)
            except PydanticCustomError as error:
                problems.extend(((index,), text) for _, text in problems_of(error))
                continue
            if item in first:
                problems.append(((index,), f"{quoted(item)} is listed twice, see [{first[item]}]"))
            first.setdefault(item, index)
        if problems:
            raise mistakes_at(problems)
        return tuple(value)

    integers = {"type": "integer", "minimum": minimum, "maximum": maximum}
    lists = {"type": "array", "items": dict(items.schema), "uniqueItems": True}
    return Kind(check, {"anyOf": [integers, lists]})


def _check_tags(value: object) -> dict[str, str]:
    if not isinstance(value, dict):
        raise mistake(not_allowed(value, "a mapping of tags, each with a text"))
    problems: list[Problem] = []
    for key, text in value.items():
        if not is_id(key):
            problems.append(((), f"the tag {quoted(key)} is not allowed, allowed: {_ID_WORDS}"))
        elif not isinstance(text, str):
            words = f"{not_allowed(text, _TAG_WORDS)}{_quotes_hint(text)}"
            problems.append(((key,), words))
        elif len(text.encode()) > MAX_TAG_BYTES:
            problems.append(((key,), f"{quoted(text)} is too long, allowed: {_TAG_WORDS}"))
    if problems:
        raise mistakes_at(problems)
    return dict(value)


MAX_TAG_BYTES = 32 * 1024
"""What the driver writes into a tag is shorter: CSI limits the parameters of a volume."""

_TAG_WORDS = f"text of at most {MAX_TAG_BYTES} bytes"

TAGS = Kind(
    _check_tags,
    {
        "type": "object",
        "propertyNames": {"minLength": 1, "maxLength": MAX_ID_BYTES},
        "additionalProperties": {"type": "string"},
    },
    dict,
)


def problems_of(error: PydanticCustomError) -> list[tuple[Path, str]]:
    """Return the mistakes that an error of a kind carries, each with where in the value it is."""
    problems: list[Problem] = (error.context or {})["problems"]
    return [(at, str(text)) for at, text in problems]


Text = Annotated[str, TEXT]
Id = Annotated[str, ID]
Flag = Annotated[bool, FLAG]
Seconds = Annotated[float, DURATION]
Tags = Annotated[dict[str, str], TAGS]
IdsOrCount = Annotated[int | tuple[str, ...], count_or(ID, 0, 100_000, "ids")]
