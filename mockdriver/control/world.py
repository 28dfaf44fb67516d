"""The whole of a running mock: scenario, cloud, record of calls, driver."""

from __future__ import annotations

from mockdriver.cloud import Cloud
from mockdriver.driver.driver import Driver
from mockdriver.faults.engine import FaultEngine
from mockdriver.journal import Journal
from mockdriver.runtime import Runtime
from mockdriver.scenario.load import LoadedScenario


class World:
    """What the control API reads and changes. The cloud outlives the driver in front of it."""

    def __init__(
        self,
        runtime: Runtime,
        loaded: LoadedScenario,
        cloud: Cloud,
        journal: Journal,
        faults: FaultEngine,
        driver: Driver,
    ) -> None:
        self.runtime = runtime
        self.loaded = loaded
        self.cloud = cloud
        self.journal = journal
        self.faults = faults
        self.driver = driver
