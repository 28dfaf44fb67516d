"""--node-socket-dir: many nodes of a scenario in one process, and the index that names them."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.co.calling import call
from mockdriver.co.csi_client import CsiClient
from mockdriver.server.node_sockets import (
    MAX_NODES,
    Index,
    NodesMistake,
    choose_nodes,
    make_folder,
    socket_paths,
)
from mockdriver.server.sockets import MAX_PATH_BYTES, EndpointMistake
from tests.conftest import Serve
from tests.requests import CAPABILITY, answer, is_ready
from tests.serving import Serving

LONG = "i" * 256
IDS = ["i-1", "i-2", "rack/7/../node", "../../etc/passwd", "größe 体积", "{n}*?[x]", LONG]
SCENARIO = json.dumps({"scenario": "many", "cloud": {"instances": [{"id": id} for id in IDS]}})


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose name leaves room for a socket's."""
    with TemporaryDirectory(prefix="mockdriver-test-") as name:
        yield Path(name)


def index_in(folder: Path) -> dict[str, Path]:
    text = (folder / "index.json").read_text(encoding="utf-8")
    return {id: Path(path) for id, path in json.loads(text).items()}


def node_id_at(path: Path) -> str:
    """Return the id that the node on a socket has of itself."""
    with CsiClient(path) as client:
        info = answer(client.node.NodeGetInfo, csi_pb2.NodeGetInfoRequest())
    return str(info.node_id)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def refused(serve: Serve, *flags: Any, scenario: str = SCENARIO) -> str:
    """Start a server that must not start; return its one line."""
    server: Serving = serve(*flags, scenario=scenario, ready=False)
    assert server.exit_code() == 1
    assert "Traceback" not in server.log()
    return server.log().splitlines()[-1]


# ------------------------------------------------------------------------------------- the sockets


def test_each_node_has_a_socket_and_the_index_tells_which(serve: Serve, folder: Path) -> None:
    server = serve("--node-socket-dir", folder, scenario=SCENARIO)
    index = index_in(folder)
    assert list(index) == IDS
    assert [path.name for path in index.values()] == [f"{n}.sock" for n in range(len(IDS))]
    assert {path.parent for path in index.values()} == {folder}
    assert [node_id_at(path) for path in index.values()] == IDS
    assert f"{len(IDS)} nodes in {folder}, see index.json" in server.printed().splitlines()[0]

    assert server.stop() == 0
    assert names_in(folder) == []


def test_a_socket_of_a_node_has_no_controller(serve: Serve, folder: Path) -> None:
    server = serve("--node-socket-dir", folder, "--role", "controller", scenario=SCENARIO)
    with CsiClient(index_in(folder)["i-2"]) as client:
        assert is_ready(client)
        request = csi_pb2.ControllerGetCapabilitiesRequest()
        assert call(client.controller.ControllerGetCapabilities, request).code == "UNIMPLEMENTED"
    with server.connect() as client:
        answer(client.controller.ControllerGetCapabilities, request)
        assert call(client.node.NodeGetInfo, csi_pb2.NodeGetInfoRequest()).code == "UNIMPLEMENTED"


def test_nodes_share_the_cloud_and_have_their_own_volumes(serve: Serve, folder: Path) -> None:
    scenario = """
scenario: two
cloud:
  instances: [{id: i-1, attached: [vol-1]}, {id: i-2, attached: [vol-2]}]
"""
    serve("--node-socket-dir", folder, scenario=scenario)
    staging = folder / "staging"
    staging.mkdir()
    codes = {}
    for id, path in index_in(folder).items():
        with CsiClient(path) as client:
            request = csi_pb2.NodeStageVolumeRequest(
                volume_id="vol-1", staging_target_path=str(staging), volume_capability=CAPABILITY
            )
            codes[id] = call(client.node.NodeStageVolume, request).code
    assert codes == {"i-1": "OK", "i-2": "FAILED_PRECONDITION"}


def test_the_node_of_the_endpoint_is_the_same_node_in_the_folder(
    serve: Serve, folder: Path
) -> None:
    scenario = "{scenario: one, cloud: {instances: [{id: i-1, attached: [vol-1]}]}}"
    server = serve("--node-socket-dir", folder, scenario=scenario)
    target = folder / "target"
    stage = csi_pb2.NodeStageVolumeRequest(
        volume_id="vol-1", staging_target_path=str(folder), volume_capability=CAPABILITY
    )
    publish = csi_pb2.NodePublishVolumeRequest(
        volume_id="vol-1",
        staging_target_path=str(folder),
        target_path=str(target),
        volume_capability=CAPABILITY,
    )
    with server.connect() as at_endpoint, CsiClient(folder / "0.sock") as in_folder:
        answer(at_endpoint.node.NodeStageVolume, stage)
        answer(in_folder.node.NodePublishVolume, publish)
        assert target.is_dir()
        answer(at_endpoint.node.NodePublishVolume, publish)


