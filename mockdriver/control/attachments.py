"""The Cloud service's RPCs about attachments: what is attached where, out of band."""

from __future__ import annotations

from mockdriver.cloud import Attachment, AttachmentState, Caller
from mockdriver.cloud.resources import NO_TAGS
from mockdriver.control import views
from mockdriver.control.checking import changed_tags, check_disk_id, checked_value, required
from mockdriver.control.errors import AttachmentGone
from mockdriver.control.rpc_group import RpcGroup
from mockdriver.control.v1 import cloud_pb2
from mockdriver.driver.attachment_tags import PUBLISHED_AT_START
from mockdriver.scenario.kinds import name_of

_STATE = name_of("state", [state.value for state in AttachmentState])


class AttachmentRpcs(RpcGroup):
    """Attachments come, change and go. A base of CloudService."""

    def ListAttachments(
        self, request: cloud_pb2.ListAttachmentsRequest, caller: Caller
    ) -> cloud_pb2.ListAttachmentsResponse:
        """Return the attachments of an instance, of a disk, of both, or all."""
        operator = self._operator
        if request.instance:
            found = operator.attachments(request.instance)
            if request.disk:
                operator.disk(request.disk)
                found = [item for item in found if item.disk == request.disk]
        elif request.disk:
            found = operator.attachments_of(request.disk)
        else:
            found = operator.all_attachments()
        return cloud_pb2.ListAttachmentsResponse(
            attachments=[self._attachment(item) for item in found]
        )

    def GetAttachment(
        self, request: cloud_pb2.GetAttachmentRequest, caller: Caller
    ) -> cloud_pb2.Attachment:
        """Return the attachment of a disk to an instance."""
        required(request, "instance", "disk")
        return self._attachment(self._operator.require_attachment(request.disk, request.instance))

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

    def ChangeAttachment(
        self, request: cloud_pb2.ChangeAttachmentRequest, caller: Caller
    ) -> cloud_pb2.Attachment:
        """Put an attachment into a state by hand, and change its tags."""
        required(request, "instance", "disk")
        state = None
        if request.state:
            state = AttachmentState(checked_value(_STATE, request.state, "state"))
        changed_tags({}, request.set_tags, request.remove_tags)
        return self._attachment(
            self._operator.change_attachment(
                request.disk,
                request.instance,
                state=state,
                set_tags=dict(request.set_tags),
                remove_tags=frozenset(request.remove_tags),
            )
        )

    def Release(
        self, request: cloud_pb2.ReleaseRequest, caller: Caller
    ) -> cloud_pb2.ReleaseResponse:
        """End held transitions."""
        released = self._operator.release(
            instance=request.instance or None, disk=request.disk or None
        )
        return cloud_pb2.ReleaseResponse(released=released)

    def _attachment(self, record: Attachment) -> cloud_pb2.Attachment:
        """Return an attachment that was there a moment ago; its disk may have gone since."""
        boot, type_ = self._operator.role_of(record)
        return views.attachment(record, boot, type_, self._world.runtime.now())
