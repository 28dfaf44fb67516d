"""Which capabilities the driver has: what is built, what is switched on, and what that breaks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from csi_spec import csi_pb2

_ENUMS = {
    "plugin": csi_pb2.PluginCapability.Service.Type.DESCRIPTOR,
    "controller": csi_pb2.ControllerServiceCapability.RPC.Type.DESCRIPTOR,
    "node": csi_pb2.NodeServiceCapability.RPC.Type.DESCRIPTOR,
}
"""The enums that name capabilities, by the prefix that tells them apart."""

_RESERVED = {"controller": {11}, "node": {4}}
"""Numbers that CSI v1.13.0 reserves; see test_capabilities, which reads them off csi.proto."""


@dataclass(frozen=True, slots=True, order=True)
class Capability:
    """One capability: `service` is plugin, controller or node; `name` is the enum value's."""

    service: str
    name: str

    def __str__(self) -> str:
        return f"{self.service}.{self.name}"


CONTROLLER_SERVICE = Capability("plugin", "CONTROLLER_SERVICE")
VOLUME_ACCESSIBILITY_CONSTRAINTS = Capability("plugin", "VOLUME_ACCESSIBILITY_CONSTRAINTS")
CREATE_DELETE_VOLUME = Capability("controller", "CREATE_DELETE_VOLUME")
PUBLISH_UNPUBLISH_VOLUME = Capability("controller", "PUBLISH_UNPUBLISH_VOLUME")
GET_NODE_INFO = Capability("controller", "GET_NODE_INFO")
LIST_VOLUMES = Capability("controller", "LIST_VOLUMES")
LIST_VOLUMES_PUBLISHED_NODES = Capability("controller", "LIST_VOLUMES_PUBLISHED_NODES")
GET_VOLUME = Capability("controller", "GET_VOLUME")
GET_CAPACITY = Capability("controller", "GET_CAPACITY")
PUBLISH_READONLY = Capability("controller", "PUBLISH_READONLY")
SINGLE_NODE_MULTI_WRITER = Capability("controller", "SINGLE_NODE_MULTI_WRITER")
NODE_INFO_FROM_CONTROLLER = Capability("node", "NODE_INFO_FROM_CONTROLLER")
STAGE_UNSTAGE_VOLUME = Capability("node", "STAGE_UNSTAGE_VOLUME")
GET_VOLUME_STATS = Capability("node", "GET_VOLUME_STATS")
NODE_SINGLE_NODE_MULTI_WRITER = Capability("node", "SINGLE_NODE_MULTI_WRITER")
VOLUME_MOUNT_GROUP = Capability("node", "VOLUME_MOUNT_GROUP")

BUILT = (
    CONTROLLER_SERVICE,
    VOLUME_ACCESSIBILITY_CONSTRAINTS,
    CREATE_DELETE_VOLUME,
    PUBLISH_UNPUBLISH_VOLUME,
    LIST_VOLUMES,
    LIST_VOLUMES_PUBLISHED_NODES,
    GET_VOLUME,
    GET_CAPACITY,
    PUBLISH_READONLY,
    SINGLE_NODE_MULTI_WRITER,
    GET_NODE_INFO,
    STAGE_UNSTAGE_VOLUME,
    GET_VOLUME_STATS,
    NODE_SINGLE_NODE_MULTI_WRITER,
    VOLUME_MOUNT_GROUP,
    NODE_INFO_FROM_CONTROLLER,
)
"""What this driver can do. All of it is on unless it is switched off."""

PROVISIONAL = (GET_NODE_INFO, NODE_INFO_FROM_CONTROLLER)
"""Capabilities whose enum number KEP-6011 has not fixed yet."""


class CapabilityMistake(ValueError):
    """A capability was named that does not exist, is ambiguous, or cannot be had."""


def find(name: str) -> Capability:
    """Return the built capability that `[service.]NAME` means; raises CapabilityMistake.

    The service may be left out where the name is unique among all of CSI's capabilities.
    """
    service, dot, short = name.rpartition(".")
    matches = [
        Capability(prefix, short)
        for prefix, enum in _ENUMS.items()
        if short in enum.values_by_name and short != "UNKNOWN" and (not dot or prefix == service)
    ]
    if len(matches) > 1:
        raise CapabilityMistake(f"{name}: say which: {', '.join(map(str, matches))}")
    if not matches:
        raise CapabilityMistake(f"{name}: no such capability, there are: {_listed(BUILT)}")
    if matches[0] not in BUILT:
        raise CapabilityMistake(f"{name}: not built yet, there are: {_listed(BUILT)}")
    return matches[0]