def test_calls_are_logged_with_the_node_that_they_arrived_on(serve: Serve, folder: Path) -> None:
    server = serve("--node-socket-dir", folder, scenario=SCENARIO)
    node_id_at(index_in(folder)["rack/7/../node"])
    assert server.stop() == 0
    (line,) = [line for line in server.log().splitlines() if "NodeGetInfo" in line]
    assert 'node="rack/7/../node"' in line


def test_nodes_alone_have_no_other_endpoint(serve: Serve, folder: Path) -> None:
    server = serve(
        *("--node-socket-dir", "nodes", "--role", "node"), scenario=SCENARIO, told_where=False
    )
    printed = server.printed().splitlines()
    assert len(printed) == 1
    assert "listening on" not in printed[0]
    assert node_id_at(index_in(server.folder / "nodes")["i-2"]) == "i-2"


def test_nodes_alone_can_have_one_besides(serve: Serve, folder: Path) -> None:
    server = serve(*("--node-socket-dir", folder, "--role", "node"), scenario=SCENARIO)
    assert node_id_at(server.path) == "i-1"
    assert node_id_at(index_in(folder)["i-2"]) == "i-2"


def test_the_folder_can_be_named_by_environment_and_from_the_working_folder(
    serve: Serve,
) -> None:
    variables = {"MOCKDRIVER_NODE_SOCKET_DIR": "nodes", "MOCKDRIVER_NODES": "i-* rack/*"}
    server = serve(variables=variables, scenario=SCENARIO)
    index = index_in(server.folder / "nodes")
    assert list(index) == ["i-1", "i-2", "rack/7/../node"]
    assert all(path.is_absolute() for path in index.values())


def test_a_scenario_without_instances_has_an_empty_index(serve: Serve, folder: Path) -> None:
    serve("--node-socket-dir", folder, scenario="scenario: empty\n")
    assert index_in(folder) == {}
    assert names_in(folder) == ["index.json"]


@pytest.mark.slow
def test_as_many_nodes_as_are_allowed_are_served(serve: Serve, folder: Path) -> None:
    scenario = f"{{scenario: x, cloud: {{instances: {{count: {MAX_NODES}, id: 'i-{{n}}'}}}}}}"
    server = serve("--node-socket-dir", folder, scenario=scenario)
    index = index_in(folder)
    assert len(index) == MAX_NODES
    for number in (1, 100, MAX_NODES):
        assert node_id_at(index[f"i-{number}"]) == f"i-{number}"
    assert server.stop() == 0
    assert names_in(folder) == []


# ------------------------------------------------------------------------------------ which nodes


@pytest.mark.parametrize(
    ("patterns", "chosen"),
    [
        ([], IDS),
        (["*"], IDS),
        (["i-2"], ["i-2"]),
        (["i-2", "i-1", "i-2"], ["i-1", "i-2"]),
        (["i-?"], ["i-1", "i-2"]),
        (["*/*"], ["rack/7/../node", "../../etc/passwd"]),
        (["i-[!1]"], ["i-2"]),
        (["{n}*?[x]"], ["{n}*?[x]"]),
        (["iiii*"], [LONG]),
    ],
)
def test_nodes_are_chosen_by_id_or_pattern_in_the_order_of_the_scenario(
    patterns: list[str], chosen: list[str]
) -> None:
    assert choose_nodes(IDS, patterns) == chosen


@pytest.mark.parametrize("pattern", ["i-9", "I-1", "", "i-", "x*"])
def test_a_pattern_that_means_no_node_is_refused(pattern: str) -> None:
    with pytest.raises(NodesMistake) as refused:
        choose_nodes(IDS, ["i-1", pattern])
    assert str(refused.value) == f"--nodes: the scenario has no instance {pattern!r}"


def test_more_nodes_than_a_process_serves_are_refused() -> None:
    ids = [f"i-{number}" for number in range(MAX_NODES + 1)]
    assert len(choose_nodes(ids[1:], [])) == MAX_NODES
    with pytest.raises(NodesMistake) as refused:
        choose_nodes(ids, [])
    assert str(refused.value) == ("--nodes: 257 nodes, one process serves at most 256; name fewer")
    assert choose_nodes(ids, ["i-1*"]) == [id for id in ids if id.startswith("i-1")]


