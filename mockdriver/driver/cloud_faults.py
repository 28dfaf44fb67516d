"""The cloud that goes wrong on purpose: faults of its API, as this driver's client sees them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from mockdriver.cloud import (
    Attachment,
    AttachmentState,
    Caller,
    Cloud,
    CloudApi,
    errors,
)
from mockdriver.cloud.api import MAX_DISK_GIB, MIN_DISK_GIB
from mockdriver.cloud.errors import CallerGone, CloudError
from mockdriver.driver.fault_layer import FaultLayer, record
from mockdriver.faults.engine import ActingFault
from mockdriver.faults.subjects import CloudCall

_Answer = TypeVar("_Answer")
_Fields = Mapping[str, str]


class CloudFaults:
    """Puts the faults of a list around calls of the cloud's API."""

    def __init__(self, cloud: Cloud, layer: FaultLayer) -> None:
        self._api: CloudApi = cloud.api
        self._cloud = cloud
        self._layer = layer

    def around(
        self, api: str, fields: _Fields, caller: Caller, call: Callable[[], _Answer]
    ) -> _Answer:
        """Make a call of an API unless a fault acts on it. `fields` are what it names.

        A call that a fault keeps from the cloud counts as one that the cloud got. One that it acts
        on afterwards has been made, whatever the answer.
        """
        faults = self._layer.faults
        acting = faults.choose(CloudCall(api, fields)) if faults.concerns(api) else None
        if acting is None:
            return call()
        record(acting, caller)
        if not acting.fault.acts_after:
            return self._before(acting, api, fields, caller, call)
        refusal: CloudError | None = None
        try:
            answer = call()
        except CallerGone:
            raise
        except CloudError as error:
            refusal = error
        self._layer.wait(acting, caller)
        self._end(acting, api, fields, caller)
        if refusal is not None:
            raise refusal
        return answer

    def _before(
        self,
        acting: ActingFault,
        api: str,
        fields: _Fields,
        caller: Caller,
        call: Callable[[], _Answer],
    ) -> _Answer:
        self._layer.wait(acting, caller)
        if acting.fault.answers:
            self._api.count_call(api)
        self._end(acting, api, fields, caller)
        return call()

    def _end(self, acting: ActingFault, api: str, fields: _Fields, caller: Caller) -> None:
        if acting.fault.error:
            raise self._error(acting.fault.error, api, fields)
        self._layer.end(acting, caller)

    def _error(self, name: str, api: str, fields: _Fields) -> CloudError:
        """Return an error as the cloud would raise it; what is known of its state is true."""
        return BUILDERS[name](_Asked(self._cloud, api, fields))


class _Asked:
    """What a call of the API asked for, and the state of what it names."""

    def __init__(self, cloud: Cloud, api: str, fields: _Fields) -> None:
        self.cloud = cloud
        self.api = api
        self.disk = fields.get("disk", "")
        self.instance = fields.get("instance", "")
        self.type = fields.get("type", "")
        self.zone = fields.get("zone", "")

    def slots(self) -> int:
        """Return the slots of the instance; 0 where it has no limit, or is none."""
        operator = self.cloud.operator
        try:
            type_name = operator.instance(self.instance).type
            slots = None if type_name is None else operator.instance_type(type_name).slots
        except CloudError:
            return 0
        return slots or 0

    def instance_zone(self) -> str:
        """Return the zone of the instance, "" if it is none."""
        try:
            return self.cloud.operator.instance(self.instance).zone
        except CloudError:
            return ""

    def elsewhere(self) -> list[str]:
        """Return other instances; one at least, since the error is about one."""
        found = self.cloud.operator.instances()
        return [item.id for item in found if item.id != self.instance][:1] or ["another instance"]

    def busy(self) -> Attachment:
        """Return an attachment that something is being done to."""
        return Attachment(0, self.disk, self.instance, AttachmentState.BUSY)


BUILDERS: Mapping[str, Callable[[_Asked], CloudError]] = {
    "InstanceNotFound": lambda asked: errors.InstanceNotFound([asked.instance]),
    "DiskNotFound": lambda asked: errors.DiskNotFound([asked.disk]),
    "InstanceTypeNotFound": lambda asked: errors.InstanceTypeNotFound(asked.type),
    "ZoneNotFound": lambda asked: errors.ZoneNotFound(asked.zone, []),
    "NotAttached": lambda asked: errors.NotAttached(asked.disk, asked.instance),
    "TransitionUnderWay": lambda asked: errors.TransitionUnderWay(asked.busy()),
    "AttachedElsewhere": lambda asked: errors.AttachedElsewhere(asked.disk, asked.elsewhere()),
    "TooManyAttachments": lambda asked: errors.TooManyAttachments(asked.disk, 1, asked.elsewhere()),
    "ZoneMismatch": lambda asked: errors.ZoneMismatch(
        asked.disk, "another zone", asked.instance, asked.instance_zone()
    ),
    "SlotsExhausted": lambda asked: errors.SlotsExhausted(
        asked.instance, asked.slots(), asked.slots()
    ),
    "BootDiskInUse": lambda asked: errors.BootDiskInUse(asked.disk),
    "DiskInUse": lambda asked: errors.DiskInUse(asked.disk, asked.elsewhere()),
    "DiskSizeNotAllowed": lambda asked: errors.DiskSizeNotAllowed(0, MIN_DISK_GIB, MAX_DISK_GIB),
    "ZoneFull": lambda asked: errors.ZoneFull(asked.zone, 0, 0),
    "Throttled": lambda asked: errors.Throttled(asked.api),
    "TooManyIds": lambda asked: errors.TooManyIds(asked.api, 1, 0),
}
"""How each error is made that a fault can name."""