def parse_switch(text: str) -> tuple[Capability, bool]:
    """Read `[service.]NAME=on|off`; raises CapabilityMistake."""
    name, _, value = text.partition("=")
    if value not in ("on", "off"):
        raise CapabilityMistake(f"{text}: want [controller.|node.|plugin.]NAME=on|off")
    return find(name), value == "on"


def parse_number(text: str) -> tuple[Capability, int]:
    """Read `NAME=NUMBER`, a number for a provisional capability; raises CapabilityMistake."""
    name, _, value = text.partition("=")
    capability = find(name)
    if capability not in PROVISIONAL:
        raise CapabilityMistake(
            f"{name}: its number is fixed by CSI, only these can be set: {_listed(PROVISIONAL)}"
        )
    if not value.isdecimal() or len(value) > 9 or int(value) == 0:
        raise CapabilityMistake(f"{text}: the number must be 1 to 999999999, got {value!r}")
    number = int(value)
    enum = _ENUMS[capability.service]
    taken = enum.values_by_number.get(number)
    if taken is not None and taken.name != capability.name:
        raise CapabilityMistake(f"{text}: the number {number} is taken by {taken.name}")
    if number in _RESERVED.get(capability.service, ()):
        raise CapabilityMistake(f"{text}: the number {number} is reserved by CSI")
    return capability, number


class Capabilities:
    """The capabilities that are on, with the numbers that they are advertised under."""

    def __init__(
        self,
        switches: Mapping[Capability, bool] | None = None,
        numbers: Mapping[Capability, int] | None = None,
    ) -> None:
        switches = switches or {}
        self._on = frozenset(item for item in BUILT if switches.get(item, True))
        self._numbers = dict(numbers or {})

    def __contains__(self, capability: Capability) -> bool:
        return capability in self._on

    def __iter__(self) -> Iterator[Capability]:
        return (item for item in BUILT if item in self._on)

    def all_on(self, *capabilities: Capability) -> bool:
        """Tell whether all of these are on."""
        return self._on.issuperset(capabilities)

    def numbers(self, service: str) -> list[int]:
        """Return the enum numbers to advertise for plugin, controller or node, ascending."""
        return sorted(self.number(item) for item in self._on if item.service == service)

    def number(self, capability: Capability) -> int:
        """Return the enum number of a capability."""
        own = _ENUMS[capability.service].values_by_name[capability.name].number
        return self._numbers.get(capability, own)

    @property
    def overridden_numbers(self) -> Mapping[Capability, int]:
        """The numbers that differ from csi.proto's, by capability."""
        return self._numbers

    def broken_invariants(self) -> list[str]:
        """Say in a sentence each which rules between capabilities do not hold.

        Tests of a CO need broken drivers, so nothing is refused.
        """
        found = []
        if NODE_INFO_FROM_CONTROLLER in self and GET_NODE_INFO not in self:
            found.append(
                "NODE_INFO_FROM_CONTROLLER is on without GET_NODE_INFO: nodes would register "
                "without topology and limit (KEP-6011, New Capabilities)"
            )
        if NODE_INFO_FROM_CONTROLLER in self and CONTROLLER_SERVICE not in self:
            found.append(
                "NODE_INFO_FROM_CONTROLLER is on without CONTROLLER_SERVICE: nodes would register "
                "without topology and limit (KEP-6011, New Capabilities)"
            )
        if GET_NODE_INFO in self and PUBLISH_UNPUBLISH_VOLUME not in self:
            found.append(
                "GET_NODE_INFO is on without PUBLISH_UNPUBLISH_VOLUME (KEP-6011, New Capabilities)"
            )
        if LIST_VOLUMES_PUBLISHED_NODES in self and PUBLISH_UNPUBLISH_VOLUME not in self:
            found.append(
                "LIST_VOLUMES_PUBLISHED_NODES is on without PUBLISH_UNPUBLISH_VOLUME "
                "(CSI spec, ControllerGetCapabilities)"
            )
        if VOLUME_ACCESSIBILITY_CONSTRAINTS not in self:
            found.append(
                "nodes report topology although VOLUME_ACCESSIBILITY_CONSTRAINTS is off "
                "(CSI spec, NodeGetInfo)"
            )
        return found


def _listed(capabilities: Iterable[Capability]) -> str:
    return ", ".join(map(str, capabilities))