def test_nodes_without_a_folder_are_a_mistake(serve: Serve) -> None:
    server = serve("--nodes", "i-1", scenario=SCENARIO, ready=False)
    assert server.exit_code() == 2
    assert "--nodes chooses among --node-socket-dir's nodes, which is missing" in server.log()


def test_too_many_nodes_are_told_in_one_line(serve: Serve, folder: Path) -> None:
    scenario = "{scenario: x, cloud: {instances: {count: 300, id: 'i-{n}'}}}"
    line = refused(serve, "--node-socket-dir", folder, scenario=scenario)
    assert line == "Error: --nodes: 300 nodes, one process serves at most 256; name fewer"
    assert names_in(folder) == []
    serve("--node-socket-dir", folder, "--nodes", "i-29?", scenario=scenario)
    assert list(index_in(folder)) == [f"i-{number}" for number in range(290, 300)]


# ----------------------------------------------------------------------------------- the folder


def test_the_folder_is_made_but_not_its_parents(serve: Serve, folder: Path) -> None:
    server = serve("--node-socket-dir", folder / "new", scenario=SCENARIO)
    assert "index.json" in names_in(folder / "new")
    assert server.stop() == 0
    assert names_in(folder / "new") == []
    line = refused(serve, "--node-socket-dir", folder / "no" / "such", scenario=SCENARIO)
    assert line == (
        f"Error: --node-socket-dir '{folder}/no/such': cannot be made: No such file or directory"
    )


def test_a_file_is_no_folder(serve: Serve, folder: Path) -> None:
    (folder / "file").touch()
    line = refused(serve, "--node-socket-dir", folder / "file")
    assert line == f"Error: --node-socket-dir '{folder}/file': cannot be made: File exists"


def test_something_in_the_way_of_a_socket_is_left(serve: Serve, folder: Path) -> None:
    (folder / "1.sock").write_text("bird")
    line = refused(serve, "--node-socket-dir", folder)
    assert f"endpoint '{folder}/1.sock': something that is no socket is in the way" in line
    assert names_in(folder) == ["1.sock"]
    assert (folder / "1.sock").read_text() == "bird"


def test_other_files_in_the_folder_stay(serve: Serve, folder: Path) -> None:
    (folder / "99.sock").write_text("bird")
    server = serve("--node-socket-dir", folder, scenario=SCENARIO)
    assert server.stop() == 0
    assert names_in(folder) == ["99.sock"]


def test_a_folder_with_too_long_a_name_is_refused_before_anything_is_made(
    serve: Serve, folder: Path
) -> None:
    long = folder / ("f" * (MAX_PATH_BYTES - len(str(folder)) - len("/0.sock") - 1))
    line = refused(serve, "--node-socket-dir", f"{long}f")
    assert line == (
        f"Error: endpoint '{long}f/0.sock': has {MAX_PATH_BYTES + 1} bytes, a Unix socket's path "
        f"has at most {MAX_PATH_BYTES}; choose a shorter folder"
    )
    assert names_in(folder) == []
    serve("--node-socket-dir", long, scenario=SCENARIO)
    assert node_id_at(long / "6.sock") == LONG


def test_the_longest_of_many_sockets_decides() -> None:
    folder = Path("/" + "f" * (MAX_PATH_BYTES - len("/99.sock") - 1))
    assert len(socket_paths(folder, [str(number) for number in range(100)])) == 100
    with pytest.raises(EndpointMistake, match=r"/100\.sock': has 108 bytes"):
        socket_paths(folder, [str(number) for number in range(101)])


def test_a_folder_that_is_there_is_taken(folder: Path) -> None:
    make_folder(folder)
    make_folder(folder / "new")
    assert (folder / "new").is_dir()


# ------------------------------------------------------------------------------- several processes


def test_a_second_server_in_the_same_folder_leaves_the_first_one_alone(
    serve: Serve, folder: Path
) -> None:
    first = serve("--node-socket-dir", folder, scenario=SCENARIO)
    before = (folder / "index.json").read_text(encoding="utf-8")
    line = refused(serve, "--node-socket-dir", folder)
    assert f"endpoint '{folder}/0.sock': in use, another process answers there" in line
    assert (folder / "index.json").read_text(encoding="utf-8") == before
    assert [node_id_at(path) for path in index_in(folder).values()] == IDS
    assert first.stop() == 0
    assert names_in(folder) == []


def test_a_server_starts_again_where_one_was_killed(serve: Serve, folder: Path) -> None:
    killed = serve("--node-socket-dir", folder, scenario=SCENARIO)
    killed.send(signal.SIGKILL)
    killed.exit_code()
    assert "index.json" in names_in(folder), "a killed process cannot clean up"

    second = serve("--node-socket-dir", folder, "--nodes", "i-2", scenario=SCENARIO)
    assert index_in(folder) == {"i-2": folder / "0.sock"}
    assert node_id_at(folder / "0.sock") == "i-2"
    assert second.stop() == 0
    assert "index.json" not in names_in(folder)
    assert "0.sock" not in names_in(folder)


