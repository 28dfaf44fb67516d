"""What the driver writes on cloud objects to remember it, since it keeps no state of its own."""

from __future__ import annotations

from collections.abc import Mapping

from csi_spec import csi_pb2

VOLUME_NAME = "csi-volume-name"
"""Tag on a disk: the name that CreateVolume was called with."""

PARAMETERS = "csi-parameters"
"""Tag on a disk: the parameters that CreateVolume was called with, as JSON."""

ACCESS_MODE = "csi-access-mode"
READONLY = "csi-readonly"

_Mode = csi_pb2.VolumeCapability.AccessMode.Mode


def publish_tags(access_mode: _Mode.ValueType, readonly: bool) -> Mapping[str, str]:
    """Return the tags of an attachment that ControllerPublishVolume makes.

    An attachment without them was made out of band.
    """
    return {ACCESS_MODE: _Mode.Name(access_mode), READONLY: "true" if readonly else "false"}


PUBLISHED_AT_START = publish_tags(csi_pb2.VolumeCapability.AccessMode.SINGLE_NODE_WRITER, False)
"""The tags of what a scenario lists as published."""


def is_out_of_band(tags: Mapping[str, str]) -> bool:
    """Tell whether an attachment was made, and not adopted, by somebody else than the driver."""
    return ACCESS_MODE not in tags
