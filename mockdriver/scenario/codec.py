"""Between the cloud's records and plain data: one codec for all resources, in both directions.

A record and its scenario model have the same field names, so nothing here knows one of them: a new
field is written in the dataclass and in the model, and it is read and written everywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import Field, fields
from functools import cache
from typing import Any, ClassVar, Protocol, TypeVar, get_args

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from mockdriver.scenario.kinds import Kind


class _IsDataclass(Protocol):
    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]


_Record = TypeVar("_Record", bound=_IsDataclass)


def record(kind: type[_Record], model: BaseModel, **more: Any) -> _Record:
    """Return a record with the fields of a model; what stands in `more` comes from there.

    A field that neither of them has keeps its default.
    """
    given = {
        name: more[name] if name in more else getattr(model, name)
        for name in _names(kind)
        if name in more or name in type(model).model_fields
    }
    return kind(**given)


def data(record: object, model: type[BaseModel]) -> dict[str, Any]:
    """Return what a file says of a record: the model's keys, with those values that are not None.

    Keys that the record knows nothing of are left out.
    """
    found = {}
    for name, key, write, _ in _keys(model):
        value = getattr(record, name, None)
        if value is not None:
            found[key] = value if write is None else write(value)
    return found


def short_data(record: object, model: type[BaseModel]) -> dict[str, Any]:
    """Return the same without what a file need not say: values that are the model's defaults."""
    found = {}
    for name, key, write, default in _keys(model):
        value = getattr(record, name, default)
        if value != default:
            found[key] = value if write is None or value is None else write(value)
    return found


_Write = Callable[[Any], object]


@cache
def _keys(model: type[BaseModel]) -> tuple[tuple[str, str, _Write | None, Any], ...]:
    """Return name, key, way of writing and default of each field."""
    return tuple(
        (name, info.alias or name, _write_of(info), info.get_default(call_default_factory=True))
        for name, info in model.model_fields.items()
    )


def _write_of(info: FieldInfo) -> _Write | None:
    kinds = [item for item in info.metadata if isinstance(item, Kind)]
    for choice in get_args(info.annotation):  # of `Annotated[…] | None`
        kinds += [item for item in get_args(choice) if isinstance(item, Kind)]
    return kinds[0].write if kinds else None


@cache
def _names(kind: type[_IsDataclass]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
