"""The caller of the cloud on behalf of one CSI call."""

from __future__ import annotations

from collections.abc import Callable

from mockdriver.cloud import Caller
from mockdriver.journal import Entry
from mockdriver.runtime import Runtime


class RpcCaller(Caller):
    """A caller that knows which call in the journal it acts for: `entry`.

    What the call causes, such as calls of the cloud's API, is recorded there.
    """

    __slots__ = ("entry",)

    def __init__(
        self,
        runtime: Runtime,
        entry: Entry,
        on_first_wait: Callable[[Caller], None] | None = None,
    ) -> None:
        super().__init__(runtime, on_first_wait)
        self.entry = entry
