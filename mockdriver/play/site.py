"""Where a story is played: a server with its control API, and a clock."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Protocol, Self

from mockdriver.client import ControlClient
from mockdriver.co.csi_client import CsiClient
from mockdriver.runtime import Runtime

AT_ONCE = 900
"""So many calls of a story are in flight together: one more than the server has threads would wait
for a thread while the clock waits for it."""


class NotServed(Exception):
    """The server has no socket for something that the story needs; the text says what to do."""


class Site(Protocol):
    """A server that a story is played against. It runs from `__enter__` to `__exit__`."""

    @property
    def runtime(self) -> Runtime:
        """The clock that the CO's own pauses go by, and what its waiting is counted with."""

    @property
    def control(self) -> ControlClient:
        """The server's control API."""

    @property
    def is_fresh(self) -> bool:
        """Whether it begins as the story's scenario says, and with nothing else."""

    def __enter__(self) -> Self:
        """Make the server ready for the story."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Leave it."""

    def controller(self) -> CsiClient:
        """Return a connection to the Controller service; raises NotServed."""

    def node(self, node_id: str) -> CsiClient:
        """Return a connection to the Node service of a node; raises NotServed."""

    def settle(self, in_flight: Callable[[], int]) -> None:
        """Wait until the story's calls that are in flight are there, and go no further by now."""

    def wait_until_in_flight(self, most: int) -> None:
        """Wait until the driver works on so many calls at most: it has noticed who left."""
