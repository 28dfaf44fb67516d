"""Topology: the keys of the generic provider, to and from CSI messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from csi_spec import csi_pb2
from mockdriver.driver.errors import NoAccessibleZone


@dataclass(frozen=True, slots=True)
class TopologyKeys:
    """The keys that this driver's topology has, the same in NodeGetInfo and ControllerGetNodeInfo.

    KEP-6011, "Topology key consistency": existing volumes refer to them.
    """

    zone: str
    region: str

    @classmethod
    def generic(cls, driver_name: str) -> TopologyKeys:
        """Return the keys of a driver of no particular cloud."""
        return cls(zone=f"topology.{driver_name}/zone", region=f"topology.{driver_name}/region")

    def of_zone(self, zone: str, region: str) -> csi_pb2.Topology:
        """Return the topology of a zone. A key without a value is left out, never empty."""
        segments = {self.zone: zone, self.region: region}
        return csi_pb2.Topology(segments={key: value for key, value in segments.items() if value})

    def choose_zone(
        self, requirement: csi_pb2.TopologyRequirement, zones: Iterable[str], region: str
    ) -> str | None:
        """Return the zone to create a volume in, or None if the requirement names none.

        Preferred topologies first, then requisite ones, each in the order given (CSI spec,
        TopologyRequirement). Raises NoAccessibleZone if none of those named can be had.
        """
        wanted = [*requirement.preferred, *requirement.requisite]
        if not wanted:
            return None
        known = list(zones)
        for topology in wanted:
            for zone in known:
                segments = self.of_zone(zone, region).segments
                if all(segments.get(key) == value for key, value in topology.segments.items()):
                    return zone
        raise NoAccessibleZone(
            "accessibility_requirements: none of the topologies can be had, "
            f"the zones are: {', '.join(known)}"
        )
