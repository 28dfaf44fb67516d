"""The services of a world."""

from __future__ import annotations

from mockdriver.control.clock_service import ClockService
from mockdriver.control.cloud_service import CloudService
from mockdriver.control.faults_service import FaultsService
from mockdriver.control.journal_service import JournalService
from mockdriver.control.services import ControlServices
from mockdriver.control.state_service import StateService
from mockdriver.control.world import World


def control_services(world: World) -> ControlServices:
    """Return all services of the control API over a world."""
    return ControlServices(
        world.runtime,
        [
            CloudService(world),
            FaultsService(world.faults, world.runtime),
            JournalService(world.journal, world.runtime),
            StateService(world),
            ClockService(world),
        ],
    )
