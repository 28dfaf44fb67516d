"""The simulated cloud: one store, one lock, its API and its operator's console."""

from __future__ import annotations

from collections.abc import Mapping

from mockdriver.cloud.api import CloudApi
from mockdriver.cloud.core import CloudCore
from mockdriver.cloud.operator import Operator
from mockdriver.cloud.token_bucket import Quota
from mockdriver.cloud.transitions import NO_WAITING, Transitions
from mockdriver.runtime import Runtime

DEFAULT_CAPACITY_GIB = 1024 * 1024
"""Room for disks in each zone: 1 PiB."""

DEFAULT_REGION = "region-1"


class Cloud:
    """A region of a cloud.

    `api` is what a storage provider's credentials reach: quotas, delays, reads that count.
    `operator` is the hand of whoever owns the cloud: it changes things out of band, free of
    quotas, and looks without being counted.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        region: str = DEFAULT_REGION,
        zones_are_fixed: bool = False,
        transitions: Transitions = NO_WAITING,
        quotas: Mapping[str, Quota] | None = None,
        capacity_gib: int = DEFAULT_CAPACITY_GIB,
    ) -> None:
        """Make an empty region.

        With `zones_are_fixed` an instance or a disk in a zone that was not added is refused;
        without it, it brings its zone along. `quotas` are by API name (`api.API_NAMES`).
        `capacity_gib` is the room for disks that each zone has, in GiB.
        """
        self.region = region
        self.core = CloudCore(
            runtime,
            transitions=transitions,
            zones_are_fixed=zones_are_fixed,
            capacity_gib=capacity_gib,
        )
        self.api = CloudApi(self.core, quotas or {})
        self.operator = Operator(self.core)
