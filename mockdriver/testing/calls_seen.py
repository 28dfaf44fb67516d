"""What the driver was asked, as a test asks for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

from mockdriver.client import Call, CallFilter, Calls


class CallsSeen:
    """The calls that match a filter. Each look asks the driver anew."""

    def __init__(self, calls: Calls, filter: CallFilter) -> None:
        self._calls = calls
        self._filter = filter

    @property
    def count(self) -> int:
        """How many there are, those in flight included."""
        return self._calls.count(**self._filter)

    def list(self) -> list[Call]:
        """Return the newest 1000 of them, oldest first."""
        return self._calls.list(**self._filter)

    def __iter__(self) -> Iterator[Call]:
        return iter(self.list())

    def last(self) -> Call:
        """Return the newest; raises LookupError if there is none."""
        calls = self._calls.list(limit=1, **self._filter)
        if not calls:
            raise LookupError(f"no {self!r}")
        return calls[0]

    def wait(
        self, count: int = 1, *, timeout_seconds: float = 10.0, arrived: bool = False
    ) -> _Calls:
        """Return them once there are so many that have ended, or that have `arrived`.

        Raises ControlError with DEADLINE_EXCEEDED, the nearest calls in its message, if they do
        not come in time.
        """
        return self._calls.wait(
            count, timeout_seconds=timeout_seconds, arrived=arrived, **self._filter
        )

    def expect(
        self,
        *,
        exactly: int | None = None,
        at_least: int | None = None,
        at_most: int | None = None,
        never: bool = False,
    ) -> None:
        """Raise CallsNotAsExpected, an AssertionError with the nearest calls, unless it is so."""
        self._calls.expect(
            exactly=exactly, at_least=at_least, at_most=at_most, never=never, **self._filter
        ).require()

    def __repr__(self) -> str:
        named = ", ".join(f"{key}={value!r}" for key, value in self._filter.items() if key != "rpc")
        rpc = self._filter.get("rpc", "")
        return f"<calls of {rpc or 'any RPC'}{f' with {named}' if named else ''}>"


# Inside of a class with a method `list`, the type goes by another name.
_Calls: TypeAlias = list[Call]
