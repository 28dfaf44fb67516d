"""The Cloud service's RPCs about instance types."""

from __future__ import annotations

from mockdriver.cloud import Caller, InstanceType
from mockdriver.control.checking import checked, checked_value, required
from mockdriver.control.errors import InvalidRequest
from mockdriver.control.messages import message, plain
from mockdriver.control.rpc_group import RpcGroup
from mockdriver.control.v1 import cloud_pb2
from mockdriver.scenario.cloud_model import InstanceTypeModel
from mockdriver.scenario.codec import data, record
from mockdriver.scenario.kinds import ID


class InstanceTypeRpcs(RpcGroup):
    """Instance types come, change and go. A base of CloudService."""

    def ListInstanceTypes(
        self, request: cloud_pb2.ListInstanceTypesRequest, caller: Caller
    ) -> cloud_pb2.ListInstanceTypesResponse:
        """Return all types."""
        types = self._operator.instance_types()
        return cloud_pb2.ListInstanceTypesResponse(instance_types=[_type(item) for item in types])

    def GetInstanceType(
        self, request: cloud_pb2.GetInstanceTypeRequest, caller: Caller
    ) -> cloud_pb2.InstanceType:
        """Return one type."""
        required(request, "name")
        return _type(self._operator.instance_type(request.name))

    def AddInstanceType(
        self, request: cloud_pb2.AddInstanceTypeRequest, caller: Caller
    ) -> cloud_pb2.InstanceType:
        """Add a type."""
        given = plain(request.instance_type)
        name = checked_value(ID, given.pop("name", ""), "instance_type", "name")
        model = checked(InstanceTypeModel, given, at="instance_type")
        type_ = record(InstanceType, model, name=name)
        self._operator.add_instance_type(type_)
        return _type(type_)

    def ChangeInstanceType(
        self, request: cloud_pb2.ChangeInstanceTypeRequest, caller: Caller
    ) -> cloud_pb2.InstanceType:
        """Change what is given of a type; never refused for slots in use."""
        required(request, "name")
        changes = plain(request)
        del changes["name"]
        if changes.pop("no_slots", False):
            if request.HasField("slots"):
                raise InvalidRequest([("no_slots", "is given with slots, allowed: one of both")])
            changes["slots"] = None

        def changed(present: InstanceType) -> InstanceType:
            model = checked(InstanceTypeModel, data(present, InstanceTypeModel) | changes)
            return record(InstanceType, model, name=present.name)

        return _type(self._operator.change_type(request.name, changed))

    def RemoveInstanceType(
        self, request: cloud_pb2.RemoveInstanceTypeRequest, caller: Caller
    ) -> cloud_pb2.RemoveInstanceTypeResponse:
        """Remove a type that no instance has, or any by force."""
        required(request, "name")
        self._operator.remove_instance_type(request.name, force=request.force)
        return cloud_pb2.RemoveInstanceTypeResponse()


def _type(type_: InstanceType) -> cloud_pb2.InstanceType:
    return message(cloud_pb2.InstanceType, type_)
