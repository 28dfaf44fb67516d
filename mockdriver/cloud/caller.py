"""Whoever calls the cloud: someone who can wait, be woken, and leave."""

from __future__ import annotations

from collections.abc import Callable

from mockdriver.cloud.errors import CallerGone
from mockdriver.runtime import Event, Runtime


class Caller:
    """One call's way to wait.

    `on_first_wait` is run once, before the first wait: it lets the edge find out about a peer
    that hangs up only for those calls that wait at all.
    """

    __slots__ = ("_on_first_wait", "_runtime", "_wake", "gone")

    def __init__(
        self, runtime: Runtime, on_first_wait: Callable[[Caller], None] | None = None
    ) -> None:
        self._runtime = runtime
        self._on_first_wait = on_first_wait
        self._wake: Event | None = None
        self.gone = False

    def wake(self) -> None:
        """End the wait that this caller is in, if it is in one."""
        if self._wake is not None:
            self._wake.set()

    def leave(self) -> None:
        """Mark the caller as gone and end its wait."""
        self.gone = True
        self.wake()

    def prepare(self) -> None:
        """Forget earlier wake-ups; what happens from now on ends the next wait.

        Called before looking at the state that the wait is for, so that no change is missed.
        """
        if self._wake is None:
            self._wake = self._runtime.event()
            if self._on_first_wait is not None:
                self._on_first_wait(self)
        self._wake.clear()
        self._raise_if_gone()

    def wait(self, until_seconds: float | None) -> None:
        """Wait until woken or until the clock reads `until_seconds`.

        Raises CallerGone if the caller has left.
        """
        assert self._wake is not None, "prepare() comes first"
        self._runtime.wait(self._wake, until_seconds)
        self._raise_if_gone()

    def sleep_until(self, moment_seconds: float) -> None:
        """Let time pass until the clock reads `moment_seconds`; raises CallerGone."""
        while self._runtime.now() < moment_seconds:
            self.prepare()
            self.wait(moment_seconds)

    def _raise_if_gone(self) -> None:
        if self.gone:
            raise CallerGone("the caller has left")
