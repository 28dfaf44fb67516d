"""grpcurl learns everything from the server itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import Serve
from tests.go.asking import Asker
from tests.serving import serving

pytestmark = pytest.mark.go

SERVICES = {"csi.v1.Identity", "csi.v1.Controller", "csi.v1.Node", "grpc.health.v1.Health"}
CONTROLLER_TYPE = "csi.v1.ControllerServiceCapability.RPC.Type"
NODE_TYPE = "csi.v1.NodeServiceCapability.RPC.Type"


@pytest.fixture(scope="module")
def asker(grpcurl: Path) -> Iterator[Asker]:
    with serving() as server:
        yield Asker(grpcurl, server.path)


def test_the_services_are_listed(asker: Asker) -> None:
    listed = asker.shown("list").split()

    # The control API has tests of its own.
    others = ("grpc.reflection", "mockdriver.control")
    assert {name for name in listed if not name.startswith(others)} == SERVICES


def test_the_rpcs_of_a_service_are_listed(asker: Asker) -> None:
    assert asker.shown("list", "csi.v1.Node").split() == [
        "csi.v1.Node.NodeExpandVolume",
        "csi.v1.Node.NodeGetCapabilities",
        "csi.v1.Node.NodeGetInfo",
        "csi.v1.Node.NodeGetStorageHealth",
        "csi.v1.Node.NodeGetVolumeHealth",
        "csi.v1.Node.NodeGetVolumeStats",
        "csi.v1.Node.NodePublishVolume",
        "csi.v1.Node.NodeStageVolume",
        "csi.v1.Node.NodeUnpublishVolume",
        "csi.v1.Node.NodeUnstageVolume",
    ]


def test_the_rpc_of_the_kep_is_described(asker: Asker) -> None:
    described = asker.shown("describe", "csi.v1.Controller.ControllerGetNodeInfo")

    assert "csi.v1.Controller.ControllerGetNodeInfo is a method:" in described
    assert (
        "rpc ControllerGetNodeInfo ( .csi.v1.ControllerGetNodeInfoRequest ) "
        "returns ( .csi.v1.ControllerGetNodeInfoResponse )" in described
    )
    assert "alpha_method" in described


def test_the_messages_of_the_kep_are_described(asker: Asker) -> None:
    response = asker.shown("describe", "csi.v1.ControllerGetNodeInfoResponse")
    assert "int64 max_volumes_per_node = 1;" in response
    assert ".csi.v1.Topology accessible_topology = 2;" in response
    assert "repeated string published_volume_ids = 3;" in response

    request = asker.shown("describe", "csi.v1.NodeGetInfoRequest")
    assert "bool controller_get_node_info = 1" in request


def test_a_symbol_that_is_none_is_not_found(asker: Asker) -> None:
    for symbol in ("csi.v1.Controller.NoSuchMethod", "csi.v1.NoSuchService.Probe", "Probe", "x.y"):
        done = asker.run("describe", symbol)

        assert done.returncode != 0
        assert "Symbol not found" in done.stderr


def test_capabilities_have_their_names(asker: Asker) -> None:
    answer = asker.ask("Controller/ControllerGetCapabilities", {})

    assert [item["rpc"]["type"] for item in answer["capabilities"]] == [
        "CREATE_DELETE_VOLUME",
        "PUBLISH_UNPUBLISH_VOLUME",
        "LIST_VOLUMES",
        "GET_CAPACITY",
        "PUBLISH_READONLY",
        "LIST_VOLUMES_PUBLISHED_NODES",
        "GET_VOLUME",
        "SINGLE_NODE_MULTI_WRITER",
        "GET_NODE_INFO",
    ]


def test_a_capability_keeps_its_name_under_another_number(grpcurl: Path, serve: Serve) -> None:
    server = serve(
        *("--capability-number", "GET_NODE_INFO=1001"),
        *("--capability-number", "NODE_INFO_FROM_CONTROLLER=1002"),
    )
    asker = Asker(grpcurl, server.path)

    controller = asker.ask("Controller/ControllerGetCapabilities", {})["capabilities"]
    node = asker.ask("Node/NodeGetCapabilities", {})["capabilities"]

    assert [item["rpc"]["type"] for item in controller][-1] == "GET_NODE_INFO"
    assert [item["rpc"]["type"] for item in node][-1] == "NODE_INFO_FROM_CONTROLLER"
    assert "GET_NODE_INFO = 1001 " in asker.shown("describe", CONTROLLER_TYPE)
    assert "NODE_INFO_FROM_CONTROLLER = 1002 " in asker.shown("describe", NODE_TYPE)
    # Reflection is whole in spite of the change: methods, and files that are imported.
    assert "is a method:" in asker.shown("describe", "csi.v1.Identity.Probe")
    assert "BoolValue" in asker.shown("describe", "csi.v1.ProbeResponse")
    assert set(asker.shown("list").split()) >= SERVICES
