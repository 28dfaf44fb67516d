"""What the parts of the console have in common."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from mockdriver.cloud.core import CloudCore
from mockdriver.cloud.store import Store

_Answer = TypeVar("_Answer")


class ConsolePart:
    """What can be done to one kind of resource; each method is one change at one moment."""

    def __init__(self, core: CloudCore) -> None:
        self._core = core

    def _change(self, work: Callable[[Store, float], _Answer]) -> _Answer:
        return self._core.change(work)
