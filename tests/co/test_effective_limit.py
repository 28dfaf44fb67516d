"""The formula of KEP-6011, "volume classification"."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockdriver.co.effective_limit import effective_limit

IDS = st.lists(st.text("abcd", max_size=2), max_size=12)
LIMITS = st.integers(min_value=1, max_value=2**63 - 1) | st.integers(min_value=1, max_value=12)


def of_the_co(count: int) -> list[str]:
    return [f"vol-csi-{n}" for n in range(1, count + 1)]


def limit_of(max_volumes_per_node: int, published: list[str], managed: list[str]) -> int:
    """Return the limit of a node that has one."""
    limit = effective_limit(max_volumes_per_node, published, set(managed))
    assert limit is not None
    return limit


def test_the_example_of_the_kep_comes_out_to_the_number() -> None:
    # 25 slots less 2 interfaces; boot and manual disk are not the CO's, 8 others are.
    published = ["vol-boot", "vol-manual", *of_the_co(8)]
    assert effective_limit(23, published, set(of_the_co(8))) == 21


def test_the_ids_of_a_co_that_are_not_attached_change_nothing() -> None:
    assert limit_of(23, ["vol-boot"], of_the_co(30)) == 22


def test_without_a_list_the_limit_is_the_reported_one() -> None:
    assert limit_of(23, [], of_the_co(8)) == 23


def test_an_id_that_is_listed_twice_is_one_volume() -> None:
    assert limit_of(5, ["vol-manual", "vol-manual"], []) == 4


@pytest.mark.parametrize("published", [[], ["vol-manual"], of_the_co(40)])
def test_a_limit_of_zero_is_unset_whatever_is_attached(published: list[str]) -> None:
    assert effective_limit(0, published, set()) is None


@pytest.mark.parametrize(("attached", "expected"), [(2, 1), (3, 0), (4, 0), (400, 0)])
def test_the_limit_stops_at_zero(attached: int, expected: int) -> None:
    assert limit_of(3, of_the_co(attached), []) == expected


def test_zero_left_is_a_limit_and_not_unset() -> None:
    assert effective_limit(1, ["vol-manual"], set()) is not None


@given(LIMITS, IDS, IDS)
def test_the_limit_is_between_zero_and_what_is_reported(
    reported: int, published: list[str], managed: list[str]
) -> None:
    assert 0 <= limit_of(reported, published, managed) <= reported


@given(LIMITS, IDS, IDS, st.data())
def test_order_and_duplicates_do_not_matter(
    reported: int, published: list[str], managed: list[str], data: st.DataObject
) -> None:
    shuffled = data.draw(st.permutations([*published, *published]))
    assert limit_of(reported, shuffled, managed) == limit_of(reported, published, managed)


@given(LIMITS, IDS, IDS, st.text("abcd", max_size=2))
def test_a_volume_that_the_co_knows_never_lowers_the_limit(
    reported: int, published: list[str], managed: list[str], known: str
) -> None:
    managed = [*managed, known]
    assert limit_of(reported, [*published, known], managed) == limit_of(
        reported, published, managed
    )


@given(LIMITS, IDS, IDS)
def test_each_volume_that_the_co_does_not_know_takes_one_until_none_is_left(
    reported: int, published: list[str], managed: list[str]
) -> None:
    before = limit_of(reported, published, managed)
    after = limit_of(reported, [*published, "new"], managed)
    assert after == max(0, before - 1)
