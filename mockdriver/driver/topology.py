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

        Preferred topologies first, then requisite ones, each in the order given. Where there are
        requisite ones, the zone satisfies one of them whatever is preferred (CSI spec,
        TopologyRequirement). Raises NoAccessibleZone if none of those named can be had.
        """
        wanted = [*requirement.preferred, *requirement.requisite]
        if not wanted:
            return None
        known = list(zones)
        allowed = known
        if requirement.requisite:
            allowed = [zone for zone in known if self.meets(requirement.requisite, zone, region)]
        for topology in wanted:
            for zone in allowed:
                if self.meets([topology], zone, region):
                    return zone
        raise NoAccessibleZone(
            "accessibility_requirements: none of the topologies can be had, "
            f"the zones are: {', '.join(known)}"
        )

    def meets(self, topologies: Iterable[csi_pb2.Topology], zone: str, region: str) -> bool:
        """Tell whether what is in a zone is accessible from one of the topologies."""
        segments = self.of_zone(zone, region).segments
        return any(
            all(segments.get(key) == value for key, value in topology.segments.items())
            for topology in topologies
        )