def test_a_second_signal_cleans_up_too(serve: Serve, folder: Path) -> None:
    scenario = """
scenario: held
cloud: {instances: [{id: i-1}], disks: [{id: vol-1}], transitions: {attach: held}}
"""
    server = serve("--node-socket-dir", folder, "--grace-seconds", "3600", scenario=scenario)
    with server.connect() as client:
        method: Any = client.controller.ControllerPublishVolume
        held = method.future(
            csi_pb2.ControllerPublishVolumeRequest(
                volume_id="vol-1", node_id="i-1", volume_capability=CAPABILITY
            )
        )
        answer(client.identity.Probe, csi_pb2.ProbeRequest())
        server.send(signal.SIGTERM)
        while server.process.poll() is None:
            server.send(signal.SIGTERM)
        held.cancel()
    assert names_in(folder) == []


def test_an_index_goes_away_with_its_own_server_only(folder: Path) -> None:
    first = Index(folder, {"i-1": folder / "0.sock"})
    (folder / "keep-the-inode").hardlink_to(folder / "index.json")
    second = Index(folder, {"i-2": folder / "0.sock"})
    first.remove()
    assert list(index_in(folder)) == ["i-2"]
    second.remove()
    second.remove()
    assert names_in(folder) == ["keep-the-inode"]


def test_an_index_is_written_whole_or_not_at_all(folder: Path) -> None:
    Index(folder, {"i-1": folder / "0.sock"})
    (folder / f".index.json.{os.getpid()}").mkdir()
    with pytest.raises(EndpointMistake) as refused_:
        Index(folder, {"i-2": folder / "0.sock"})
    assert str(refused_.value) == (
        f"--node-socket-dir '{folder}': index.json cannot be written: Is a directory"
    )
    assert list(index_in(folder)) == ["i-1"]


# -------------------------------------------------------------------------------- --node-mounts


@pytest.mark.parametrize(
    ("flags", "variables", "is_made"),
    [
        ([], {}, True),
        (["--node-mounts", "directory"], {}, True),
        (["--node-mounts", "none"], {}, False),
        ([], {"MOCKDRIVER_NODE_MOUNTS": "none"}, False),
    ],
)
def test_publishing_makes_a_folder_unless_it_is_told_not_to(
    flags: list[str], variables: dict[str, str], is_made: bool, serve: Serve, folder: Path
) -> None:
    scenario = "{scenario: one, cloud: {instances: [{id: i-1, attached: [vol-1]}]}}"
    server = serve(*flags, variables=variables, scenario=scenario)
    target = folder / "target"
    stage = csi_pb2.NodeStageVolumeRequest(
        volume_id="vol-1", staging_target_path=str(folder), volume_capability=CAPABILITY
    )
    publish = csi_pb2.NodePublishVolumeRequest(
        volume_id="vol-1",
        staging_target_path=str(folder),
        target_path=str(target),
        volume_capability=CAPABILITY,
    )
    unpublish = csi_pb2.NodeUnpublishVolumeRequest(volume_id="vol-1", target_path=str(target))
    with server.connect() as client:
        answer(client.node.NodeStageVolume, stage)
        answer(client.node.NodePublishVolume, publish)
        assert target.exists() == is_made
        answer(client.node.NodeUnpublishVolume, unpublish)
    assert names_in(folder) == []


def test_a_killed_server_s_target_is_removed_by_the_next_one(serve: Serve, folder: Path) -> None:
    scenario = "{scenario: one, cloud: {instances: [{id: i-1, attached: [vol-1]}]}}"
    flags = ("--capability", "STAGE_UNSTAGE_VOLUME=off")
    target = folder / "target"
    publish = csi_pb2.NodePublishVolumeRequest(
        volume_id="vol-1", target_path=str(target), volume_capability=CAPABILITY
    )
    unpublish = csi_pb2.NodeUnpublishVolumeRequest(volume_id="vol-1", target_path=str(target))
    killed = serve(*flags, scenario=scenario)
    with killed.connect() as client:
        answer(client.node.NodePublishVolume, publish)
        (target / "data").touch()
    killed.send(signal.SIGKILL)
    killed.exit_code()
    with serve(*flags, scenario=scenario).connect() as client:
        answer(client.node.NodePublishVolume, publish)
        assert names_in(target) == ["data"]
        answer(client.node.NodeUnpublishVolume, unpublish)
    assert names_in(folder) == []
