"""Patterns of text with `*` and `?`, as in a shell."""

from __future__ import annotations

import re
from collections.abc import Iterator

_Piece = list[str | None]
"""The characters between two stars; None is any one."""


class Pattern:
    r"""A text to compare with: `*` stands for any text, `?` for one character, `\*` for a star.

    Matching takes at most the product of both lengths, whatever the pattern: it is cut at its
    stars, and each piece is looked for once, from left to right.
    """

    __slots__ = ("_exact", "_middle", "_prefix", "_suffix", "_suffix_length", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        first, *rest = _pieces(text)
        is_plain = not rest and None not in first
        self._exact = "".join(item or "" for item in first) if is_plain else None
        self._prefix = _compiled(first)
        self._middle = tuple(_compiled(piece) for piece in rest[:-1] if piece)
        self._suffix = _compiled(rest[-1]) if rest else None
        self._suffix_length = len(rest[-1]) if rest else 0

    @property
    def exact(self) -> str | None:
        """The only text that matches; None if there may be several."""
        return self._exact

    def matches(self, text: str) -> bool:
        """Tell whether all of `text` is as the pattern says."""
        if self._exact is not None:
            return text == self._exact
        if self._suffix is None:
            return self._prefix.fullmatch(text) is not None
        found = self._prefix.match(text)
        if found is None:
            return False
        for piece in self._middle:
            found = piece.search(text, found.end())
            if found is None:
                return False
        rest = len(text) - self._suffix_length
        return rest >= found.end() and self._suffix.match(text, rest) is not None

    def __repr__(self) -> str:
        return f"Pattern({self.text!r})"


def _pieces(text: str) -> list[_Piece]:
    pieces: list[_Piece] = [[]]
    characters = iter(text)
    for character in characters:
        if character == "*":
            pieces.append([])
        else:
            pieces[-1].append(_one(character, characters))
    return pieces


def _one(character: str, rest: Iterator[str]) -> str | None:
    if character == "\\":
        return next(rest, "\\")  # a backslash that ends the pattern is one
    return None if character == "?" else character


def _compiled(piece: _Piece) -> re.Pattern[str]:
    return re.compile(
        "".join("." if item is None else re.escape(item) for item in piece), re.DOTALL
    )
