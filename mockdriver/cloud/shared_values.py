"""A dict of mutable values that snapshots share until somebody changes one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


class SharedValues(Generic[_Key, _Value]):
    """Values by key. A snapshot copies the dict, but no value.

    A value that a snapshot may have is copied before it is changed for the first time, so that a
    snapshot of five thousand instances costs as much as a copy of one dict.
    """

    __slots__ = ("_copy", "_items", "_owned")

    def __init__(self, copy: Callable[[_Value], _Value]) -> None:
        self._copy = copy
        self._items: dict[_Key, _Value] = {}
        self._owned: set[_Key] = set()

    def __getitem__(self, key: _Key) -> _Value:
        """Return a value to look at, never to change; raises KeyError."""
        return self._items[key]

    def __contains__(self, key: _Key) -> bool:
        return key in self._items

    def __iter__(self) -> Iterator[_Key]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def get(self, key: _Key) -> _Value | None:
        """Return a value to look at, never to change, or None."""
        return self._items.get(key)

    def own(self, key: _Key) -> _Value:
        """Return a value that can be changed; raises KeyError."""
        value = self._items[key]
        if key not in self._owned:
            value = self._items[key] = self._copy(value)
            self._owned.add(key)
        return value

    def add(self, key: _Key, value: _Value) -> _Value:
        """Put a new value, and return it."""
        self._items[key] = value
        self._owned.add(key)
        return value

    def remove(self, key: _Key) -> None:
        """Remove a value; raises KeyError."""
        del self._items[key]
        self._owned.discard(key)

    def snapshot(self) -> dict[_Key, _Value]:
        """Return what is there now; it stays as it is."""
        self._owned.clear()
        return self._items.copy()

    def restore(self, snapshot: dict[_Key, _Value]) -> None:
        """Put back what was there."""
        self._owned.clear()
        self._items = snapshot.copy()
