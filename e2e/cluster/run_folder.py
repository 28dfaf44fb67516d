"""The folder of one run: short enough for Unix sockets, and removed whatever happens.

A run that is killed cannot remove its folder; the next one does. A lock tells whether a run still
lives: the kernel releases it when the process ends.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from e2e.cluster.signals import held_back
from mockdriver.client.endpoint import temporary_place
from tools.bare_machine import CACHE

KEPT_LOGS = CACHE / "kubernetes" / "logs"
"""Where logs of runs that failed are."""

_PREFIX = "mock-e2e-"
_LOCK = "lock"
_RUNS_KEPT = 5
_LONGEST_PARENT_BYTES = 20
"""A socket's path has at most 107 bytes, and most of them are needed below this folder."""


class RunFolder:
    """A folder with a subfolder for logs."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.logs = path / "logs"
        self.logs.mkdir()
        self._keep_logs = False

    def keep_logs(self) -> None:
        """Let the logs survive: something went wrong."""
        self._keep_logs = True

    def move_logs(self) -> Path | None:
        """Move the logs to where they are kept, if they are to be; return where they are now."""
        if not self._keep_logs:
            return None
        KEPT_LOGS.mkdir(parents=True, exist_ok=True)
        for old in sorted(KEPT_LOGS.iterdir())[: 1 - _RUNS_KEPT]:
            shutil.rmtree(old, ignore_errors=True)
        target = KEPT_LOGS / f"{time.strftime('%Y%m%d-%H%M%S')}-{os.getpid()}"
        shutil.move(self.logs, target)
        return target


@contextmanager
def run_folder() -> Iterator[RunFolder]:
    """Make a folder that is there while the block runs; remove those of runs that were killed."""
    parent = _parent()
    _sweep(parent)
    path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    try:
        # Renamed when it is held: a lock that another process finds is never a free one of ours.
        with (path / "new-lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (path / "new-lock").rename(path / _LOCK)
            yield RunFolder(path)
    finally:
        with held_back():
            shutil.rmtree(path, ignore_errors=True)


def _parent() -> Path:
    return Path(temporary_place(_LONGEST_PARENT_BYTES))


def _sweep(parent: Path) -> None:
    for path in parent.glob(f"{_PREFIX}*"):
        try:
            with (path / _LOCK).open("r+") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(path, ignore_errors=True)
        except OSError:
            continue  # it lives, is just being made, or belongs to somebody else
