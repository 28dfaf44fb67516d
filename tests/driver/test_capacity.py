"""From the bytes that a CO asks for to whole GiB."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from csi_spec import csi_pb2
from mockdriver.driver.capacity import DEFAULT_SIZE_GIB, GIB, choose_size_gib, holds
from mockdriver.driver.errors import CapacityOutOfRange, InvalidField

LARGEST = 2**63 - 1
SMALLEST = -(2**63)

BYTES = (
    st.integers(min_value=0, max_value=40).map(lambda gib: gib * GIB)
    | st.integers(min_value=0, max_value=40 * GIB)
    | st.integers(min_value=SMALLEST, max_value=LARGEST)
)


def capacity_range(required: int = 0, limit: int = 0) -> csi_pb2.CapacityRange:
    return csi_pb2.CapacityRange(required_bytes=required, limit_bytes=limit)


@pytest.mark.parametrize(
    ("required", "limit", "size_gib"),
    [
        (0, 0, DEFAULT_SIZE_GIB),
        (1, 0, 1),
        (GIB - 1, 0, 1),
        (GIB, 0, 1),
        (GIB + 1, 0, 2),
        (7 * GIB, 0, 7),
        (7 * GIB, 7 * GIB, 7),
        (7 * GIB, LARGEST, 7),
        (7 * GIB + 1, 8 * GIB, 8),
        # Only a limit: the default, or what fits.
        (0, 20 * GIB, DEFAULT_SIZE_GIB),
        (0, DEFAULT_SIZE_GIB * GIB, DEFAULT_SIZE_GIB),
        (0, DEFAULT_SIZE_GIB * GIB - 1, DEFAULT_SIZE_GIB - 1),
        (0, GIB, 1),
        (LARGEST, 0, 2**33),
    ],
)
def test_the_size_is_the_smallest_that_will_do(required: int, limit: int, size_gib: int) -> None:
    assert choose_size_gib(capacity_range(required, limit)) == size_gib


@pytest.mark.parametrize(
    ("required", "limit"),
    [
        (0, 1),
        (0, GIB - 1),
        (1, GIB - 1),
        (GIB + 1, 2 * GIB - 1),
        (7 * GIB + 1, 7 * GIB + 1),
        (LARGEST, LARGEST),
    ],
)
def test_a_range_without_a_whole_gib_is_out_of_range(required: int, limit: int) -> None:
    with pytest.raises(CapacityOutOfRange, match=f"between {required} and {limit} bytes"):
        choose_size_gib(capacity_range(required, limit))


@pytest.mark.parametrize("value", [-1, -GIB, SMALLEST])
@pytest.mark.parametrize("field", ["required_bytes", "limit_bytes"])
def test_a_negative_capacity_is_invalid_and_named(field: str, value: int) -> None:
    wanted = csi_pb2.CapacityRange(**{field: value})
    with pytest.raises(InvalidField, match=f"capacity_range.{field}: must not be negative, got"):
        choose_size_gib(wanted)
    with pytest.raises(InvalidField):
        holds(10, wanted)


@pytest.mark.parametrize(("required", "limit"), [(2, 1), (LARGEST, LARGEST - 1), (2 * GIB, GIB)])
def test_a_limit_below_what_is_required_is_invalid(required: int, limit: int) -> None:
    with pytest.raises(InvalidField, match=r"capacity_range\.limit_bytes: is "):
        choose_size_gib(capacity_range(required, limit))


@pytest.mark.parametrize(
    ("size_gib", "required", "limit", "expected"),
    [
        (10, 0, 0, True),
        (10, 10 * GIB, 10 * GIB, True),
        (10, 10 * GIB + 1, 0, False),
        (10, 0, 10 * GIB - 1, False),
        (10, 1, LARGEST, True),
        (10, LARGEST, 0, False),
    ],
)
def test_a_size_is_in_a_range_or_not(
    size_gib: int, required: int, limit: int, expected: bool
) -> None:
    assert holds(size_gib, capacity_range(required, limit)) is expected


@given(BYTES, BYTES)
def test_a_size_that_is_chosen_is_in_the_range(required: int, limit: int) -> None:
    wanted = capacity_range(required, limit)
    try:
        size_gib = choose_size_gib(wanted)
    except InvalidField:
        assert required < 0 or limit < 0 or 0 < limit < required
        return
    except CapacityOutOfRange:
        # Really none: not even the largest size within the limit holds what is required.
        assert limit > 0
        assert limit // GIB * GIB < max(required, 1)
        return
    assert size_gib >= 1
    assert holds(size_gib, wanted)
    # And no smaller one would do, unless the choice was the driver's.
    assert not required or not holds(size_gib - 1, wanted)
