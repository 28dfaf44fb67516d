"""The CSI Identity service."""

from __future__ import annotations

from google.protobuf import wrappers_pb2

from csi_spec import csi_pb2
from mockdriver.cloud import Caller
from mockdriver.driver.context import DriverContext


class IdentityService:
    """Who the plugin is and which services it has."""

    def __init__(self, context: DriverContext) -> None:
        self._context = context

    def GetPluginInfo(
        self, request: csi_pb2.GetPluginInfoRequest, caller: Caller
    ) -> csi_pb2.GetPluginInfoResponse:
        """Answer with name and version (CSI spec, GetPluginInfo)."""
        config = self._context.config
        return csi_pb2.GetPluginInfoResponse(name=config.name, vendor_version=config.vendor_version)

    def GetPluginCapabilities(
        self, request: csi_pb2.GetPluginCapabilitiesRequest, caller: Caller
    ) -> csi_pb2.GetPluginCapabilitiesResponse:
        """Answer with the plugin capabilities that are on (CSI spec, GetPluginCapabilities)."""
        response = csi_pb2.GetPluginCapabilitiesResponse()
        for number in self._context.config.capabilities.numbers("plugin"):
            service = csi_pb2.PluginCapability.Service(
                type=csi_pb2.PluginCapability.Service.Type.ValueType(number)
            )
            response.capabilities.add(service=service)
        return response

    def Probe(self, request: csi_pb2.ProbeRequest, caller: Caller) -> csi_pb2.ProbeResponse:
        """Answer that the plugin is ready: it serves nothing before it is (CSI spec, Probe)."""
        return csi_pb2.ProbeResponse(ready=wrappers_pb2.BoolValue(value=True))
