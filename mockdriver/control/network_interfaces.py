"""The Cloud service's RPCs about network interfaces."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mockdriver.cloud import Caller, NetworkInterface
from mockdriver.control.checking import checked_value, required
from mockdriver.control.errors import InvalidRequest
from mockdriver.control.messages import message
from mockdriver.control.rpc_group import RpcGroup
from mockdriver.control.v1 import cloud_pb2
from mockdriver.scenario.kinds import ID, whole_number

MAX_AT_ONCE = 1_000
_COUNT = whole_number(0, MAX_AT_ONCE)


class NetworkInterfaceRpcs(RpcGroup):
    """Network interfaces come and go. A base of CloudService."""

    def ListNetworkInterfaces(
        self, request: cloud_pb2.ListNetworkInterfacesRequest, caller: Caller
    ) -> cloud_pb2.ListNetworkInterfacesResponse:
        """Return the interfaces of one instance, or of all."""
        found = self._operator.network_interfaces(request.instance or None)
        return cloud_pb2.ListNetworkInterfacesResponse(network_interfaces=_interfaces(found))

    def AddNetworkInterface(
        self, request: cloud_pb2.AddNetworkInterfaceRequest, caller: Caller
    ) -> cloud_pb2.AddNetworkInterfaceResponse:
        """Add one interface by its id, or several with names of their own."""
        required(request, "instance")
        count = _count(request)
        if request.id:
            checked_value(ID, request.id, "id")
            added = [self._operator.add_network_interface(request.instance, request.id)]
        else:
            added = self._operator.add_network_interfaces(request.instance, count)
        return cloud_pb2.AddNetworkInterfaceResponse(network_interfaces=_interfaces(added))

    def RemoveNetworkInterface(
        self, request: cloud_pb2.RemoveNetworkInterfaceRequest, caller: Caller
    ) -> cloud_pb2.RemoveNetworkInterfaceResponse:
        """Remove one interface by its id, or the newest ones."""
        required(request, "instance")
        count = _count(request)
        if request.id:
            self._operator.remove_network_interface(request.instance, request.id)
        else:
            self._operator.remove_network_interfaces(request.instance, count)
        return cloud_pb2.RemoveNetworkInterfaceResponse()


def _count(request: Any) -> int:
    """Return how many are meant; raises InvalidRequest."""
    count: int = checked_value(_COUNT, request.count, "count")
    if request.id and count > 1:
        raise InvalidRequest([("count", f"{count} is given with id, allowed: one of both")])
    return count or 1


def _interfaces(found: Iterable[NetworkInterface]) -> list[cloud_pb2.NetworkInterface]:
    return [message(cloud_pb2.NetworkInterface, interface) for interface in found]
