"""How many resources use something that has a name."""

from __future__ import annotations


class Users:
    """A number of users by name; a name that nobody uses is not kept."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def __getitem__(self, name: str) -> int:
        return self._counts.get(name, 0)

    def count(self, name: str, by: int) -> None:
        """Add `by` users."""
        number = self._counts.get(name, 0) + by
        if number:
            self._counts[name] = number
        else:
            self._counts.pop(name, None)

    def snapshot(self) -> dict[str, int]:
        """Return the numbers as they are now."""
        return self._counts.copy()

    def restore(self, snapshot: dict[str, int]) -> None:
        """Put the numbers back."""
        self._counts = snapshot.copy()
