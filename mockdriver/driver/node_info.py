"""KEP-6011: what the SP knows of a node, in both flows. Pure functions on descriptions."""

from __future__ import annotations

from dataclasses import dataclass

from mockdriver.cloud import InstanceDescription, InstanceType, slots
from mockdriver.driver.attachment_tags import is_out_of_band


@dataclass(frozen=True, slots=True)
class NodeInfo:
    """Limit and attached volumes of a node. `max_volumes_per_node` 0 means unspecified."""

    max_volumes_per_node: int
    published_volume_ids: tuple[str, ...]


def controller_flow(description: InstanceDescription, type_: InstanceType) -> NodeInfo:
    """Return what ControllerGetNodeInfo answers.

    KEP-6011, "volume classification": the limit accounts for network interfaces only, and every
    disk that uses a slot is listed, whoever attached it, so that the CO can subtract its own.
    """
    return NodeInfo(
        max_volumes_per_node=slots.max_volumes_per_node(type_, len(description.network_interfaces)),
        published_volume_ids=tuple(
            [item.disk for item in description.attachments_using_slots(type_)]
        ),
    )


def plain_flow(description: InstanceDescription, type_: InstanceType) -> int:
    """Return the limit that NodeGetInfo reports without the flag.

    There the SP must subtract what is attached out of band by itself: attachments without the
    driver's tags. The CO's own attaches never change the number.
    """
    limit = slots.max_volumes_per_node(type_, len(description.network_interfaces))
    if limit == 0:
        return 0
    out_of_band = sum(
        is_out_of_band(item.tags) for item in description.attachments_using_slots(type_)
    )
    return slots.at_least_one(limit - out_of_band)
