"""The Cloud service's RPCs about attachments: attach and detach out of band."""

from __future__ import annotations

from mockdriver.cloud import Attachment, Caller
from mockdriver.cloud.resources import NO_TAGS
from mockdriver.control import views
from mockdriver.control.checking import check_disk_id, required
from mockdriver.control.errors import AttachmentGone
from mockdriver.control.rpc_group import RpcGroup
from mockdriver.control.v1 import cloud_pb2
from mockdriver.driver.attachment_tags import PUBLISHED_AT_START


class AttachmentRpcs(RpcGroup):
    """Attachments come and go. A base of CloudService."""

    def Attach(self, request: cloud_pb2.AttachRequest, caller: Caller) -> cloud_pb2.Attachment:
        """Attach a disk out of band, and wait for the end of its transition if asked to."""
        required(request, "instance", "disk")
        check_disk_id(request.disk, "disk")
        made = self._operator.attach(
            request.disk,
            request.instance,
            tags=PUBLISHED_AT_START if request.published else NO_TAGS,
            immediately=request.immediately,
            force=request.force,
            make=True,
        )
        if request.wait:
            settled = self._operator.wait_until_settled(made, caller)
            if settled is None:
                raise AttachmentGone(made)
            made = settled
        return self._attachment(made)

    def Detach(self, request: cloud_pb2.DetachRequest, caller: Caller) -> cloud_pb2.DetachResponse:
        """Detach a disk out of band, and wait for the end of its transition if asked to."""
        required(request, "instance", "disk")
        leaving = self._operator.detach(
            request.disk, request.instance, immediately=request.immediately, force=request.force
        )
        if leaving is not None and request.wait:
            leaving = self._operator.wait_until_settled(leaving, caller)
        if leaving is None:
            return cloud_pb2.DetachResponse()
        return cloud_pb2.DetachResponse(attachment=self._attachment(leaving))

    def _attachment(self, record: Attachment) -> cloud_pb2.Attachment:
        """Return an attachment that was there a moment ago; its disk may have gone since."""
        boot, type_ = self._operator.role_of(record)
        return views.attachment(record, boot, type_, self._world.runtime.now())
