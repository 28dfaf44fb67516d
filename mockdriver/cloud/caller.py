"""Whoever calls the cloud: someone who can wait, be woken, and leave."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mockdriver.cloud.errors import CallerGone
from mockdriver.runtime import Event, Runtime


class Caller:
    """One call's way to wait.

    `on_first_wait` is run once, before the first wait: it lets the edge find out about a peer
    that hangs up only for those calls that wait at all.
    """

    __slots__ = ("_events", "_on_first_wait", "_reason", "_runtime", "gone")

    def __init__(
        self, runtime: Runtime, on_first_wait: Callable[[Caller], None] | None = None
    ) -> None:
        self._runtime = runtime
        self._on_first_wait = on_first_wait
        # What a wake-up sets; the last one is waited for. Replaced whole, never changed: another
        # thread sees it as it was or as it is.
        self._events: tuple[Event, ...] = ()
        self._reason: CallerGone | None = None
        self.gone = False

    def wake(self) -> None:
        """End the wait that this caller is in, if it is in one."""
        for event in self._events:
            event.set()

    def leave(self, reason: CallerGone | None = None) -> None:
        """Mark the caller as gone and end its wait, with `reason` if it is given."""
        if not self.gone:
            self._reason = reason
            self.gone = True
        self.wake()

    def prepare(self) -> None:
        """Forget earlier wake-ups; what happens from now on ends the next wait.

        Called before looking at the state that the wait is for, so that no change is missed.
        """
        if not self._events:
            self._events = (self._runtime.event(),)
            if self._on_first_wait is not None:
                self._on_first_wait(self)
        self._events[-1].clear()
        self._raise_if_gone()

    def wait(self, until_seconds: float | None) -> None:
        """Wait until woken or until the clock reads `until_seconds`.

        Raises CallerGone if the caller has left.
        """
        assert self._events, "prepare() comes first"
        self._runtime.wait(self._events[-1], until_seconds)
        self._raise_if_gone()

    def sleep_until(self, moment_seconds: float) -> None:
        """Let time pass until the clock reads `moment_seconds`; raises CallerGone."""
        while self._runtime.now() < moment_seconds:
            self.prepare()
            self.wait(moment_seconds)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Let the caller wait for something else in the midst of another wait, after its look.

        Wake-ups that come while the block runs end the other wait too: without that, `prepare()`
        in the block would forget them.
        """
        outer = self._events
        if outer:
            self._events = (*outer, self._runtime.event())
        try:
            yield
        finally:
            if outer:  # else nothing around the block has looked at anything yet
                self._events = outer

    def _raise_if_gone(self) -> None:
        if self.gone:
            raise self._reason or CallerGone("the caller has left")
