"""Between the cloud's records and plain data: one codec for all resources, in both directions.

A record and its scenario model have the same field names, so nothing here knows one of them: a new
field is written in the dataclass and in the model, and it is read and written everywhere.
"""

from __future__ import annotations

from dataclasses import Field, fields
from functools import cache
from typing import Any, ClassVar, Protocol, TypeVar

from pydantic import BaseModel


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
    """Return what a file would say of a record: the keys that the model knows, with all values."""
    return {
        info.alias or name: value
        for name, info in model.model_fields.items()
        if (value := getattr(record, name, None)) is not None
    }


@cache
def _names(kind: type[_IsDataclass]) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
