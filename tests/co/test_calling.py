"""One call over a socket, and what becomes of its answer."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.protobuf import wrappers_pb2

from csi_spec import csi_pb2, csi_pb2_grpc
from mockdriver.co.calling import call
from mockdriver.co.csi_client import CsiClient


class _Identity(csi_pb2_grpc.IdentityServicer):
    """Answers Probe, refuses to name itself, and dies of any other call."""

    def Probe(self, request: csi_pb2.ProbeRequest, context: Any) -> csi_pb2.ProbeResponse:  # noqa: N802
        return csi_pb2.ProbeResponse(ready=wrappers_pb2.BoolValue(value=True))

    def GetPluginInfo(self, request: csi_pb2.GetPluginInfoRequest, context: Any) -> Any:  # noqa: N802
        context.abort(grpc.StatusCode.RESOURCE_EXHAUSTED, "no name left: größer")

    def GetPluginCapabilities(  # noqa: N802
        self, request: csi_pb2.GetPluginCapabilitiesRequest, context: Any
    ) -> Any:
        raise ZeroDivisionError("an accident")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[CsiClient]:
    # A name that has to be encoded in a target.
    socket = tmp_path / "50% of ä.sock"
    server = grpc.server(ThreadPoolExecutor(2))
    csi_pb2_grpc.add_IdentityServicer_to_server(_Identity(), server)
    server.add_insecure_port(f"unix:{tmp_path}/50%25%20of%20%C3%A4.sock")
    server.start()
    assert socket.is_socket()
    with CsiClient(socket) as client:
        yield client
    server.stop(0).wait()


def test_a_call_that_succeeds_gives_its_response(client: CsiClient) -> None:
    answer = call(client.identity.Probe, csi_pb2.ProbeRequest())
    assert answer.ok
    assert answer.code == "OK"
    assert answer.response.ready.value is True


def test_a_call_that_fails_gives_the_name_of_its_code_and_the_message(client: CsiClient) -> None:
    answer = call(client.identity.GetPluginInfo, csi_pb2.GetPluginInfoRequest())
    assert not answer.ok
    assert (answer.code, answer.message) == ("RESOURCE_EXHAUSTED", "no name left: größer")
    assert answer.response is None


def test_a_driver_that_dies_of_a_call_gives_an_answer_too(client: CsiClient) -> None:
    request = csi_pb2.GetPluginCapabilitiesRequest()
    assert call(client.identity.GetPluginCapabilities, request).code == "UNKNOWN"


def test_a_call_of_what_is_not_there_is_unimplemented(client: CsiClient) -> None:
    answer = call(client.node.NodeGetInfo, csi_pb2.NodeGetInfoRequest())
    assert answer.code == "UNIMPLEMENTED"


def test_a_call_to_a_socket_that_is_not_there_is_unavailable(tmp_path: Path) -> None:
    with CsiClient(tmp_path / "nobody.sock") as client:
        assert call(client.identity.Probe, csi_pb2.ProbeRequest()).code == "UNAVAILABLE"
