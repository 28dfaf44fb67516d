"""What a request gives, checked by the models and kinds of the scenario format."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import PydanticCustomError

from mockdriver.control.errors import InvalidRequest
from mockdriver.scenario.kinds import ID, MISTAKE, TAGS, Kind, disk_id_problem, problems_of
from mockdriver.scenario.mistakes import Path, path_text, shown
from mockdriver.scenario.validation import model_field_text

_Model = TypeVar("_Model", bound=BaseModel)


def checked(model: type[_Model], data: Mapping[str, Any], *, at: str = "") -> _Model:
    """Return the model of what is given; `at` is the field that holds it.

    Raises InvalidRequest with all that is wrong.
    """
    try:
        return model.model_validate(dict(data))
    except ValidationError as error:
        found: list[tuple[str, str]] = []
        for detail in error.errors(include_url=False):
            place: Path = (*((at,) if at else ()), *detail["loc"])
            if detail["type"] == MISTAKE:
                problems = detail["ctx"]["problems"]
                found.extend((path_text(place + inside), str(text)) for inside, text in problems)
            elif detail["type"] == "missing":
                needed = model_field_text(model, str(detail["loc"][-1]))
                found.append((path_text(place), f"is missing, needed: {needed}"))
            else:
                found.append((path_text(place), f"{shown(detail['input'])} is not allowed"))
        raise InvalidRequest(found) from None


def checked_value(kind: Kind, value: object, *field: str) -> Any:
    """Return a value that a kind of the scenario format allows; raises InvalidRequest.

    `field` is its path in the request.
    """
    try:
        return kind.check(value)
    except PydanticCustomError as error:
        raise InvalidRequest(
            [(path_text((*field, *inside)), text) for inside, text in problems_of(error)]
        ) from None


def required(request: Any, *fields: str) -> None:
    """Raise InvalidRequest for each of the fields that is empty."""
    empty = [(field, "is required") for field in fields if not getattr(request, field)]
    if empty:
        raise InvalidRequest(empty)


def check_disk_id(id: str, field: str) -> None:
    """Raise InvalidRequest unless `id` can be a disk's."""
    checked_value(ID, id, field)
    problem = disk_id_problem(id)
    if problem is not None:
        raise InvalidRequest([(field, problem)])


def changed_tags(
    present: Mapping[str, str], set_tags: Mapping[str, str], remove_tags: Iterable[str]
) -> dict[str, str]:
    """Return tags with some set and then some removed; raises InvalidRequest."""
    tags = {**present, **checked_value(TAGS, dict(set_tags), "set_tags")}
    removed = frozenset(remove_tags)
    return {key: value for key, value in tags.items() if key not in removed}
