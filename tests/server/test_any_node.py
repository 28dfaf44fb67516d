"""A call of the Node service can say which node it means, whatever socket it comes to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import grpc
import pytest

from csi_spec import csi_pb2
from mockdriver.client import ControlClient
from mockdriver.co.csi_client import CsiClient
from mockdriver.server.current_handlers import NODE_KEY
from tests.server.in_process import make

SCENARIO = """
scenario: fleet
cloud:
  instance_types: {t: {slots: 4}}
  instances: [{id: i-1, type: t}, {id: i-2, type: t, attached: 1}, {id: "knoten ä%"}]
"""


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Any]:
    server = make(SCENARIO)
    server.listen(tmp_path / "csi.sock", "i-1")
    yield server
    server.stop(0)


@pytest.fixture
def client(server: Any, tmp_path: Path) -> Iterator[CsiClient]:
    with CsiClient(tmp_path / "csi.sock") as client:
        yield client


def info(client: CsiClient, node: str | None) -> Any:
    """Ask a node about itself."""
    metadata = () if node is None else ((NODE_KEY, quote(node)),)
    return client.node.NodeGetInfo(csi_pb2.NodeGetInfoRequest(), timeout=60, metadata=metadata)


@pytest.mark.parametrize("node", ["i-1", "i-2", "knoten ä%"])
def test_the_node_that_is_named_answers(client: CsiClient, node: str) -> None:
    assert info(client, node).node_id == node


def test_it_answers_for_itself(client: CsiClient) -> None:
    assert info(client, "i-1").max_volumes_per_node == 4
    assert info(client, "i-2").max_volumes_per_node == 3


def test_without_a_name_the_sockets_own_node_answers(client: CsiClient) -> None:
    info(client, "i-2")

    assert info(client, None).node_id == "i-1"


def test_a_node_that_was_added_a_moment_ago_answers(client: CsiClient, tmp_path: Path) -> None:
    with ControlClient(tmp_path / "csi.sock") as control:
        control.cloud.add_instance("i-3", type="t")
        control.state.restart_driver()

        assert info(client, "i-3").max_volumes_per_node == 4


def test_a_node_that_is_not_there_is_not_found_and_not_kept(server: Any, client: CsiClient) -> None:
    kept = server.world.driver._nodes
    before = len(kept)
    for number in range(20):
        with pytest.raises(grpc.RpcError) as refused:
            info(client, f"i-none-{number}")
        assert refused.value.code() is grpc.StatusCode.NOT_FOUND

    assert len(kept) == before


def test_the_record_of_calls_says_which_node_was_asked(client: CsiClient, tmp_path: Path) -> None:
    info(client, "i-2")

    with ControlClient(tmp_path / "csi.sock") as control:
        [call] = control.calls.list(rpc="NodeGetInfo")
    assert call.node_id == "i-2"


def test_the_controller_does_not_look_at_it(client: CsiClient) -> None:
    answer = client.controller.ControllerGetNodeInfo(
        csi_pb2.ControllerGetNodeInfoRequest(node_id="i-2"),
        timeout=60,
        metadata=((NODE_KEY, "i-1"),),
    )

    assert len(answer.published_volume_ids) == 1
