"""Moments as messages."""

from __future__ import annotations

from google.protobuf.timestamp_pb2 import Timestamp


def timestamp(epoch_seconds: float) -> Timestamp:
    """Return a moment, in UTC seconds since 1970, as a message."""
    return Timestamp(
        seconds=int(epoch_seconds // 1), nanos=min(999_999_999, round(epoch_seconds % 1 * 1e9))
    )
