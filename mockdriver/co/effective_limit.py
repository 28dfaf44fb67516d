"""KEP-6011: the limit that a CO computes for a node. One pure function."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet


def effective_limit(
    max_volumes_per_node: int, published_volume_ids: Iterable[str], csi_managed: AbstractSet[str]
) -> int | None:
    """Return how many CSI volumes the node can hold, or None where no limit is set.

    `max_volumes_per_node` and `published_volume_ids` are the SP's answer. `csi_managed` are the
    ids that the CO has a record of on this node, and those that it processed while the call ran
    (KEP-6011, "volume classification" and "Race Condition Mitigation"). An id that is listed
    twice is one volume.
    """
    if max_volumes_per_node == 0:
        return None
    not_csi = set(published_volume_ids) - csi_managed
    return max(0, max_volumes_per_node - len(not_csi))
