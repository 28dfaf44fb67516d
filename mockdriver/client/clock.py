"""The clock of a running mock."""

from __future__ import annotations

from mockdriver.client.connection import Connection
from mockdriver.client.words import Duration, duration
from mockdriver.control.v1 import state_pb2, state_pb2_grpc


class Clock:
    """Reads, moves and stops the clock that transitions, quotas and delays go by."""

    def __init__(self, connection: Connection) -> None:
        self._call = connection.call
        self._stub = state_pb2_grpc.ClockStub(connection.channel)

    def reading(self) -> state_pb2.ClockReading:
        """Return what the clock shows."""
        return self._call(self._stub.GetClock, state_pb2.GetClockRequest())

    def advance(self, by: Duration) -> state_pb2.ClockReading:
        """Move the clock forward, by "30s" or a timedelta."""
        request = state_pb2.AdvanceClockRequest(by=duration(by))
        return self._call(self._stub.AdvanceClock, request)

    def stop(self) -> state_pb2.ClockReading:
        """Let the clock stand still, but for `advance`, until `start`."""
        return self._call(self._stub.StopClock, state_pb2.StopClockRequest())

    def start(self) -> state_pb2.ClockReading:
        """Let a stopped clock go on."""
        return self._call(self._stub.StartClock, state_pb2.StartClockRequest())
