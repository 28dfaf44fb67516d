"""What a shell can complete: names of the program, and ids that the running server knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from mockdriver.cli.ctl.asking import DEFAULT_ENDPOINT
from mockdriver.cloud import API_NAMES
from mockdriver.scenario.code_names import CODES

if TYPE_CHECKING:
    from mockdriver.client import ControlClient

Completion = Callable[[click.Context, click.Parameter, str], list[str]]

_PATIENCE_SECONDS = 1.0
_MOST = 200


def _starting_with(names: Iterable[str], incomplete: str) -> list[str]:
    return [name for name in names if name.startswith(incomplete)]


def _known_to_the_server(ask: Callable[[ControlClient, str], Iterable[Any]]) -> Completion:
    """Return what completes by asking; nothing is offered where nobody answers."""

    def complete(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
        from mockdriver.client import (  # noqa: PLC0415 - only where a shell asks for it
            ControlClient,
            ControlError,
            EndpointMistake,
        )

        try:
            with ControlClient(_endpoint(ctx), deadline_seconds=_PATIENCE_SECONDS) as control:
                return _starting_with(ask(control, incomplete), incomplete)
        except (ControlError, EndpointMistake):
            return []

    return complete


def _endpoint(ctx: click.Context | None) -> str:
    while ctx is not None:
        if ctx.params.get("endpoint"):
            return str(ctx.params["endpoint"])
        ctx = ctx.parent
    return DEFAULT_ENDPOINT


def _prefix(incomplete: str) -> str:
    """Return a pattern of what begins so; the server takes no brackets."""
    return f"{incomplete}*"


instance_ids = _known_to_the_server(
    lambda control, incomplete: (
        item.id
        for item in control.cloud.instance_page(_prefix(incomplete), page_size=_MOST).instances
    )
)
disk_ids = _known_to_the_server(
    lambda control, incomplete: (
        item.id for item in control.cloud.disk_page(_prefix(incomplete), page_size=_MOST).disks
    )
)
type_names = _known_to_the_server(
    lambda control, _: (item.name for item in control.cloud.instance_types())
)
zone_names = _known_to_the_server(lambda control, _: (item.name for item in control.cloud.zones()))
interface_ids = _known_to_the_server(
    lambda control, _: (item.id for item in control.cloud.network_interfaces())
)
fault_names = _known_to_the_server(lambda control, _: (item.name for item in control.faults.list()))
barrier_names = _known_to_the_server(
    lambda control, _: (item.name for item in control.faults.barriers())
)
snapshot_names = _known_to_the_server(
    lambda control, _: (item.name for item in control.state.snapshots())
)


def api_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of an API of the cloud."""
    return _starting_with(API_NAMES, incomplete)


def code_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a status code."""
    return _starting_with(CODES, incomplete)


def rpc_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of an RPC of CSI."""
    from csi_spec import csi_pb2  # noqa: PLC0415 - only where a shell asks for it

    services = csi_pb2.DESCRIPTOR.services_by_name.values()
    return _starting_with(
        (method.name for service in services for method in service.methods), incomplete
    )


def scenario_names(ctx: click.Context, parameter: click.Parameter, incomplete: str) -> list[str]:
    """Complete the name of a shipped scenario."""
    from mockdriver.scenario.shipped import names  # noqa: PLC0415 - only where a shell asks for it

    return _starting_with(names(), incomplete)
