"""Access modes and access types: which there are, which the driver takes, which get along."""

from __future__ import annotations

from collections.abc import Iterable

from csi_spec import csi_pb2
from mockdriver.driver.capabilities import Capabilities, Capability
from mockdriver.driver.errors import InvalidField

_Mode = csi_pb2.VolumeCapability.AccessMode

MULTI_NODE = frozenset(
    {_Mode.MULTI_NODE_READER_ONLY, _Mode.MULTI_NODE_SINGLE_WRITER, _Mode.MULTI_NODE_MULTI_WRITER}
)
NEEDS_SINGLE_NODE_MULTI_WRITER = frozenset(
    {_Mode.SINGLE_NODE_SINGLE_WRITER, _Mode.SINGLE_NODE_MULTI_WRITER}
)
SEVERAL_TARGETS = MULTI_NODE | {_Mode.SINGLE_NODE_MULTI_WRITER}
"""Modes in which a volume can be published at several paths of one node (CSI spec,
NodePublishVolume, second table)."""


def name_of(mode: int) -> str:
    """Return the name of an access mode that CSI defines."""
    return _Mode.Mode.Name(_Mode.Mode.ValueType(mode))


def refuse_unknown_modes(
    field: str,
    volume_capabilities: Iterable[csi_pb2.VolumeCapability],
    capabilities: Capabilities,
    needed: Capability,
) -> None:
    """Raise InvalidField for a mode that only drivers with the capability `needed` know.

    Without SINGLE_NODE_MULTI_WRITER a driver is one that was written before these modes were.
    """
    if needed in capabilities:
        return
    for capability in volume_capabilities:
        mode = capability.access_mode.mode
        if mode in NEEDS_SINGLE_NODE_MULTI_WRITER:
            raise InvalidField(
                f"{field}.access_mode.mode",
                f"{name_of(mode)} needs the capability {needed}, which is off",
            )


def wants_many_nodes(volume_capabilities: Iterable[csi_pb2.VolumeCapability]) -> bool:
    """Tell whether one of the capabilities has a MULTI_NODE access mode."""
    return any(item.access_mode.mode in MULTI_NODE for item in volume_capabilities)
