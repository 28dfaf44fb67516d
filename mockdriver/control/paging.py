"""Pages and patterns of the control API's lists."""

from __future__ import annotations

from collections.abc import Callable

from mockdriver.control.checking import checked_value
from mockdriver.control.errors import InvalidRequest
from mockdriver.faults.pattern import Pattern
from mockdriver.scenario.kinds import whole_number
from mockdriver.scenario.mistakes import quoted

DEFAULT_PAGE_SIZE = 1_000
MAX_PAGE_SIZE = 5_000
"""A page of so many full instances stays far below what a gRPC client receives by default only if
they have few disks; whoever asks for more than the default has chosen his limits himself."""

_PAGE_SIZE = whole_number(0, MAX_PAGE_SIZE)
_MOST_DIGITS = 18


def page_size(given: int) -> int:
    """Return how many items a page has at most; raises InvalidRequest."""
    size: int = checked_value(_PAGE_SIZE, given, "page_size")
    return size or DEFAULT_PAGE_SIZE


def place_of(token: str, last_place: int) -> int:
    """Return the place after which a page begins; raises InvalidRequest for a made-up token."""
    if not token:
        return 0
    if token.isascii() and token.isdecimal() and len(token) <= _MOST_DIGITS:
        place = int(token)
        if 0 < place <= last_place and str(place) == token:
            return place
    raise InvalidRequest([("page_token", f"{quoted(token)} is no next_page_token of this server")])


def next_token(place: int | None) -> str:
    """Return the token of the next page; empty after the last one."""
    return "" if place is None else str(place)


def pattern(text: str) -> Callable[[str], bool]:
    """Return a function that tells whether an id matches; * and ? are as in a shell.

    Without a text every id matches.
    """
    return Pattern(text or "*").matches
