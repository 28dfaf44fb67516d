"""A lock between processes: two terminals may ask for the same installation.

Standard library only.
"""

from __future__ import annotations

import fcntl
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tools.bare_machine import CACHE


@contextmanager
def one_at_a_time(subject: str) -> Iterator[None]:
    """Wait until no other process is inside this block for `subject`, then keep others out."""
    CACHE.mkdir(parents=True, exist_ok=True)
    with (CACHE / f"{subject}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"{subject}: waiting for another process that does this", file=sys.stderr)
            fcntl.flock(file, fcntl.LOCK_EX)  # released with the file, also when we crash
        yield
