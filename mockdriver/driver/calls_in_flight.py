"""The calls that a driver works on now, so that they can be ended when it stops."""

from __future__ import annotations

from collections.abc import Collection

from mockdriver.cloud import Caller
from mockdriver.driver.errors import DriverStopped


class CallsInFlight:
    """Who is being served. No lock: each change is one step of a dict, as is each look."""

    def __init__(self) -> None:
        self._callers: dict[Caller, None] = {}
        self._stopped = False
        self._waiting_for_end: tuple[Caller, ...] = ()

    def begin(self, caller: Caller) -> None:
        """Note a call that has arrived; raises DriverStopped once the driver has stopped."""
        self._callers[caller] = None
        if self._stopped:
            raise DriverStopped

    def end(self, caller: Caller) -> None:
        """Note that a call has ended, and its record is complete."""
        self._callers.pop(caller, None)
        for waiting in self._waiting_for_end:
            waiting.wake()

    def stop(self) -> Collection[Caller]:
        """Take no more calls and end those that wait, or will wait, with DriverStopped.

        Returns the calls that were in flight. One that waits for nothing is answered as ever.
        """
        self._stopped = True
        stopped = list(self._callers)
        for caller in stopped:
            caller.leave(DriverStopped())
        return stopped

    def wait_until_ended(self, calls: Collection[Caller], caller: Caller) -> None:
        """Return once these calls have ended; raises CallerGone if `caller` leaves before."""
        others, self._waiting_for_end = self._waiting_for_end, (*self._waiting_for_end, caller)
        try:
            while True:
                caller.prepare()
                if not any(call in self._callers for call in calls):
                    return
                caller.wait(None)
        finally:
            self._waiting_for_end = others
