"""What no CO should send: it gets the code that the CSI spec gives it, and the server goes on."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from google.protobuf.message import DecodeError, Message

from csi_spec import csi_pb2
from mockdriver.co.calling import Answer, call
from mockdriver.co.csi_client import CsiClient
from mockdriver.driver.rpcs import RPCS, Rpc
from mockdriver.server.sockets import grpc_target
from tests.requests import CAPABILITY, create, is_ready, publish
from tests.serving import Serving, serving

MB = 1_000_000
HUGE = "x" * (5 * MB)


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    """One server for all tests here: none of them may harm it."""
    with serving() as server:
        yield server
        assert server.stop() == 0
        assert "Traceback" not in server.log()
        assert " INTERNAL " not in server.log()
        assert " UNKNOWN " not in server.log()


@pytest.fixture(scope="module")
def client(server: Serving) -> Iterator[CsiClient]:
    with server.connect() as client:
        yield client


@pytest.fixture(scope="module")
def channel(server: Serving) -> Iterator[grpc.Channel]:
    """A connection that sends bytes as they are."""
    options = [("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(grpc_target(server.path), options=options) as channel:
        yield channel


def send(channel: grpc.Channel, method: str, body: bytes) -> Answer:
    """Send bytes as a request of a method, `csi.v1.Service/Name`."""
    return call(channel.unary_unary(f"/{method}"), body)


def requisite(count: int) -> csi_pb2.TopologyRequirement:
    """Return a requirement with so many topologies."""
    topology = csi_pb2.Topology(segments={"zone": "z" * 100})
    return csi_pb2.TopologyRequirement(requisite=[topology] * count)


def with_mount(**fields: Any) -> csi_pb2.VolumeCapability:
    mount = csi_pb2.VolumeCapability.MountVolume(**fields)
    return csi_pb2.VolumeCapability(mount=mount, access_mode=CAPABILITY.access_mode)


OVERSIZED: list[tuple[str, str, Message]] = [
    ("volume_id", "ControllerPublishVolume", publish(HUGE, "i-worker-1")),
    ("node_id", "ControllerPublishVolume", publish("vol-1", HUGE)),
    ("secrets", "ControllerPublishVolume", publish("v", "n", secrets={"key": HUGE})),
    ("volume_context", "ControllerPublishVolume", publish("v", "n", volume_context={HUGE: ""})),
    ("node_id", "ControllerGetNodeInfo", csi_pb2.ControllerGetNodeInfoRequest(node_id=HUGE)),
    ("volume_id", "DeleteVolume", csi_pb2.DeleteVolumeRequest(volume_id=HUGE)),
    (
        "volume_id",
        "ControllerUnpublishVolume",
        csi_pb2.ControllerUnpublishVolumeRequest(volume_id=HUGE),
    ),
    ("name", "CreateVolume", create(HUGE)),
    ("parameters", "CreateVolume", create("v", parameters={"key": HUGE})),
    (
        "volume_capabilities[0].mount.fs_type",
        "CreateVolume",
        csi_pb2.CreateVolumeRequest(name="v", volume_capabilities=[with_mount(fs_type=HUGE)]),
    ),
    (
        "volume_capabilities[0].mount.mount_flags",
        "CreateVolume",
        csi_pb2.CreateVolumeRequest(name="v", volume_capabilities=[with_mount(mount_flags=[HUGE])]),
    ),
]


@pytest.mark.parametrize(
    ("field", "rpc", "request_"), OVERSIZED, ids=[f"{rpc}-{field}" for field, rpc, _ in OVERSIZED]
)
def test_a_field_of_5_mb_is_named_in_a_short_message(
    field: str, rpc: str, request_: Message, client: CsiClient
) -> None:
    answer = call(getattr(client.controller, rpc), request_)

    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message.startswith(f"{field}: has 5000")
    assert len(answer.message) < 400


def test_a_long_list_of_topologies_is_answered(client: CsiClient) -> None:
    request = create("v", accessibility_requirements=requisite(20_000))

    # No zone matches: the spec's code for that, and not one that gRPC made up.
    assert call(client.controller.CreateVolume, request).code == "RESOURCE_EXHAUSTED"


def decodes(request_type: type[Message], body: bytes) -> bool:
    """Tell whether the bytes are a request after all: messages without fields take much."""
    try:
        request_type.FromString(body)
    except DecodeError:
        return False
    return True


def garbage() -> Iterator[Any]:
    """Yield each RPC that is built, with bytes that are no request of it."""
    bodies = {
        "no tag": b"\xff\xff\xff\xff",
        "cut off": b"\x0a\x7f",
        "no UTF-8": b"\x0a\x02\xc3\x28",
        "zero bytes": b"\x00" * 100,
    }
    for rpc in RPCS:
        for what, body in bodies.items():
            if not decodes(getattr(csi_pb2, f"{rpc.name}Request"), body):
                yield pytest.param(rpc, body, id=f"{rpc.name}-{what}")


@pytest.mark.parametrize(("rpc", "body"), list(garbage()))
def test_bytes_that_are_no_request_are_an_invalid_argument(
    rpc: Rpc, body: bytes, channel: grpc.Channel
) -> None:
    answer = send(channel, f"csi.v1.{rpc.service}/{rpc.name}", body)

    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message == f"request: {len(body)} bytes that are no csi.v1.{rpc.name}Request"


def test_garbage_is_sent_to_every_rpc() -> None:
    assert {param.values[0] for param in garbage()} == set(RPCS)


def built() -> set[tuple[str, str]]:
    return {(rpc.service, rpc.name) for rpc in RPCS}


def not_built() -> list[tuple[str, str]]:
    """Return all RPCs of CSI that this driver does not have."""
    return [
        (service.name, method.name)
        for service in csi_pb2.DESCRIPTOR.services_by_name.values()
        for method in service.methods
        if (service.name, method.name) not in built()
    ]


@pytest.mark.parametrize("rpc", not_built(), ids="-".join)
def test_every_other_rpc_of_csi_is_unimplemented(
    rpc: tuple[str, str], channel: grpc.Channel
) -> None:
    service, name = rpc

    assert send(channel, f"csi.v1.{service}/{name}", b"").code == "UNIMPLEMENTED"


@pytest.mark.parametrize(
    "method",
    [
        "csi.v1.Identity/NoSuchMethod",
        "csi.v1.Controller/controllergetnodeinfo",
        "csi.v1.NoSuchService/Probe",
        "csi.v0.Identity/Probe",
        "Probe",
        "csi.v1.Identity/",
        "/",
    ],
)
def test_what_csi_does_not_know_is_unimplemented(method: str, channel: grpc.Channel) -> None:
    assert send(channel, method, b"").code == "UNIMPLEMENTED"


def test_the_server_has_borne_it_all(client: CsiClient) -> None:
    assert is_ready(client)
