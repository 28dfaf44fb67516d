"""What the simulated cloud holds: frozen records, replaced whole when something changes.

The field names are the project's word list: scenario files use the same names.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from mockdriver.cloud.transitions import Pending

NO_TAGS: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class InstanceType:
    """A kind of instance and its attachment capacity.

    `slots` is the raw number of slots; None means that the type sets no limit.
    """

    name: str
    slots: int | None = None
    network_interfaces_share_slots: bool = False
    boot_disk_uses_slot: bool = True


@dataclass(frozen=True, slots=True)
class Instance:
    """A virtual machine; its id is the CSI node_id, byte for byte."""

    id: str
    zone: str
    type: str | None = None


@dataclass(frozen=True, slots=True)
class NetworkInterface:
    """A network interface of an instance; it may use one of the instance's slots."""

    id: str
    instance: str


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk; its id is the CSI volume_id, byte for byte.

    `max_attachments` is the number of instances that it can be attached to at once. `tags` are
    free text that a user of the cloud leaves on it.
    """

    id: str
    zone: str
    size_gib: int = 10
    max_attachments: int = 1
    boot: bool = False
    tags: Mapping[str, str] = field(default_factory=lambda: NO_TAGS)


class AttachmentState(StrEnum):
    """Where an attachment stands. In each of these states it occupies its slot."""

    ATTACHING = "attaching"
    ATTACHED = "attached"
    DETACHING = "detaching"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class Attachment:
    """One attaching of a disk to an instance.

    `number` is never given twice. `pending` is what the running transition still waits for; None
    if there is none.
    """

    number: int
    disk: str
    instance: str
    state: AttachmentState
    tags: Mapping[str, str] = field(default_factory=lambda: NO_TAGS)
    pending: Pending | None = None
