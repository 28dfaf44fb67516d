"""One codec: records, plain data and messages have the same words."""

from __future__ import annotations

from dataclasses import MISSING, fields

import pytest
from google.protobuf.message import Message

from mockdriver.cloud import Attachment, Disk, Instance, InstanceType, NetworkInterface, Quota
from mockdriver.control.messages import message, plain
from mockdriver.control.v1 import cloud_pb2
from mockdriver.scenario.base_model import Model
from mockdriver.scenario.cloud_model import (
    AttachmentModel,
    DiskModel,
    InstanceTypeModel,
    NewInstance,
    QuotaModel,
)
from mockdriver.scenario.codec import data, record, short_data

PLACES: list[tuple[type, type[Model], type[Message], set[str]]] = [
    (InstanceType, InstanceTypeModel, cloud_pb2.InstanceType, {"name"}),
    (Instance, NewInstance, cloud_pb2.Instance, set()),
    (Disk, DiskModel, cloud_pb2.Disk, set()),
    (Attachment, AttachmentModel, cloud_pb2.Attachment, {"number", "pending"}),
    (Quota, QuotaModel, cloud_pb2.Quota, {"delay_seconds"}),
]
"""Each resource in its three places, and the fields that not all of them have."""


@pytest.mark.parametrize(("kind", "model", "proto", "own"), PLACES)
def test_a_field_of_a_record_is_in_the_model_and_in_the_message(
    kind: type, model: type[Model], proto: type[Message], own: set[str]
) -> None:
    names = {field.name for field in fields(kind)} - own
    assert names <= set(model.model_fields)
    assert names <= set(proto.DESCRIPTOR.fields_by_name)


def test_a_disk_goes_through_all_places_and_comes_back() -> None:
    disk = Disk("vol", "zone-a", size_gib=7, max_attachments=2, boot=True, tags={"a": "b"})
    shown = message(cloud_pb2.Disk, disk, instances=[])
    assert record(Disk, DiskModel.model_validate(plain(shown))) == disk
    assert record(Disk, DiskModel.model_validate(data(disk, DiskModel))) == disk
    assert record(Disk, DiskModel.model_validate(short_data(disk, DiskModel))) == disk


def test_what_is_the_default_is_left_out_of_short_data() -> None:
    assert short_data(Disk("vol", "zone-a"), DiskModel) == {"id": "vol", "zone": "zone-a"}
    assert data(Disk("vol", "zone-a"), DiskModel) == {
        "id": "vol",
        "zone": "zone-a",
        "size_gib": 10,
        "max_attachments": 1,
        "boot": False,
        "tags": {},
    }


def test_durations_are_written_as_a_file_writes_them() -> None:
    quota = Quota(burst=1, per_second=0.5, delay_seconds=0.05)
    written = short_data(quota, QuotaModel)
    assert written == {"burst": 1, "per_second": 0.5, "delay": "50ms"}
    assert QuotaModel.model_validate(written).quota() == quota


def test_a_record_keeps_its_defaults_where_the_model_says_nothing() -> None:
    model = NewInstance.model_validate({"id": "i-1"})
    assert record(Instance, model, zone="zone-a") == Instance("i-1", "zone-a")
    assert all(field.default is not MISSING for field in fields(Quota))


def test_none_leaves_a_field_unset() -> None:
    shown = message(cloud_pb2.InstanceType, InstanceType("t"))
    assert not shown.HasField("slots")
    assert shown.HasField("boot_disk_uses_slot")


def test_a_field_that_has_no_source_is_found() -> None:
    with pytest.raises(AttributeError):
        message(cloud_pb2.Instance, NetworkInterface("eni", "i-1"))


def test_plain_data_has_what_is_set() -> None:
    type_ = cloud_pb2.InstanceType(name="t", slots=0)
    request = cloud_pb2.AddInstanceTypeRequest(instance_type=type_)
    assert plain(request) == {"instance_type": {"name": "t", "slots": 0}}
    tagged = cloud_pb2.AddDiskRequest(id="d", tags={"b": "2", "a": "1"})
    assert plain(tagged) == {"id": "d", "tags": {"a": "1", "b": "2"}}
