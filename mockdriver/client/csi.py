"""CSI calls with fields as keyword arguments, completed and checked by editors and type checkers.

    csi.controller.ControllerGetNodeInfo(node_id="i-worker-1").max_volumes_per_node

This module needs csi_spec, and protobuf holds one csi.proto in an interpreter; so nothing else of
mockdriver.client imports it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, ParamSpec, TypeVar, overload

import grpc

from csi_spec import csi_pb2, csi_pb2_grpc
from mockdriver.client.errors import CallFailed, metadata_of

DEADLINE_SECONDS = 60.0
"""How long a call may take if nothing else is said."""

_P = ParamSpec("_P")
_Request = TypeVar("_Request")
_Response = TypeVar("_Response")


class CsiError(CallFailed):
    """The driver answered a call with an error, or could not be reached."""


class Pending(Generic[_Response]):
    """A call under way."""

    def __init__(self, rpc: str, future: Any) -> None:
        self._rpc = rpc
        self._future = future

    def result(self) -> _Response:
        """Wait for the answer and return it; raises CsiError."""
        try:
            response: _Response = self._future.result()
        except grpc.RpcError as error:
            raise _failure(self._rpc, error) from None
        except grpc.FutureCancelledError:
            raise CsiError(self._rpc, grpc.StatusCode.CANCELLED, "cancelled here") from None
        return response

    def done(self) -> bool:
        """Tell whether it has ended."""
        return bool(self._future.done())

    def cancel(self) -> None:
        """End the call; the driver sees its caller leave."""
        self._future.cancel()


class Rpc(Generic[_P, _Request, _Response]):
    """One RPC. Call it with the fields of its request, or with a request."""

    def __init__(
        self,
        request_type: Callable[_P, _Request],
        method: Callable[..., _Response],
        deadline_seconds: float = DEADLINE_SECONDS,
    ) -> None:
        self._request_type = request_type
        self._method: Any = method
        self._deadline_seconds = deadline_seconds

    @overload
    def __call__(self, request: _Request, /) -> _Response: ...
    @overload
    def __call__(self, *fields: _P.args, **more: _P.kwargs) -> _Response: ...
    def __call__(self, *request: Any, **fields: Any) -> _Response:
        """Make the call and return its answer; raises CsiError."""
        message = self._message(*request, **fields)
        try:
            response: _Response = self._method(message, timeout=self._deadline_seconds)
        except grpc.RpcError as error:
            raise _failure(self._name, error) from None
        return response

    @overload
    def begin(self, request: _Request, /) -> Pending[_Response]: ...
    @overload
    def begin(self, *fields: _P.args, **more: _P.kwargs) -> Pending[_Response]: ...
    def begin(self, *request: Any, **fields: Any) -> Pending[_Response]:
        """Begin the call and go on; whoever wants the answer asks for `result()`."""
        message = self._message(*request, **fields)
        return Pending(self._name, self._method.future(message, timeout=self._deadline_seconds))

    def within(self, seconds: float) -> Rpc[_P, _Request, _Response]:
        """Return the same with another deadline."""
        return Rpc(self._request_type, self._method, seconds)

    @property
    def _name(self) -> str:
        # The request's name, as CSI's style has it: the RPC's with "Request" behind.
        return str(getattr(self._request_type, "__name__", "")).removesuffix("Request")

    def _message(self, *request: Any, **fields: Any) -> Any:
        if request and not fields and len(request) == 1:
            return request[0]
        return self._request_type(*request, **fields)


def _failure(rpc: str, error: grpc.RpcError) -> CsiError:
    return CsiError(rpc, error.code(), error.details() or "", metadata_of(error))


class Identity:
    """The Identity service."""

    def __init__(self, channel: grpc.Channel) -> None:
        stub = csi_pb2_grpc.IdentityStub(channel)
        self.GetPluginInfo = Rpc(csi_pb2.GetPluginInfoRequest, stub.GetPluginInfo)
        self.GetPluginCapabilities = Rpc(
            csi_pb2.GetPluginCapabilitiesRequest, stub.GetPluginCapabilities
        )
        self.Probe = Rpc(csi_pb2.ProbeRequest, stub.Probe)


class Controller:
    """The Controller service."""

    def __init__(self, channel: grpc.Channel) -> None:
        stub = csi_pb2_grpc.ControllerStub(channel)
        self.CreateVolume = Rpc(csi_pb2.CreateVolumeRequest, stub.CreateVolume)
        self.DeleteVolume = Rpc(csi_pb2.DeleteVolumeRequest, stub.DeleteVolume)
        self.ControllerPublishVolume = Rpc(
            csi_pb2.ControllerPublishVolumeRequest, stub.ControllerPublishVolume
        )
        self.ControllerUnpublishVolume = Rpc(
            csi_pb2.ControllerUnpublishVolumeRequest, stub.ControllerUnpublishVolume
        )
        self.ValidateVolumeCapabilities = Rpc(
            csi_pb2.ValidateVolumeCapabilitiesRequest, stub.ValidateVolumeCapabilities
        )
        self.ListVolumes = Rpc(csi_pb2.ListVolumesRequest, stub.ListVolumes)
        self.ControllerListVolumeHealth = Rpc(
            csi_pb2.ControllerListVolumeHealthRequest, stub.ControllerListVolumeHealth
        )
        self.ControllerGetVolumeHealth = Rpc(
            csi_pb2.ControllerGetVolumeHealthRequest, stub.ControllerGetVolumeHealth
        )
        self.GetCapacity = Rpc(csi_pb2.GetCapacityRequest, stub.GetCapacity)
        self.ControllerGetCapabilities = Rpc(
            csi_pb2.ControllerGetCapabilitiesRequest, stub.ControllerGetCapabilities
        )
        self.CreateSnapshot = Rpc(csi_pb2.CreateSnapshotRequest, stub.CreateSnapshot)
        self.DeleteSnapshot = Rpc(csi_pb2.DeleteSnapshotRequest, stub.DeleteSnapshot)
        self.ListSnapshots = Rpc(csi_pb2.ListSnapshotsRequest, stub.ListSnapshots)
        self.GetSnapshot = Rpc(csi_pb2.GetSnapshotRequest, stub.GetSnapshot)
        self.ControllerExpandVolume = Rpc(
            csi_pb2.ControllerExpandVolumeRequest, stub.ControllerExpandVolume
        )
        self.ControllerGetVolume = Rpc(csi_pb2.ControllerGetVolumeRequest, stub.ControllerGetVolume)
        self.ControllerModifyVolume = Rpc(
            csi_pb2.ControllerModifyVolumeRequest, stub.ControllerModifyVolume
        )
        self.ControllerGetNodeInfo = Rpc(
            csi_pb2.ControllerGetNodeInfoRequest, stub.ControllerGetNodeInfo
        )


class GroupController:
    """The GroupController service."""

    def __init__(self, channel: grpc.Channel) -> None:
        stub = csi_pb2_grpc.GroupControllerStub(channel)
        self.GroupControllerGetCapabilities = Rpc(
            csi_pb2.GroupControllerGetCapabilitiesRequest, stub.GroupControllerGetCapabilities
        )
        self.CreateVolumeGroupSnapshot = Rpc(
            csi_pb2.CreateVolumeGroupSnapshotRequest, stub.CreateVolumeGroupSnapshot
        )
        self.DeleteVolumeGroupSnapshot = Rpc(
            csi_pb2.DeleteVolumeGroupSnapshotRequest, stub.DeleteVolumeGroupSnapshot
        )
        self.GetVolumeGroupSnapshot = Rpc(
            csi_pb2.GetVolumeGroupSnapshotRequest, stub.GetVolumeGroupSnapshot
        )


class Node:
    """The Node service of one node."""

    def __init__(self, channel: grpc.Channel) -> None:
        stub = csi_pb2_grpc.NodeStub(channel)
        self.NodeStageVolume = Rpc(csi_pb2.NodeStageVolumeRequest, stub.NodeStageVolume)
        self.NodeUnstageVolume = Rpc(csi_pb2.NodeUnstageVolumeRequest, stub.NodeUnstageVolume)
        self.NodePublishVolume = Rpc(csi_pb2.NodePublishVolumeRequest, stub.NodePublishVolume)
        self.NodeUnpublishVolume = Rpc(csi_pb2.NodeUnpublishVolumeRequest, stub.NodeUnpublishVolume)
        self.NodeGetVolumeStats = Rpc(csi_pb2.NodeGetVolumeStatsRequest, stub.NodeGetVolumeStats)
        self.NodeGetVolumeHealth = Rpc(csi_pb2.NodeGetVolumeHealthRequest, stub.NodeGetVolumeHealth)
        self.NodeGetStorageHealth = Rpc(
            csi_pb2.NodeGetStorageHealthRequest, stub.NodeGetStorageHealth
        )
        self.NodeExpandVolume = Rpc(csi_pb2.NodeExpandVolumeRequest, stub.NodeExpandVolume)
        self.NodeGetCapabilities = Rpc(csi_pb2.NodeGetCapabilitiesRequest, stub.NodeGetCapabilities)
        self.NodeGetInfo = Rpc(csi_pb2.NodeGetInfoRequest, stub.NodeGetInfo)
