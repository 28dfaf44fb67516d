"""Messages as plain data, with the secrets taken out."""

from __future__ import annotations

import json

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, wrappers_pb2
from google.protobuf.message_factory import GetMessageClass

from csi_spec import csi_pb2
from mockdriver.journal.redaction import SERVICE_ACCOUNT_TOKENS, STRIPPED, plain

Mode = csi_pb2.VolumeCapability.AccessMode


def test_set_fields_stand_under_their_names() -> None:
    request = csi_pb2.ControllerPublishVolumeRequest(
        volume_id="vol-1", node_id="i-1", readonly=True
    )
    assert plain(request) == {"volume_id": "vol-1", "node_id": "i-1", "readonly": True}


def test_an_empty_message_gives_nothing() -> None:
    assert plain(csi_pb2.ControllerPublishVolumeRequest()) == {}


def test_messages_lists_maps_and_enums_become_plain_data() -> None:
    request = csi_pb2.CreateVolumeRequest(
        name="pvc-1",
        capacity_range=csi_pb2.CapacityRange(required_bytes=1),
        parameters={"b": "2", "a": "1"},
    )
    added = request.volume_capabilities.add()
    added.mount.mount_flags.extend(["ro", "noatime"])
    added.access_mode.mode = Mode.SINGLE_NODE_WRITER
    assert plain(request) == {
        "name": "pvc-1",
        "capacity_range": {"required_bytes": 1},
        "volume_capabilities": [
            {
                "mount": {"mount_flags": ["ro", "noatime"]},
                "access_mode": {"mode": "SINGLE_NODE_WRITER"},
            }
        ],
        "parameters": {"a": "1", "b": "2"},
    }


def test_maps_are_in_the_order_of_their_keys_so_that_two_runs_are_equal() -> None:
    keys = ["zone", "a", "m", "b"]
    for order in (keys, keys[::-1]):
        found = plain(csi_pb2.Topology(segments=dict.fromkeys(order, "x")))
        assert list(found["segments"]) == ["a", "b", "m", "zone"]


def test_an_enum_value_without_a_name_stays_a_number() -> None:
    assert plain(Mode(mode=Mode.Mode.ValueType(99))) == {"mode": 99}


def test_wrapped_values_are_readable() -> None:
    response = csi_pb2.ProbeResponse(ready=wrappers_pb2.BoolValue(value=True))
    assert plain(response) == {"ready": {"value": True}}


def test_secret_values_are_stripped_and_their_keys_stay() -> None:
    request = csi_pb2.DeleteVolumeRequest(secrets={"password": "hunter2", "user": "root"})
    assert plain(request) == {"secrets": {"password": STRIPPED, "user": STRIPPED}}


def test_tokens_of_service_accounts_are_stripped_from_the_volume_context() -> None:
    request = csi_pb2.ControllerPublishVolumeRequest(
        volume_context={SERVICE_ACCOUNT_TOKENS: '{"": {"token": "hunter2"}}', "path": "/a"}
    )
    assert plain(request) == {
        "volume_context": {SERVICE_ACCOUNT_TOKENS: STRIPPED, "path": "/a"},
    }


def test_the_key_of_the_tokens_and_the_stripped_value_are_the_published_ones() -> None:
    assert SERVICE_ACCOUNT_TOKENS == "csi.storage.k8s.io/serviceAccount.tokens"
    assert STRIPPED == "***stripped***"


def test_a_secret_deep_inside_a_message_is_stripped_too() -> None:
    volume = csi_pb2.Volume(volume_context={SERVICE_ACCOUNT_TOKENS: "hunter2"})
    response = csi_pb2.ListVolumesResponse()
    response.entries.add(volume=volume)
    assert "hunter2" not in json.dumps(plain(response))


def test_a_secret_that_is_no_map_is_stripped_too() -> None:
    # CSI has no such field yet; a later version may.
    file = descriptor_pb2.FileDescriptorProto(
        name="secret.proto", package="secret", dependency=[csi_pb2.DESCRIPTOR.name], syntax="proto3"
    )
    field = file.message_type.add(name="Request").field.add(
        name="password",
        number=1,
        type=descriptor_pb2.FieldDescriptorProto.TYPE_STRING,
        label=descriptor_pb2.FieldDescriptorProto.LABEL_OPTIONAL,
    )
    field.options.Extensions[csi_pb2.csi_secret] = True
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    request = GetMessageClass(pool.FindMessageTypeByName("secret.Request"))(password="hunter2")
    assert plain(request) == {"password": STRIPPED}


def test_unknown_fields_are_not_shown() -> None:
    unknown = b"\xfa\x3e\x07hunter2"  # field 1007, seven bytes
    request = csi_pb2.DeleteVolumeRequest.FromString(b"\x0a\x05vol-1" + unknown)
    assert plain(request) == {"volume_id": "vol-1"}


@pytest.mark.parametrize("name", sorted(csi_pb2.DESCRIPTOR.message_types_by_name))
def test_every_message_of_csi_becomes_something_that_json_can_write(name: str) -> None:
    message = getattr(csi_pb2, name)()
    for field in message.DESCRIPTOR.fields:
        if field.message_type is None and not field.is_repeated:
            setattr(message, field.name, type(getattr(message, field.name))(1))
    found = plain(message)
    assert json.loads(json.dumps(found)) == found
