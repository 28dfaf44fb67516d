"""The size limit of every field of every RPC that is built, read off csi.proto by another rule.

CSI spec, "Size Limits": 128 bytes for a string, 4 KiB for a map; and what single fields say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest
from google.protobuf.descriptor import Descriptor, FieldDescriptor

from tests.driver.small_driver import request_class
from tests.driver.small_node import SmallNode
from tests.driver.test_field_checks import complete_request
from tests.driver.test_layers import BUILT_RPCS

PATHS = {"staging_target_path", "target_path", "volume_path"}
EURO = "€"
"""Three bytes in UTF-8."""


@dataclass(frozen=True)
class Place:
    """A field at any depth. `fill` puts so many bytes into it."""

    rpc: str
    path: str
    limit: int
    fill: Callable[[Any, int], None]

    def __str__(self) -> str:
        return f"{self.rpc}-{self.path}"


def text_of(size: int) -> str:
    """Return a text of so many bytes, most of its characters having three."""
    count, rest = divmod(size, len(EURO.encode()))
    return EURO * count + "x" * rest


def limit_of(field: FieldDescriptor) -> int:
    if field.is_repeated:  # a map, or mount_flags
        return 4096
    return 4096 if field.name in PATHS else 256 if field.name == "node_id" else 128


def fill_string(field: FieldDescriptor) -> Callable[[Any, int], None]:
    def fill(message: Any, size: int) -> None:
        if field.is_repeated:
            # The limit is on all of them together.
            getattr(message, field.name)[:] = [text_of(size - 100), "x" * 100]
        else:
            setattr(message, field.name, text_of(size))

    return fill


def fill_map(field: FieldDescriptor) -> Callable[[Any, int], None]:
    def fill(message: Any, size: int) -> None:
        entries = getattr(message, field.name)
        entries.clear()
        entries.update({"a": text_of(size - 100), "b" * 99: ""})

    return fill


def fill_inside(
    field: FieldDescriptor, inner: Callable[[Any, int], None]
) -> Callable[[Any, int], None]:
    def fill(message: Any, size: int) -> None:
        value = getattr(message, field.name)
        if field.is_repeated:
            value = value[0] if len(value) else value.add()
        else:
            value.SetInParent()
        inner(value, size)

    return fill


def places(
    message: Descriptor, path: str = ""
) -> Iterator[tuple[str, int, Callable[[Any, int], None]]]:
    """Yield all fields with a limit: path, limit, and how to fill them."""
    for field in message.fields:
        name, inner = path + field.name, field.message_type
        if inner is not None and inner.GetOptions().map_entry:
            yield name, limit_of(field), fill_map(field)
        elif inner is not None:
            step = f"{name}[0]." if field.is_repeated else f"{name}."
            for place, limit, fill in places(inner, step):
                yield place, limit, fill_inside(field, fill)
        elif field.type == FieldDescriptor.TYPE_STRING:
            yield name, limit_of(field), fill_string(field)


PLACES = [
    Place(rpc, *place)
    for rpc in BUILT_RPCS
    for place in places(cast(Descriptor, request_class(rpc).DESCRIPTOR))
]


def answer_to(place: Place, size: int, folder: Path) -> tuple[str, str]:
    request = complete_request(place.rpc)
    place.fill(request, size)
    answer = SmallNode(folder).call(place.rpc, request)
    return answer.code, answer.message


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_field_that_is_full_is_not_too_large(place: Place, tmp_path: Path) -> None:
    code, message = answer_to(place, place.limit, tmp_path)
    assert "bytes, allowed are" not in message
    assert "bytes in all, allowed are" not in message
    assert code not in {"UNKNOWN", "INTERNAL"}


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_a_field_with_a_byte_more_is_named(place: Place, tmp_path: Path) -> None:
    code, message = answer_to(place, place.limit + 1, tmp_path)
    assert code == "INVALID_ARGUMENT"
    assert message.startswith(f"{place.path}: has {place.limit + 1} bytes")
    assert f"allowed are {place.limit}" in message
    assert len(message) < 500


def test_the_fields_that_the_spec_names_are_among_them() -> None:
    found = {str(place): place.limit for place in PLACES}
    assert found["CreateVolume-name"] == 128
    assert found["CreateVolume-volume_capabilities[0].mount.mount_flags"] == 4096
    assert found["CreateVolume-accessibility_requirements.preferred[0].segments"] == 4096
    assert found["CreateVolume-volume_content_source.snapshot.snapshot_id"] == 128
    assert found["ControllerPublishVolume-node_id"] == 256
    assert found["NodeStageVolume-secrets"] == 4096
    assert found["NodePublishVolume-target_path"] == 4096
    assert found["NodeGetVolumeStats-staging_target_path"] == 4096
    assert found["ListVolumes-starting_token"] == 128
    assert len(found) > 60
