"""The Cloud service's RPCs about zones, transitions and the cloud as a whole."""

from __future__ import annotations

from mockdriver.cloud import Caller, Transitions
from mockdriver.cloud.descriptions import ZoneView
from mockdriver.control.checking import checked, checked_value, required
from mockdriver.control.messages import message, plain
from mockdriver.control.rpc_group import RpcGroup
from mockdriver.control.v1 import cloud_pb2
from mockdriver.scenario.cloud_model import TransitionsModel
from mockdriver.scenario.codec import data
from mockdriver.scenario.kinds import ID


class ZoneRpcs(RpcGroup):
    """The region at a glance, its zones and its transitions. A base of CloudService."""

    def GetCloud(
        self, request: cloud_pb2.GetCloudRequest, caller: Caller
    ) -> cloud_pb2.CloudSummary:
        """Return how much of everything there is."""
        return message(cloud_pb2.CloudSummary, self._operator.summary())

    def ListZones(
        self, request: cloud_pb2.ListZonesRequest, caller: Caller
    ) -> cloud_pb2.ListZonesResponse:
        """Return all zones."""
        zones = self._operator.view_zones()
        return cloud_pb2.ListZonesResponse(zones=[self._zone(zone) for zone in zones])

    def AddZone(self, request: cloud_pb2.AddZoneRequest, caller: Caller) -> cloud_pb2.Zone:
        """Add a zone."""
        required(request, "name")
        checked_value(ID, request.name, "name")
        return self._zone(self._operator.add_new_zone(request.name))

    def RemoveZone(
        self, request: cloud_pb2.RemoveZoneRequest, caller: Caller
    ) -> cloud_pb2.RemoveZoneResponse:
        """Remove a zone that nothing is in, or any by force."""
        required(request, "name")
        self._operator.remove_zone(request.name, force=request.force)
        return cloud_pb2.RemoveZoneResponse()

    def GetTransitions(
        self, request: cloud_pb2.GetTransitionsRequest, caller: Caller
    ) -> cloud_pb2.Transitions:
        """Return how long attaching and detaching take."""
        return _transitions(self._operator.transitions())

    def SetTransitions(
        self, request: cloud_pb2.SetTransitionsRequest, caller: Caller
    ) -> cloud_pb2.Transitions:
        """Change how long attaching and detaching take, from now on."""
        given = plain(request)
        model = checked(TransitionsModel, given)
        return _transitions(
            self._operator.set_transitions(**{name: getattr(model, name) for name in given})
        )

    def _zone(self, zone: ZoneView) -> cloud_pb2.Zone:
        topology = self._world.driver.topology_of_zone(zone.name)
        return message(cloud_pb2.Zone, zone, accessible_topology=topology)


def _transitions(transitions: Transitions) -> cloud_pb2.Transitions:
    return cloud_pb2.Transitions(**data(transitions, TransitionsModel))
