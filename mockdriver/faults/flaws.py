"""What is wrong with a fault, as data: whoever shows it chooses the words and the suggestions."""

from __future__ import annotations

from typing import NamedTuple

from mockdriver.cloud.errors import quoted

Place = tuple[str | int, ...]
"""Where in the fault something is: a key, and what is inside of it."""


class UnknownWord(NamedTuple):
    """Nothing of a kind has this name; `known` is what there is."""

    kind: str
    given: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return f"unknown {self.kind} {quoted(self.given)}, allowed: {', '.join(self.known[:20])}"


class BadText(NamedTuple):
    """A text is not what is allowed."""

    given: str
    allowed: str

    def __str__(self) -> str:
        return f"{quoted(self.given)} is not allowed, allowed: {self.allowed}"


class BadFit(NamedTuple):
    """Keys do not go together, or a value is none for its place. The text says it all."""

    text: str

    def __str__(self) -> str:
        return self.text


Flaw = UnknownWord | BadText | BadFit


class FlawAt(NamedTuple):
    """A flaw, and where in the fault it is: with the value there, or with its key."""

    place: Place
    flaw: Flaw
    at_key: bool = False

    def __str__(self) -> str:
        return f"{'.'.join(map(str, self.place)) or 'fault'}: {self.flaw}"
