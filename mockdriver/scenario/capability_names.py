"""The names of CSI capabilities, by service, and which of them this driver has.

The names are the enum values of csi.proto, which this layer does not import; a test compares them.
"""

from __future__ import annotations

from collections.abc import Mapping

KNOWN: Mapping[str, tuple[str, ...]] = {
    "plugin": (
        "CONTROLLER_SERVICE",
        "VOLUME_ACCESSIBILITY_CONSTRAINTS",
        "GROUP_CONTROLLER_SERVICE",
        "SNAPSHOT_METADATA_SERVICE",
        "SNAPSHOT_ACCESSIBILITY_CONSTRAINTS",
        "ONLINE",  # of VolumeExpansion
        "OFFLINE",
    ),
    "controller": (
        "CREATE_DELETE_VOLUME",
        "PUBLISH_UNPUBLISH_VOLUME",
        "LIST_VOLUMES",
        "GET_CAPACITY",
        "CREATE_DELETE_SNAPSHOT",
        "LIST_SNAPSHOTS",
        "CLONE_VOLUME",
        "PUBLISH_READONLY",
        "EXPAND_VOLUME",
        "LIST_VOLUMES_PUBLISHED_NODES",
        "GET_VOLUME",
        "SINGLE_NODE_MULTI_WRITER",
        "MODIFY_VOLUME",
        "GET_SNAPSHOT",
        "GET_VOLUME_HEALTH",
        "LIST_VOLUME_HEALTH",
        "GET_NODE_INFO",
    ),
    "node": (
        "STAGE_UNSTAGE_VOLUME",
        "GET_VOLUME_STATS",
        "EXPAND_VOLUME",
        "SINGLE_NODE_MULTI_WRITER",
        "VOLUME_MOUNT_GROUP",
        "GET_VOLUME_HEALTH",
        "GET_STORAGE_HEALTH",
        "NODE_INFO_FROM_CONTROLLER",
    ),
    "group_controller": ("CREATE_DELETE_GET_VOLUME_GROUP_SNAPSHOT",),
}

BUILT: Mapping[str, tuple[str, ...]] = {
    "plugin": ("CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS"),
    "controller": (
        "CREATE_DELETE_VOLUME",
        "PUBLISH_UNPUBLISH_VOLUME",
        "LIST_VOLUMES",
        "LIST_VOLUMES_PUBLISHED_NODES",
        "GET_VOLUME",
        "GET_CAPACITY",
        "PUBLISH_READONLY",
        "SINGLE_NODE_MULTI_WRITER",
        "GET_NODE_INFO",
    ),
    "node": (
        "STAGE_UNSTAGE_VOLUME",
        "GET_VOLUME_STATS",
        "SINGLE_NODE_MULTI_WRITER",
        "VOLUME_MOUNT_GROUP",
        "NODE_INFO_FROM_CONTROLLER",
    ),
    "group_controller": (),
}
"""What the driver has; all of it is on unless it is switched off."""
