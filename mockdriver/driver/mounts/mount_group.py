"""The group that a volume is mounted for: volume_mount_group of CSI, fsGroup of Kubernetes."""

from __future__ import annotations

import os
import re
import stat
from contextlib import suppress

_NUMBER = re.compile(r"[0-9]{1,10}")
_MAX_GROUP = 2**32 - 2
"""The number above it means "no group" to the kernel."""


def give_to_group(fd: int, mount_group: str, *, readonly: bool) -> None:
    """Let a group use an opened folder, as far as this process may; what it may not is left out.

    The folder gets the group, and so does what is made in it (setgid); the group may write there
    unless it is `readonly` (CSI spec, VolumeCapability.MountVolume.volume_mount_group). The
    identifier is opaque to CSI; one that is no number of a group is not applied.
    """
    group = group_number(mount_group)
    if group is None:
        return
    more = stat.S_ISGID if readonly else stat.S_ISGID | stat.S_IRWXG
    # Who is neither root nor a member may not. To open the folder to another group would be wrong.
    with suppress(OSError):
        os.fchown(fd, -1, group)
        os.fchmod(fd, stat.S_IMODE(os.fstat(fd).st_mode) | more)


def group_number(mount_group: str) -> int | None:
    """Return the number that a group's identifier is, None if it is something else."""
    number = int(mount_group) if _NUMBER.fullmatch(mount_group) else None
    return None if number is None or number > _MAX_GROUP else number
