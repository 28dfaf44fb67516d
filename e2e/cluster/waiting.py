"""Waiting for what real programs will do, without sleeping blindly."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_SECONDS = 60.0
"""Long enough for a busy machine and a few retries of a sidecar. Most waits end within two."""

_POLL_SECONDS = 0.05

_Found = TypeVar("_Found")


class NotSeen(AssertionError):
    """What was waited for did not happen."""


def wait_until(
    look: Callable[[], _Found | None], what: str, seconds: float = PATIENCE_SECONDS
) -> _Found:
    """Return the first true thing that `look` finds; raises NotSeen with `what` after `seconds`."""
    give_up_at = time.monotonic() + seconds
    while not (found := look()):
        if time.monotonic() > give_up_at:
            raise NotSeen(f"not within {seconds:g} s: {what}")
        time.sleep(_POLL_SECONDS)
    return found
