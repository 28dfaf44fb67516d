"""What all models of the scenario format have in common."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel, ConfigDict, model_validator


class Model(BaseModel):
    """A mapping with known keys. A known key whose value is null counts as not written.

    `nulls` names the keys for which null is a value of its own.
    """

    # defer_build: only the outermost model is built, once; building each by itself as well takes
    # twice the time, and every start of the server waits for it
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, defer_build=True)

    nulls: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _leave_out_nulls(cls, data: Any) -> Any:
        if not isinstance(data, dict) or None not in data.values():
            return data
        known = {info.alias or name for name, info in cls.model_fields.items()} - cls.nulls
        return {key: value for key, value in data.items() if value is not None or key not in known}
