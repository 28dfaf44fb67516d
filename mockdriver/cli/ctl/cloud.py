"""``mockdriver ctl cloud``."""

from __future__ import annotations

from mockdriver.cli.ctl.asking import Session, asks
from mockdriver.cli.ctl.printing import fields


@asks("cloud")
def cloud(session: Session) -> None:
    """Show how much of everything there is."""
    found = session.control.cloud.summary()
    session.printer.answer(
        found,
        lambda: fields(
            [
                ("region", found.region),
                ("zones", ", ".join(found.zones)),
                ("room in each zone", f"{found.capacity_gib} GiB"),
                ("instance types", str(found.instance_types)),
                ("instances", str(found.instances)),
                ("network interfaces", str(found.network_interfaces)),
                ("disks", str(found.disks)),
                ("attachments", str(found.attachments)),
            ]
        ),
    )
