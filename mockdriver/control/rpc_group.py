"""What groups of RPCs have in common; a service is made of one group or of several."""

from __future__ import annotations

from mockdriver.cloud import Cloud, Operator
from mockdriver.control.world import World


class RpcGroup:
    """RPCs of one subject. Their methods have the names of the RPCs, and no two share one."""

    def __init__(self, world: World) -> None:
        self._world = world

    @property
    def _cloud(self) -> Cloud:
        return self._world.cloud

    @property
    def _operator(self) -> Operator:
        return self._world.cloud.operator
