"""A typed client of the control API; it knows a mock by its socket only.

    from mockdriver.client import ControlClient

    with ControlClient("unix:///tmp/mockdriver.sock") as control:
        control.cloud.attach("i-worker-1", "vol-by-hand")
        control.faults.add(rpc="ControllerGetNodeInfo", code="UNAVAILABLE", times=2)
        control.calls.wait(rpc="ControllerGetNodeInfo", count=3)

It needs the protos of mockdriver.control.v1 and gRPC, and nothing of CSI.
"""

from mockdriver.client.calls import (
    Call,
    CallConditions,
    CallFilter,
    Calls,
    CallsNotAsExpected,
    CloudCall,
    Expectation,
    Watch,
)
from mockdriver.client.clock import Clock
from mockdriver.client.cloud import Cloud
from mockdriver.client.connection import DEADLINE_SECONDS, Connection
from mockdriver.client.control_client import ControlClient
from mockdriver.client.endpoint import EndpointMistake
from mockdriver.client.errors import CallFailed, ControlError
from mockdriver.client.faults import FaultConditions, FaultFields, Faults
from mockdriver.client.state import State

__all__ = [
    "DEADLINE_SECONDS",
    "Call",
    "CallConditions",
    "CallFailed",
    "CallFilter",
    "Calls",
    "CallsNotAsExpected",
    "Clock",
    "Cloud",
    "CloudCall",
    "Connection",
    "ControlClient",
    "ControlError",
    "EndpointMistake",
    "Expectation",
    "FaultConditions",
    "FaultFields",
    "Faults",
    "State",
    "Watch",
]
