"""Which services a socket has: those of its role, and Identity in each."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc
import pytest
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from csi_spec import csi_pb2
from mockdriver.co.calling import call
from mockdriver.co.csi_client import CsiClient
from mockdriver.driver.driver import Role
from mockdriver.driver.rpcs import RPCS, Rpc
from mockdriver.server.sockets import grpc_target
from tests.conftest import Serve
from tests.requests import answer, create
from tests.server.in_process import make

SERVICES = {
    Role.ALL: {"Identity", "Controller", "Node"},
    Role.CONTROLLER: {"Identity", "Controller"},
    Role.NODE: {"Identity", "Node"},
}
NODES = """
scenario: two
cloud: {instances: [{id: i-1}, {id: i-2}]}
"""


@pytest.fixture(scope="module")
def sockets() -> Iterator[dict[Role, Path]]:
    """Serve one driver on a socket for each role."""
    server = make(NODES)
    with TemporaryDirectory(prefix="mockdriver-test-") as name:
        paths = {role: Path(name) / f"{role}.sock" for role in Role}
        try:
            for role, path in paths.items():
                server.listen(path, "i-1", role)
            yield paths
        finally:
            server.stop(0)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: rpc.name)
def test_a_socket_has_the_rpcs_of_its_role_and_no_others(
    rpc: Rpc, role: Role, sockets: dict[Role, Path]
) -> None:
    with CsiClient(sockets[role]) as client:
        stub = getattr(client, rpc.service.lower())
        got = call(getattr(stub, rpc.name), getattr(csi_pb2, f"{rpc.name}Request")())
    assert (got.code == "UNIMPLEMENTED") == (rpc.service not in SERVICES[role])


@pytest.mark.parametrize("role", Role)
def test_reflection_lists_what_is_there(role: Role, sockets: dict[Role, Path]) -> None:
    with grpc.insecure_channel(grpc_target(sockets[role])) as channel:
        listed = set(ProtoReflectionDescriptorDatabase(channel).get_services())
    assert {name for name in listed if not name.startswith("mockdriver.control.")} == {
        *(f"csi.v1.{service}" for service in SERVICES[role]),
        "grpc.health.v1.Health",
        "grpc.reflection.v1alpha.ServerReflection",
    }


def test_the_plugin_says_the_same_of_itself_in_each_role(sockets: dict[Role, Path]) -> None:
    said = []
    for path in sockets.values():
        with CsiClient(path) as client:
            info = answer(client.identity.GetPluginInfo, csi_pb2.GetPluginInfoRequest())
            request = csi_pb2.GetPluginCapabilitiesRequest()
            said.append((info, answer(client.identity.GetPluginCapabilities, request)))
    assert said[0] == said[1] == said[2]
    assert len(said[0][1].capabilities) == 2


def test_what_one_socket_changes_the_others_see(sockets: dict[Role, Path]) -> None:
    with CsiClient(sockets[Role.CONTROLLER]) as controller, CsiClient(sockets[Role.ALL]) as both:
        request = create("pvc-1")
        made = answer(controller.controller.CreateVolume, request)
        assert answer(both.controller.CreateVolume, request) == made


# --------------------------------------------------------------------------------- from the outside


def unimplemented(client: CsiClient) -> dict[str, bool]:
    """Return for Controller and Node whether the socket does not have them."""
    calls: dict[str, Any] = {
        "controller": (
            client.controller.ControllerGetCapabilities,
            csi_pb2.ControllerGetCapabilitiesRequest(),
        ),
        "node": (client.node.NodeGetInfo, csi_pb2.NodeGetInfoRequest()),
    }
    return {name: call(*each).code == "UNIMPLEMENTED" for name, each in calls.items()}


@pytest.mark.parametrize(
    ("flags", "variables", "says", "missing"),
    [
        ([], {}, "node i-1, listening on unix://", set()),
        (["--role", "all"], {}, "node i-1, listening on unix://", set()),
        (["--role", "controller"], {}, "controller, listening on unix://", {"node"}),
        (["--role", "node", "--node", "i-2"], {}, "node i-2, listening on", {"controller"}),
        ([], {"MOCKDRIVER_ROLE": "node"}, "node i-1, listening on unix://", {"controller"}),
    ],
    ids=lambda value: None,
)
def test_the_role_is_chosen_at_the_start(
    flags: list[str], variables: dict[str, str], says: str, missing: set[str], serve: Serve
) -> None:
    server = serve(*flags, variables=variables, scenario=NODES)
    with server.connect() as client:
        found = unimplemented(client)
    assert {name for name, is_missing in found.items() if is_missing} == missing
    first, *lines = server.printed().splitlines()
    assert says in first
    # The lines to copy are about a socket that has everything.
    assert bool(lines) == (not missing)


def test_a_node_has_the_node_that_was_chosen(serve: Serve) -> None:
    server = serve("--role", "node", "--node", "i-2", scenario=NODES)
    with server.connect() as client:
        info = answer(client.node.NodeGetInfo, csi_pb2.NodeGetInfoRequest())
    assert info.node_id == "i-2"


def test_a_role_that_does_not_exist_is_refused(serve: Serve) -> None:
    server = serve("--role", "nodes", ready=False)
    assert server.exit_code() == 2
    assert "'nodes' is not one of 'all', 'controller', 'node'" in server.log()
