"""What groups of RPCs have in common; a service is made of one group or of several."""

from __future__ import annotations

from mockdriver.cloud import Caller, DiskDescription
from mockdriver.cloud.errors import DiskNotFound
from mockdriver.driver.context import DriverContext


class RpcGroup:
    """RPCs of one subject. Their methods have the names of the RPCs, and no two share one."""

    def __init__(self, context: DriverContext) -> None:
        self._context = context
        self._client = context.client
        self._capabilities = context.config.capabilities

    def _describe_volume(self, volume_id: str, caller: Caller) -> DiskDescription:
        """Describe a disk that is a volume; a boot disk is none. Raises DiskNotFound."""
        description = self._client.describe_disk(volume_id, caller)
        if description.disk.boot:
            raise DiskNotFound([volume_id])
        return description
