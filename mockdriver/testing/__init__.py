"""A mock that a test holds by the hand, in any Python program; pytest has fixtures of it besides.

    import mockdriver.testing

    with mockdriver.testing.start("kep-6011-example") as driver:
        driver.fail("ControllerGetNodeInfo", code="UNAVAILABLE", times=2)
        run_my_orchestrator(driver.endpoint)
        assert driver.calls("ControllerGetNodeInfo").count == 3

It runs `mockdriver serve` as a process of its own, and knows it by its socket only.
"""

from mockdriver.client import CallFailed, CallsNotAsExpected, ControlError
from mockdriver.testing.calls_seen import CallsSeen
from mockdriver.testing.csi_stubs import CsiStubs, CsiStubsCollide
from mockdriver.testing.driver import Driver, running, start
from mockdriver.testing.faulting import ActiveFault, Held
from mockdriver.testing.options import ServeOptions
from mockdriver.testing.process import StartFailed
from mockdriver.testing.scenario_source import Scenario

__all__ = [
    "ActiveFault",
    "CallFailed",
    "CallsNotAsExpected",
    "CallsSeen",
    "ControlError",
    "CsiStubs",
    "CsiStubsCollide",
    "Driver",
    "Held",
    "Scenario",
    "ServeOptions",
    "StartFailed",
    "running",
    "start",
]
