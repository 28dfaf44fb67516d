"""The Cloud service's RPCs about the cloud's own APIs: quotas and counters."""

from __future__ import annotations

from mockdriver.cloud import API_NAMES, Caller
from mockdriver.cloud.api import ApiStatus
from mockdriver.control.checking import checked, checked_value, required
from mockdriver.control.messages import message, plain
from mockdriver.control.rpc_group import RpcGroup
from mockdriver.control.v1 import cloud_pb2
from mockdriver.scenario.cloud_model import QuotaModel
from mockdriver.scenario.codec import short_data
from mockdriver.scenario.kinds import name_of

_API = name_of("API", API_NAMES)


class ApiRpcs(RpcGroup):
    """Quotas change, and calls are counted. A base of CloudService."""

    def ListApis(
        self, request: cloud_pb2.ListApisRequest, caller: Caller
    ) -> cloud_pb2.ListApisResponse:
        """Return the quota of each API, and how often it was called."""
        return cloud_pb2.ListApisResponse(apis=[_api(item) for item in self._cloud.api.statuses()])

    def SetQuota(self, request: cloud_pb2.SetQuotaRequest, caller: Caller) -> cloud_pb2.Api:
        """Give an API a new quota, with a full bucket."""
        required(request, "api")
        checked_value(_API, request.api, "api")
        quota = checked(QuotaModel, plain(request.quota), at="quota").quota()
        self._cloud.api.set_quota(request.api, quota)
        return next(_api(item) for item in self._cloud.api.statuses() if item.name == request.api)


def _api(status: ApiStatus) -> cloud_pb2.Api:
    quota = cloud_pb2.Quota(**short_data(status.quota, QuotaModel))
    return message(cloud_pb2.Api, status, quota=quota)
