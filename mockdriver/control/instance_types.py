"""The Cloud service's RPCs about instance types."""

from __future__ import annotations

from mockdriver.cloud import Caller, InstanceType
from mockdriver.control.checking import checked, required
from mockdriver.control.errors import InvalidRequest
from mockdriver.control.messages import message, plain
from mockdriver.control.rpc_group import RpcGroup
from mockdriver.control.v1 import cloud_pb2
from mockdriver.scenario.cloud_model import InstanceTypeModel
from mockdriver.scenario.codec import data, record


class InstanceTypeRpcs(RpcGroup):
    """Instance types come, change and go. A base of CloudService."""

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

        return _shown(self._operator.change_type(request.name, changed))


def _shown(type_: InstanceType) -> cloud_pb2.InstanceType:
    return message(cloud_pb2.InstanceType, type_)
