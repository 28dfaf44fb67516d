"""The parameters of CreateVolume: the driver understands one and remembers all."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from mockdriver.cloud.errors import quoted
from mockdriver.driver.errors import InvalidField

MAX_ATTACHMENTS = "max_attachments"
"""How many nodes the volume can be attached to at once, as the key of a disk in a scenario."""

MANY_ATTACHMENTS = 16
"""What a volume for several nodes gets unless it says otherwise: as many as an EBS volume has."""

_MOST_ATTACHMENTS = 1_000_000


@dataclass(frozen=True, slots=True)
class VolumeParameters:
    """What the parameters mean. `text` is all of them, to be compared with those of a repeat."""

    text: str
    max_attachments: int


def read_parameters(parameters: Mapping[str, str], many_nodes: bool) -> VolumeParameters:
    """Read the parameters of a volume for one node or for `many_nodes`; raises InvalidField.

    Parameters that the driver does not know are remembered and have no effect.
    """
    max_attachments = MANY_ATTACHMENTS if many_nodes else 1
    given = parameters.get(MAX_ATTACHMENTS)
    if given is not None:
        field = f"parameters[{MAX_ATTACHMENTS}]"
        lowest = 2 if many_nodes else 1
        if not (given.isascii() and given.isdecimal() and len(given) <= 7):
            raise InvalidField(field, f"must be a whole number, got {quoted(given)}")
        max_attachments = int(given)
        if not lowest <= max_attachments <= _MOST_ATTACHMENTS:
            raise InvalidField(
                field,
                f"must be {lowest} to {_MOST_ATTACHMENTS} for these volume_capabilities, "
                f"got {given}",
            )
    text = json.dumps(dict(parameters), sort_keys=True, ensure_ascii=False)
    return VolumeParameters(text, max_attachments)
