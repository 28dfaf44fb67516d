"""``mockdriver ctl node-info``."""

from __future__ import annotations

import click

from mockdriver.cli.ctl.asking import Session, asks
from mockdriver.cli.ctl.completing import instance_ids
from mockdriver.cli.ctl.printing import fields


@asks("node-info")
@click.argument("node", shell_complete=instance_ids)
def node_info(session: Session, node: str) -> None:
    """Show what ControllerGetNodeInfo would answer for a node.

    This is no call of the driver's, and counts nowhere. From
    max_volumes_per_node the CO subtracts the ids that it has no record of.
    """
    found = session.control.cloud.node_info(node)
    ids = found.published_volume_ids
    topology = sorted(found.accessible_topology.items())
    session.printer.answer(
        found,
        lambda: fields(
            [
                ("node_id", found.node_id),
                ("max_volumes_per_node", str(found.max_volumes_per_node) + _unset(found)),
                ("published_volume_ids", f"{len(ids)}{': ' if ids else ''}{', '.join(ids)}"),
                ("accessible_topology", ", ".join(f"{key}={value}" for key, value in topology)),
            ]
        ),
    )


def _unset(found: object) -> str:
    return "" if getattr(found, "max_volumes_per_node", 0) else " (unspecified: no limit)"
