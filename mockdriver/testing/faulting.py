"""Faults and barriers that last as long as a test wants them to."""

from __future__ import annotations

from types import TracebackType
from typing import Self

import grpc

from mockdriver.client import ControlError, Faults
from mockdriver.control.v1 import faults_pb2


class ActiveFault:
    """A fault of a running mock. In a `with` block it is removed at the end of it."""

    def __init__(self, faults: Faults, fault: faults_pb2.Fault) -> None:
        self._faults = faults
        self.name = fault.name

    @property
    def matched(self) -> int:
        """How many calls it matched so far, its count, times and chance aside."""
        return self._faults.get(self.name).matched

    @property
    def acted(self) -> int:
        """How many calls it acted on so far."""
        return self._faults.get(self.name).acted

    def remove(self) -> None:
        """Remove it; one that is not there any more is no mistake."""
        try:
            self._faults.delete(self.name)
        except ControlError as error:
            if error.code is not grpc.StatusCode.NOT_FOUND:
                raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        try:
            self.remove()
        except ControlError:
            # A server that has died is why the block failed, and no more than that.
            if error is None:
                raise

    def __repr__(self) -> str:
        return f"<fault {self.name}>"


class Held(ActiveFault):
    """Calls that are held at a barrier: those that come until the block ends, or until `remove()`.

    Then those that are still held go on.
    """

    def __init__(self, faults: Faults, fault: faults_pb2.Fault) -> None:
        super().__init__(faults, fault)
        self._barrier = fault.hold

    @property
    def count(self) -> int:
        """How many calls are held now."""
        return sum(
            barrier.held for barrier in self._faults.barriers() if barrier.name == self._barrier
        )

    def wait_for(self, calls: int = 1, *, timeout_seconds: float = 10.0) -> faults_pb2.Barrier:
        """Return once so many calls are held.

        Raises ControlError with DEADLINE_EXCEEDED if they are not in time.
        """
        return self._faults.wait_for_held(self._barrier, calls, timeout_seconds=timeout_seconds)

    def release(self, calls: int = 0) -> int:
        """Let calls go on, the longest held first: so many, or all; return how many.

        Those that come later are held as before.
        """
        return self._faults.release(self._barrier, calls)

    def __repr__(self) -> str:
        return f"<held at {self._barrier}>"
