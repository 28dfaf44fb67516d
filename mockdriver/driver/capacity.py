"""Capacity ranges: from the bytes that a CO asks for to the GiB that the cloud sells."""

from __future__ import annotations

from csi_spec import csi_pb2
from mockdriver.driver.errors import CapacityOutOfRange, InvalidField

GIB = 1024**3
DEFAULT_SIZE_GIB = 10


def choose_size_gib(wanted: csi_pb2.CapacityRange) -> int:
    """Return the size of a new disk for a capacity range, 10 GiB where it leaves the choice.

    The smallest whole number of GiB that holds `required_bytes`, within `limit_bytes` (CSI spec,
    CapacityRange). Raises InvalidField, and CapacityOutOfRange if no whole number fits.
    """
    check_range(wanted)
    required, limit = wanted.required_bytes, wanted.limit_bytes
    size_gib = -(-required // GIB) if required else DEFAULT_SIZE_GIB
    if limit and size_gib * GIB > limit:
        if required or limit < GIB:
            raise CapacityOutOfRange(
                f"capacity_range: disks have whole GiB, none between {required} and {limit} bytes"
            )
        size_gib = limit // GIB
    return size_gib


def holds(size_gib: int, wanted: csi_pb2.CapacityRange) -> bool:
    """Tell whether a disk of this size lies in the capacity range; raises InvalidField."""
    check_range(wanted)
    size_bytes = size_gib * GIB
    return wanted.required_bytes <= size_bytes and not 0 < wanted.limit_bytes < size_bytes


def check_range(wanted: csi_pb2.CapacityRange) -> None:
    """Raise InvalidField for a range that no size can satisfy."""
    for field in ("required_bytes", "limit_bytes"):
        value = getattr(wanted, field)
        if value < 0:
            raise InvalidField(f"capacity_range.{field}", f"must not be negative, got {value}")
    if 0 < wanted.limit_bytes < wanted.required_bytes:
        raise InvalidField(
            "capacity_range.limit_bytes",
            f"is {wanted.limit_bytes}, less than required_bytes, {wanted.required_bytes}",
        )
