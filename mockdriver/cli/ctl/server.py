"""``mockdriver ctl server`` and ``restart-driver``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mockdriver.cli.ctl.asking import Session, asks
from mockdriver.cli.ctl.printing import fields

if TYPE_CHECKING:
    from mockdriver.control.v1.state_pb2 import Server

_SHOWN_NODES = 20


@asks("server")
def server(session: Session) -> None:
    """Show version, driver, endpoints, capabilities, scenario."""
    found = session.control.state.server()
    session.printer.answer(found, lambda: _print(found))


@asks("restart-driver")
def restart_driver(session: Session) -> None:
    """Start the driver again over the same cloud.

    Its caches are lost, and calls in flight end with UNAVAILABLE.
    """
    session.control.state.restart_driver()
    session.printer.done("the driver has started again")


def _print(server: Server) -> None:
    nodes = sorted(server.node_endpoints.items())
    fields(
        [
            ("version", server.version),
            ("driver", server.driver_name),
            ("scenario", server.scenario),
            ("endpoint", server.endpoint or "none"),
            ("control endpoint", server.control_endpoint or server.endpoint or "none"),
            ("node", server.node_id or "none"),
            *[(f"node {node_id}", endpoint) for node_id, endpoint in nodes[:_SHOWN_NODES]],
            *(
                [("more nodes", str(len(nodes) - _SHOWN_NODES))]
                if len(nodes) > _SHOWN_NODES
                else []
            ),
            ("capabilities", ", ".join(server.capabilities) or "none"),
        ]
    )
