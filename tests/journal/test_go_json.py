"""Messages as Go's encoding/json writes them, and the line of Kubernetes' e2e suite.

That Go agrees is what tests/go/test_e2e_lines.py finds out; these tests need no Go.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, wrappers_pb2
from google.protobuf.message_factory import GetMessageClass

from csi_spec import csi_pb2
from mockdriver.journal.e2e_lines import MAX_BODY_BYTES, e2e_line
from mockdriver.journal.go_json import go_json
from mockdriver.journal.redaction import SERVICE_ACCOUNT_TOKENS, STRIPPED
from tests.journal.recorded import SmallJournal
from tests.requests import CAPABILITY

Mode = csi_pb2.VolumeCapability.AccessMode


def parsed(line: str) -> dict[str, Any]:
    """Return the object that a line holds."""
    prefix, _, rest = line.partition(" ")
    assert prefix == "gRPCCall:"
    found: dict[str, Any] = json.loads(rest)
    return found


# ------------------------------------------------------------------------------------------ values


def test_what_is_zero_is_left_out() -> None:
    assert go_json(csi_pb2.ControllerPublishVolumeRequest()) == {}
    assert go_json(csi_pb2.CapacityRange(limit_bytes=5)) == {"limit_bytes": 5}


def test_a_message_that_is_set_stays_even_if_it_is_empty() -> None:
    request = csi_pb2.CreateVolumeRequest(capacity_range=csi_pb2.CapacityRange())
    assert go_json(request) == {"capacity_range": {}}


def test_a_oneof_is_a_field_with_the_name_of_what_is_set() -> None:
    assert go_json(CAPABILITY) == {"AccessType": {"Mount": {}}, "access_mode": {"mode": 1}}
    source = csi_pb2.VolumeContentSource(
        volume=csi_pb2.VolumeContentSource.VolumeSource(volume_id="v")
    )
    assert go_json(source) == {"Type": {"Volume": {"volume_id": "v"}}}
    kind = csi_pb2.PluginCapability.VolumeExpansion
    expansion = csi_pb2.PluginCapability(volume_expansion=kind(type=kind.ONLINE))
    assert go_json(expansion) == {"Type": {"VolumeExpansion": {"type": 1}}}


def test_a_oneof_of_which_nothing_is_set_is_null() -> None:
    assert go_json(csi_pb2.VolumeCapability()) == {"AccessType": None}


def test_enums_and_large_integers_are_numbers() -> None:
    assert go_json(Mode(mode=Mode.MULTI_NODE_MULTI_WRITER)) == {"mode": 5}
    assert go_json(Mode(mode=Mode.Mode.ValueType(99))) == {"mode": 99}
    assert go_json(csi_pb2.CapacityRange(required_bytes=2**62)) == {"required_bytes": 2**62}


def test_wrappers_and_times_are_the_messages_that_they_are() -> None:
    response = csi_pb2.ProbeResponse(ready=wrappers_pb2.BoolValue(value=False))
    assert go_json(response) == {"ready": {}}
    snapshot = csi_pb2.Snapshot()
    snapshot.creation_time.FromMilliseconds(1_500)
    assert go_json(snapshot) == {"creation_time": {"seconds": 1, "nanos": 500_000_000}}


def test_secrets_are_stripped_and_their_keys_stay() -> None:
    request = csi_pb2.NodePublishVolumeRequest(
        secrets={"b": "swordfish", "a": ""},
        volume_context={SERVICE_ACCOUNT_TOKENS: "swordfish", "pod": "p"},
    )
    assert go_json(request) == {
        "secrets": {"a": STRIPPED, "b": STRIPPED},
        "volume_context": {SERVICE_ACCOUNT_TOKENS: STRIPPED, "pod": "p"},
    }


def test_what_csi_does_not_have_yet_is_written_as_go_would() -> None:
    # Bytes, `optional`, a list of bytes, a secret that is no map.
    kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(
        name="later.proto", package="later", dependency=[csi_pb2.DESCRIPTOR.name], syntax="proto3"
    )
    message = file.message_type.add(name="Request")
    for number, (name, kind, label) in enumerate(
        [
            ("data", kinds.TYPE_BYTES, kinds.LABEL_OPTIONAL),
            ("parts", kinds.TYPE_BYTES, kinds.LABEL_REPEATED),
            ("count", kinds.TYPE_INT32, kinds.LABEL_OPTIONAL),
            ("password", kinds.TYPE_STRING, kinds.LABEL_OPTIONAL),
        ],
        1,
    ):
        message.field.add(name=name, number=number, type=kind, label=label)
    message.oneof_decl.add(name="_count")
    message.field[2].proto3_optional = True
    message.field[2].oneof_index = 0
    message.field[3].options.Extensions[csi_pb2.csi_secret] = True
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(file.SerializeToString())
    kind_ = GetMessageClass(pool.FindMessageTypeByName("later.Request"))

    request: Any = kind_(data=b"\xff\x00", parts=[b"", b"a"], count=0, password="swordfish")

    assert go_json(request) == {
        "data": "/wA=",
        "parts": ["", "YQ=="],
        "count": 0,
        "password": STRIPPED,
    }
    assert go_json(kind_()) == {}


# ------------------------------------------------------------------------------------------- lines


def test_the_line_of_a_call_that_was_ok() -> None:
    small = SmallJournal()
    entry = small.begin(
        csi_pb2.NodePublishVolumeRequest(volume_id="v", volume_capability=CAPABILITY),
        "NodePublishVolume",
        service="Node",
    )
    assert e2e_line(small.end(entry, response=csi_pb2.NodePublishVolumeResponse())) == (
        'gRPCCall: {"Method":"/csi.v1.Node/NodePublishVolume","Request":{"volume_id":"v",'
        '"volume_capability":{"AccessType":{"Mount":{}},"access_mode":{"mode":1}}},'
        '"Response":{},"Error":"","FullError":null}'
    )


def test_the_line_of_a_call_that_failed() -> None:
    small = SmallJournal()
    entry = small.end(small.begin(), "NOT_FOUND", number=5, message="no disk 'v'")
    assert e2e_line(entry) == (
        'gRPCCall: {"Method":"/csi.v1.Controller/DeleteVolume","Request":{},"Response":null,'
        '"Error":"rpc error: code = NotFound desc = no disk \'v\'",'
        '"FullError":{"code":5,"message":"no disk \'v\'"}}'
    )


@pytest.mark.parametrize(
    ("code", "go_name"),
    [
        ("CANCELLED", "Canceled"),
        ("INVALID_ARGUMENT", "InvalidArgument"),
        ("UNAVAILABLE", "Unavailable"),
        ("OUT_OF_RANGE", "OutOfRange"),
    ],
)
def test_codes_have_their_names_in_go(code: str, go_name: str) -> None:
    fields = parsed(e2e_line(SmallJournal().fail(code)))
    assert fields["Error"] == f"rpc error: code = {go_name} desc = because of {code}"


def test_a_message_as_large_as_a_go_server_takes_is_whole() -> None:
    small = SmallJournal()
    entry = small.call(csi_pb2.DeleteVolumeRequest(volume_id="v" * (MAX_BODY_BYTES - 10)))
    assert len(parsed(e2e_line(entry))["Request"]["volume_id"]) == MAX_BODY_BYTES - 10
    entry = small.call(csi_pb2.DeleteVolumeRequest(volume_id="v" * MAX_BODY_BYTES))
    assert parsed(e2e_line(entry))["Request"] == {"omitted_bytes": MAX_BODY_BYTES + 5}
