"""Topology: the keys of the generic provider, to and from CSI messages."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from csi_spec import csi_pb2
from mockdriver.driver.errors import NoAccessibleZone

_Segments = frozenset[tuple[str, str]]


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

    def zones_to_try(
        self, requirement: csi_pb2.TopologyRequirement, zones: Iterable[str], region: str
    ) -> list[str]:
        """Return the zones to create a volume in, best first; none if the requirement names none.

        Preferred topologies first, then requisite ones, each in the order given. Where there are
        requisite ones, the zone satisfies one of them whatever is preferred (CSI spec,
        TopologyRequirement). Raises NoAccessibleZone if none of those named can be had.
        """
        requisite, preferred = _distinct(requirement.requisite), _distinct(requirement.preferred)
        if not requisite and not preferred:
            return []
        offered = {zone: self._offered(zone, region) for zone in zones}
        allowed = [
            zone
            for zone, segments in offered.items()
            if not requisite or any(wanted <= segments for wanted in requisite)
        ]
        found = dict.fromkeys(
            zone
            for wanted in (*preferred, *requisite)
            for zone in allowed
            if wanted <= offered[zone]
        )
        if not found:
            raise NoAccessibleZone(
                "accessibility_requirements: none of the topologies can be had, "
                f"the zones are: {', '.join(offered)}"
            )
        return list(found)

    def meets(self, topologies: Iterable[csi_pb2.Topology], zone: str, region: str) -> bool:
        """Tell whether what is in a zone is accessible from one of the topologies."""
        offered = self._offered(zone, region)
        return any(wanted <= offered for wanted in _distinct(topologies))

    def _offered(self, zone: str, region: str) -> _Segments:
        return frozenset(self.of_zone(zone, region).segments.items())


def _distinct(topologies: Iterable[csi_pb2.Topology]) -> list[_Segments]:
    """Return the segments of topologies, each once: a peer can send thousands that are alike."""
    return list(dict.fromkeys(frozenset(item.segments.items()) for item in topologies))
