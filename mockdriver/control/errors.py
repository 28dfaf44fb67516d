"""What the control API itself refuses, as typed errors; the cloud and the driver have their own."""

from __future__ import annotations

from collections.abc import Sequence

from mockdriver.cloud import Attachment
from mockdriver.cloud.errors import quoted


class ControlError(Exception):
    """Base of what the control API refuses."""


class InvalidRequest(ControlError):
    """Fields of a request that are not allowed: `problems` are pairs of a field and what is wrong.

    Where there are many the message tells the first ones.
    """

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        lines = [f"{field}: {problem}" for field, problem in self.problems[:_SHOWN_PROBLEMS]]
        more = len(self.problems) - _SHOWN_PROBLEMS
        super().__init__("; ".join(lines) + (f"; and {more} more" if more > 0 else ""))


_SHOWN_PROBLEMS = 5


class NoSuchRpc(ControlError):
    """The control API has no such service or RPC, or it is not served here."""


class AttachmentGone(ControlError):
    """Somebody detached the disk while this call waited for it."""

    def __init__(self, attachment: Attachment) -> None:
        self.attachment = attachment
        super().__init__(
            f"disk {quoted(attachment.disk)} was detached from instance "
            f"{quoted(attachment.instance)} while this call waited for it"
        )
