"""The driver's client of the cloud's API: it retries and waits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeVar

from mockdriver.cloud import (
    Attachment,
    AttachmentState,
    Caller,
    CloudApi,
    Disk,
    DiskDescription,
    DiskPage,
    InstanceDescription,
    InstanceType,
)
from mockdriver.cloud.errors import DiskNotFound, Throttled, quoted
from mockdriver.driver.cloud_faults import CloudFaults
from mockdriver.driver.errors import (
    AttachmentReturned,
    AttachmentVanished,
    PatienceExhausted,
)
from mockdriver.driver.rpc_caller import RpcCaller
from mockdriver.faults.errors import InjectedFailure
from mockdriver.journal import CloudCall
from mockdriver.runtime import Runtime

PATIENCE_SECONDS = 20.0
"""How long one API call is retried while the cloud throttles it."""

_FIRST_PAUSE_SECONDS = 0.1
_LONGEST_PAUSE_SECONDS = 1.0

_BETWEEN_READS_SECONDS = 0.1
"""The pause between two looks at a transition that ends after a number of looks."""

_Answer = TypeVar("_Answer")


class CloudClient:
    """What the services ask the cloud for.

    Each call raises the cloud's own errors, PatienceExhausted when it was throttled too long, and
    CallerGone when the caller leaves while it waits.
    """

    def __init__(self, api: CloudApi, runtime: Runtime, faults: CloudFaults | None = None) -> None:
        self._api = api
        self._faults = faults
        self._runtime = runtime
        self._jitter = runtime.random("cloud client")

    def describe_instance(self, id: str, caller: Caller) -> InstanceDescription:
        """Describe one instance; raises InstanceNotFound."""
        return self._patiently(
            "describe_instances",
            {"instance": id},
            caller,
            lambda: self._api.describe_instances([id], caller),
        )[0]

    def describe_type(self, name: str, caller: Caller) -> InstanceType:
        """Describe one instance type; raises InstanceTypeNotFound."""
        return self._patiently(
            "describe_types",
            {"type": name},
            caller,
            lambda: self._api.describe_types([name], caller),
        )[0]

    def describe_disk(self, id: str, caller: Caller) -> DiskDescription:
        """Describe one disk; raises DiskNotFound."""
        return self._patiently(
            "describe_disks", {"disk": id}, caller, lambda: self._api.describe_disks([id], caller)
        )[0]

    def find_disk(self, tag: str, value: str, caller: Caller) -> Disk | None:
        """Return the disk with this tag, or None."""
        found = self._patiently(
            "describe_disks", {}, caller, lambda: self._api.find_disks(tag, value, caller)
        )
        return found[0].disk if found else None

    def list_disks(self, after: int, limit: int, caller: Caller) -> DiskPage:
        """Describe some of all disks, in the order of creation."""
        return self._patiently(
            "describe_disks", {}, caller, lambda: self._api.list_disks(after, limit, caller)
        )

    def create_disk(
        self,
        zone: str,
        size_gib: int,
        tags: Mapping[str, str],
        caller: Caller,
        *,
        max_attachments: int,
    ) -> Disk:
        """Create a disk; raises ZoneNotFound, ZoneFull, DiskSizeNotAllowed."""
        return self._patiently(
            "create_disk",
            {"zone": zone},
            caller,
            lambda: self._api.create_disk(
                zone, size_gib, caller, max_attachments=max_attachments, tags=tags
            ),
        )

    def delete_disk(self, id: str, caller: Caller) -> None:
        """Delete a disk; raises DiskNotFound, DiskInUse."""
        self._patiently(
            "delete_disk", {"disk": id}, caller, lambda: self._api.delete_disk(id, caller)
        )

    def attach(
        self,
        disk: str,
        instance: str,
        caller: Caller,
        *,
        exclusive: bool,
        tags: Mapping[str, str],
    ) -> Attachment:
        """Begin to attach a disk, or find it attached to this instance already."""
        return self._patiently(
            "attach",
            {"disk": disk, "instance": instance},
            caller,
            lambda: self._api.attach(disk, instance, caller, exclusive=exclusive, tags=tags),
        )

    def detach(self, disk: str, instance: str, caller: Caller) -> Attachment | None:
        """Begin to detach a disk; None once it is gone."""
        return self._patiently(
            "detach",
            {"disk": disk, "instance": instance},
            caller,
            lambda: self._api.detach(disk, instance, caller),
        )

    def wait_until_attached(self, attachment: Attachment, caller: Caller) -> None:
        """Wait for the end of attaching; raises AttachmentVanished if somebody detaches it."""

        def refuse_detached(present: Attachment | None) -> None:
            if present is None or present.state is AttachmentState.DETACHING:
                raise AttachmentVanished(
                    f"disk {quoted(attachment.disk)} was detached from instance "
                    f"{quoted(attachment.instance)} while this call waited for it"
                )

        if attachment.pending is not None:
            self._wait_until_settled(attachment, caller, refuse_detached)

    def wait_until_detached(self, attachment: Attachment | None, caller: Caller) -> None:
        """Wait until an attachment that is leaving is gone; None is gone already.

        Raises AttachmentReturned if somebody keeps it from leaving.
        """

        def refuse_returned(present: Attachment | None) -> None:
            if present is not None and present.state is AttachmentState.ATTACHED:
                raise AttachmentReturned(
                    f"disk {quoted(present.disk)} was kept attached to instance "
                    f"{quoted(present.instance)} while this call waited for its end"
                )

        if attachment is not None:
            self._wait_until_settled(attachment, caller, refuse_returned)

    def _wait_until_settled(
        self,
        attachment: Attachment,
        caller: Caller,
        judge: Callable[[Attachment | None], None],
    ) -> None:
        """Look at the attachment until its transition is over; `judge` sees each look.

        A client of a real cloud polls. This one looks when there is something new to see, so it
        makes fewer calls, is never late, and does not look at all while a transition is held.
        """
        with self._api.watching(attachment, caller):
            while True:
                caller.prepare()
                present = self._look(attachment, caller)
                judge(present)
                if present is None or present.pending is None:
                    return
                next_look_at = present.pending.due_seconds
                if present.pending.reads_left is not None:
                    next_look_at = self._runtime.now() + _BETWEEN_READS_SECONDS
                caller.wait(next_look_at)

    def _look(self, attachment: Attachment, caller: Caller) -> Attachment | None:
        try:
            description = self.describe_disk(attachment.disk, caller)
        except DiskNotFound:
            return None
        present = description.attachment_to(attachment.instance)
        return present if present is not None and present.number == attachment.number else None

    def _patiently(
        self, api: str, fields: Mapping[str, str], caller: Caller, call: Callable[[], _Answer]
    ) -> _Answer:
        """Make an API call, again and again while it is throttled."""
        try:
            return self._once(api, fields, caller, call)
        except Throttled:
            pass
        give_up_at = self._runtime.now() + PATIENCE_SECONDS
        pause_seconds = _FIRST_PAUSE_SECONDS
        while True:
            # Jitter, so that callers who were throttled together do not come back together.
            resume_at = self._runtime.now() + pause_seconds * self._jitter.uniform(0.5, 1.0)
            if resume_at > give_up_at:
                raise PatienceExhausted(api, PATIENCE_SECONDS)
            caller.sleep_until(resume_at)
            pause_seconds = min(pause_seconds * 2, _LONGEST_PAUSE_SECONDS)
            try:
                return self._once(api, fields, caller, call)
            except Throttled:
                continue

    def _once(
        self, api: str, fields: Mapping[str, str], caller: Caller, call: Callable[[], _Answer]
    ) -> _Answer:
        """Make an API call, with its faults, and record it with the CSI call that it is made for.

        `fields` are what the call names, by kind.
        """
        started_seconds, error_name = self._runtime.now(), ""
        try:
            if self._faults is None:
                return call()
            return self._faults.around(api, fields, caller, call)
        except Exception as error:
            error_name = error.code if isinstance(error, InjectedFailure) else type(error).__name__
            raise
        finally:
            if isinstance(caller, RpcCaller):
                ids = tuple([id for kind, id in fields.items() if kind != "zone"])
                duration_seconds = self._runtime.now() - started_seconds
                caller.entry.add_cloud_call(CloudCall(api, ids, duration_seconds, error_name))
