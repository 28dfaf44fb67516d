"""From a scenario to a cloud, a driver's configuration and a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import mockdriver
from mockdriver.cloud import Cloud
from mockdriver.control.composing import control_services
from mockdriver.control.world import World
from mockdriver.driver.attachment_tags import PUBLISHED_AT_START
from mockdriver.driver.calls import EndProcess
from mockdriver.driver.capabilities import Capabilities, Capability
from mockdriver.driver.context import DriverConfig, NodeInfoReply, NodeMounts
from mockdriver.driver.driver import Driver
from mockdriver.driver.mounts.mount_table import MountTables
from mockdriver.faults.engine import FaultEngine
from mockdriver.journal import Entry, Journal
from mockdriver.journal.journal import DEFAULT_CAPACITY
from mockdriver.runtime import Runtime
from mockdriver.scenario import build
from mockdriver.scenario.driver_model import DriverModel
from mockdriver.scenario.load import LoadedScenario
from mockdriver.server import ready_file
from mockdriver.server.listening import Announcement, ListeningPlan
from mockdriver.server.mock_server import MockServer


@dataclass(frozen=True)
class DriverOverrides:
    """What the command line says about the driver; it beats the scenario."""

    name: str | None = None
    node_info_reply: str | None = None
    node_mounts: NodeMounts = NodeMounts.DIRECTORY
    switches: Mapping[Capability, bool] = field(default_factory=dict)
    numbers: Mapping[Capability, int] = field(default_factory=dict)


NO_OVERRIDES = DriverOverrides()


def make_cloud(loaded: LoadedScenario, runtime: Runtime) -> Cloud:
    """Return a cloud in the state that the scenario describes."""
    return build.build(loaded, runtime, published_tags=PUBLISHED_AT_START)


def driver_config(driver: DriverModel, overrides: DriverOverrides = NO_OVERRIDES) -> DriverConfig:
    """Return the driver's configuration: the overrides, else the scenario, else the defaults."""
    switches = {
        Capability(service, name): on for service, name, on in driver.capabilities.switches()
    }
    return DriverConfig(
        name=overrides.name or driver.name,
        vendor_version=mockdriver.__version__,
        capabilities=Capabilities({**switches, **overrides.switches}, overrides.numbers),
        node_info_reply=NodeInfoReply(overrides.node_info_reply or driver.node_info_reply),
        node_mounts=overrides.node_mounts,
    )


def make_server(
    loaded: LoadedScenario,
    cloud: Cloud,
    runtime: Runtime,
    overrides: DriverOverrides = NO_OVERRIDES,
    on_call: Callable[[Entry], None] | None = None,
    journal_size: int = DEFAULT_CAPACITY,
    *,
    end_process: EndProcess | None = None,
) -> MockServer:
    """Return a server for the scenario's driver over a cloud; it does not listen yet.

    `on_call` sees each call as it ends; the newest `journal_size` calls are remembered.
    `end_process` ends the process for a fault; without it only the call ends.
    """
    journal = Journal(runtime, capacity=journal_size, on_end=on_call)
    faults = FaultEngine(runtime, loaded.faults)

    def make_driver(loaded: LoadedScenario, mounts: MountTables) -> Driver:
        config = driver_config(loaded.driver, overrides)
        return Driver(config, cloud, runtime, journal, faults, end_process, mounts)

    world = World(runtime, loaded, cloud, journal, faults, make_driver)
    return MockServer(world, control_services(world))


def make_registration(
    server: MockServer, plan: ListeningPlan, folder: str, csi_socket: str | None
) -> Announcement:
    """Return what registers a server's nodes with kubelets; raises EndpointMistake.

    `folder` and `csi_socket` are what --kubelet-registration-dir and --kubelet-csi-socket say.
    """
    # Here, so that a server that registers with no kubelet starts as fast as before.
    from mockdriver.server.kubelet_registration import KubeletRegistration  # noqa: PLC0415
    from mockdriver.server.registration_plan import plan_registrations  # noqa: PLC0415

    registrations = plan_registrations(
        plan, folder=folder, csi_socket=csi_socket, driver_name=server.name
    )
    return KubeletRegistration(registrations, server.name, server.journal)


def make_ready_file(
    server: MockServer,
    loaded: LoadedScenario,
    plan: ListeningPlan,
    path: Path,
    urls: Mapping[str, str | None],
) -> Announcement:
    """Return what writes the file of --ready-file; raises EndpointMistake.

    `urls` are those of the HTTP servers.
    """
    said = ready_file.contents(plan, driver_name=server.name, scenario=loaded.name, urls=urls)
    return ready_file.ReadyFile(path, said)
