"""The guard that lets one call at a time change an object."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mockdriver.driver.errors import OperationPending
from mockdriver.driver.in_flight import InFlight, InFlightKey
from mockdriver.runtime import VirtualRuntime

WHOLE = InFlightKey("volume", "vol-1")
ON_NODE_1 = InFlightKey("volume", "vol-1", "i-1")
ON_NODE_2 = InFlightKey("volume", "vol-1", "i-2")


def guard(*held: InFlightKey) -> InFlight:
    """Return a guard with keys that calls hold."""
    in_flight = InFlight(VirtualRuntime())
    for key in held:
        in_flight.claim(key)
    return in_flight


@pytest.mark.parametrize("key", [WHOLE, ON_NODE_1])
def test_a_key_cannot_be_held_twice(key: InFlightKey) -> None:
    with pytest.raises(OperationPending, match="another call on the volume 'vol-1' is in flight"):
        guard(key).claim(key)


def test_two_parts_of_one_object_get_along() -> None:
    guard(ON_NODE_1).claim(ON_NODE_2)


def test_the_whole_conflicts_with_each_of_its_parts() -> None:
    for part in (ON_NODE_1, ON_NODE_2):
        with pytest.raises(OperationPending):
            guard(WHOLE).claim(part)
        with pytest.raises(OperationPending):
            guard(part).claim(WHOLE)


@pytest.mark.parametrize(
    "other",
    [
        InFlightKey("volume", "vol-2"),
        InFlightKey("volume name", "vol-1"),
        InFlightKey("volume name", "vol-1", "i-1"),
    ],
)
def test_other_objects_and_other_kinds_are_not_in_the_way(other: InFlightKey) -> None:
    in_flight = guard(WHOLE)
    in_flight.claim(other)
    in_flight.release(WHOLE)
    in_flight.claim(WHOLE)


def test_a_key_that_was_given_back_can_be_taken_again() -> None:
    in_flight = guard(WHOLE)
    in_flight.release(WHOLE)
    in_flight.claim(ON_NODE_1)
    in_flight.release(ON_NODE_1)
    in_flight.claim(WHOLE)


def test_the_whole_is_free_only_when_the_last_part_is() -> None:
    in_flight = guard(ON_NODE_1, ON_NODE_2)
    in_flight.release(ON_NODE_1)
    with pytest.raises(OperationPending):
        in_flight.claim(WHOLE)
    in_flight.release(ON_NODE_2)
    in_flight.claim(WHOLE)


def test_a_refused_claim_changes_nothing() -> None:
    in_flight = guard(ON_NODE_1)
    with pytest.raises(OperationPending):
        in_flight.claim(WHOLE)
    in_flight.claim(ON_NODE_2)


def test_nothing_is_kept_of_keys_that_were_given_back() -> None:
    in_flight = guard(WHOLE)
    in_flight.release(WHOLE)
    assert in_flight._held == {}


KEYS = st.builds(
    InFlightKey,
    kind=st.sampled_from(["volume", "volume name"]),
    id=st.sampled_from(["vol-1", "vol-2"]),
    part=st.none() | st.sampled_from(["i-1", "i-2"]),
)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.booleans(), KEYS), max_size=30))
def test_a_claim_is_refused_exactly_when_a_held_key_is_in_the_way(
    steps: list[tuple[bool, InFlightKey]],
) -> None:
    in_flight, held = guard(), set[InFlightKey]()
    for release, key in steps:
        if release:
            if key in held:
                held.remove(key)
                in_flight.release(key)
            continue
        in_the_way = any(
            (other.kind, other.id) == (key.kind, key.id)
            and (None in (other.part, key.part) or other.part == key.part)
            for other in held
        )
        if in_the_way:
            with pytest.raises(OperationPending):
                in_flight.claim(key)
        else:
            in_flight.claim(key)
            held.add(key)
