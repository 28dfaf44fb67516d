"""What groups of RPCs have in common; a service is made of one group or of several."""

from __future__ import annotations

from mockdriver.driver.context import DriverContext


class RpcGroup:
    """RPCs of one subject. Their methods have the names of the RPCs, and no two share one."""

    def __init__(self, context: DriverContext) -> None:
        self._context = context
        self._client = context.client
        self._capabilities = context.config.capabilities
