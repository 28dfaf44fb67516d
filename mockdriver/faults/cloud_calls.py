"""The APIs of the cloud that faults can act on: what their calls name, and their errors."""

from __future__ import annotations

from collections.abc import Mapping

CLOUD_FIELDS: Mapping[str, tuple[str, ...]] = {
    "describe_instances": ("instance",),
    "describe_types": ("type",),
    "describe_disks": ("disk",),
    "attach": ("instance", "disk"),
    "detach": ("instance", "disk"),
    "create_disk": ("zone",),
    "delete_disk": ("disk",),
}
"""The APIs of the cloud, and the fields that their calls have."""

CLOUD_ERRORS: Mapping[str, tuple[str, ...]] = {
    "describe_instances": ("InstanceNotFound", "Throttled", "TooManyIds"),
    "describe_types": ("InstanceTypeNotFound", "Throttled", "TooManyIds"),
    "describe_disks": ("DiskNotFound", "Throttled", "TooManyIds"),
    "attach": (
        "InstanceNotFound",
        "DiskNotFound",
        "TransitionUnderWay",
        "AttachedElsewhere",
        "TooManyAttachments",
        "ZoneMismatch",
        "SlotsExhausted",
        "Throttled",
    ),
    "detach": (
        "InstanceNotFound",
        "DiskNotFound",
        "NotAttached",
        "TransitionUnderWay",
        "BootDiskInUse",
        "Throttled",
    ),
    "create_disk": ("ZoneNotFound", "ZoneFull", "DiskSizeNotAllowed", "Throttled"),
    "delete_disk": ("DiskNotFound", "DiskInUse", "BootDiskInUse", "Throttled"),
}
"""What each API can refuse with; the names of classes in cloud/errors.py."""

ERROR_NAMES = tuple(dict.fromkeys(name for names in CLOUD_ERRORS.values() for name in names))
