"""Waiting for what another process or thread will do, without sleeping blindly."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

PATIENCE_SECONDS = 60.0
"""Long enough for a busy machine. A test that passes never waits so long."""

_POLL_SECONDS = 0.01

_Found = TypeVar("_Found")


def wait_until(look: Callable[[], _Found], what: str) -> _Found:
    """Return the first true thing that `look` finds; fails with `what` when patience ends."""
    give_up_at = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < give_up_at, f"not within {PATIENCE_SECONDS:g} s: {what}"
        time.sleep(_POLL_SECONDS)
    return found
