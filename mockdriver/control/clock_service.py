"""The Clock service of the control API: time is read, moved, stopped and let go on."""

from __future__ import annotations

from mockdriver.cloud import Caller
from mockdriver.control.checking import checked_value, required
from mockdriver.control.rpc_group import RpcGroup
from mockdriver.control.times import timestamp
from mockdriver.control.v1 import state_pb2
from mockdriver.scenario.kinds import DURATION


class ClockService(RpcGroup):
    """The clock that transitions, quotas and delays go by. It never goes back."""

    def GetClock(
        self, request: state_pb2.GetClockRequest, caller: Caller
    ) -> state_pb2.ClockReading:
        """Read the clock."""
        return self._reading()

    def AdvanceClock(
        self, request: state_pb2.AdvanceClockRequest, caller: Caller
    ) -> state_pb2.ClockReading:
        """Move the clock forward, also while it is stopped."""
        required(request, "by")
        self._world.runtime.advance(checked_value(DURATION, request.by, "by"))
        return self._reading()

    def StopClock(
        self, request: state_pb2.StopClockRequest, caller: Caller
    ) -> state_pb2.ClockReading:
        """Let the clock stand still, but for AdvanceClock."""
        self._world.runtime.stop_clock()
        return self._reading()

    def StartClock(
        self, request: state_pb2.StartClockRequest, caller: Caller
    ) -> state_pb2.ClockReading:
        """Let the clock go on from where it stands."""
        self._world.runtime.start_clock()
        return self._reading()

    def _reading(self) -> state_pb2.ClockReading:
        runtime = self._world.runtime
        seconds = runtime.now()
        return state_pb2.ClockReading(
            now=timestamp(runtime.epoch_seconds + seconds),
            seconds=seconds,
            stopped=runtime.clock_is_stopped(),
        )
