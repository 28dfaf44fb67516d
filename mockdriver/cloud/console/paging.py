"""Pages of a list whose items have places in the order in which they came."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, NamedTuple, TypeVar

_Item = TypeVar("_Item")


class Page(NamedTuple, Generic[_Item]):
    """Some of the items that match; `total` is how many do in all.

    `next_place` is what the next page comes after, None on the last one.
    """

    items: list[_Item]
    next_place: int | None
    total: int


def page_of(
    places: Iterable[tuple[int, _Item]],
    matches: Callable[[_Item], bool],
    *,
    after: int,
    limit: int,
) -> Page[_Item]:
    """Return up to `limit` of the items that match, those in places after `after`."""
    found = [entry for entry in places if matches(entry[1])]
    later = [entry for entry in found if entry[0] > after]
    page = later[:limit]
    return Page(
        items=[item for _, item in page],
        next_place=page[-1][0] if len(later) > limit else None,
        total=len(found),
    )
