"""The file of --ready-file: when it is there, what is in it, and what becomes of it."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest

import mockdriver
from csi_spec import csi_pb2
from mockdriver.co.csi_client import CsiClient
from mockdriver.driver.driver import Role
from mockdriver.server.listening import plan_listening
from mockdriver.server.own_files import write_whole
from mockdriver.server.ready_file import ReadyFile, contents
from mockdriver.server.sockets import EndpointMistake
from tests.conftest import Serve
from tests.requests import answer, begin_publish, is_ready, published_ids
from tests.waiting import wait_until

ZONES = "three-zones"


def read(path: Path) -> dict[str, Any]:
    """Return what a ready file says."""
    said: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return said


def socket(url: str) -> Path:
    """Return the path of an endpoint in a ready file."""
    assert url.startswith("unix:///")
    return Path(url.removeprefix("unix://"))


def former(pid: int) -> str:
    """Return what a server with this pid has written."""
    return json.dumps({"pid": pid, "version": "0", "driver_name": "x"})


def test_the_file_tells_where_the_server_is(tmp_path: Path, serve: Serve) -> None:
    ready = tmp_path / "ready.json"
    server = serve("--scenario", ZONES, "--node", "i-b", "--ready-file", ready)

    assert read(ready) == {
        "pid": server.process.pid,
        "version": mockdriver.__version__,
        "driver_name": "mock.csi.example.com",
        "scenario": ZONES,
        "endpoint": f"unix://{server.path}",
        "control_endpoint": f"unix://{server.path}",
        "role": "all",
        "node_id": "i-b",
        "node_endpoints": {},
        "metrics": None,
        "dashboard": None,
    }


def test_who_finds_the_file_can_connect_to_all_that_it_names(serve: Serve, tmp_path: Path) -> None:
    ready = tmp_path / "ready.json"
    # The nodes' sockets are below a folder with a short name, as a socket's path must be.
    server = serve(
        "--scenario", ZONES, "--node-socket-dir", "n", "--ready-file", ready, ready=False
    )

    wait_until(ready.exists, "the ready file")

    said = read(ready)
    with CsiClient(socket(said["endpoint"])) as client:
        assert is_ready(client)
    assert list(said["node_endpoints"]) == ["i-a", "i-b", "i-c"]
    for node_id, url in said["node_endpoints"].items():
        with CsiClient(socket(url)) as client:
            info = answer(client.node.NodeGetInfo, csi_pb2.NodeGetInfoRequest())
            assert info.node_id == node_id
    assert server.stop() == 0


def test_the_file_can_be_named_from_the_folder_of_the_server(serve: Serve) -> None:
    server = serve("--ready-file", "ready.json")

    assert read(server.folder / "ready.json")["pid"] == server.process.pid
    assert f"with the ready file {server.folder}/ready.json" in server.printed().splitlines()[0]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_file_goes_when_the_server_stops(number: signal.Signals, serve: Serve) -> None:
    server = serve("--ready-file", "ready.json")

    server.send(number)

    assert server.exit_code() == 0
    assert not (server.folder / "ready.json").exists()


def test_the_file_goes_before_calls_in_flight_have_finished_and_at_a_second_signal(
    serve: Serve,
) -> None:
    held = """
        scenario: held
        cloud: {instances: [{id: i-1}], disks: [{id: vol-1}], transitions: {attach: held}}
    """
    server = serve("--ready-file", "ready.json", "--grace-seconds", "600", scenario=held)
    with server.connect() as client:
        publishing = begin_publish(client, "vol-1", "i-1")
        wait_until(lambda: published_ids(client, "i-1"), "the publish has begun")
        server.send(signal.SIGTERM)

        wait_until(lambda: not (server.folder / "ready.json").exists(), "the file to go")
        assert not publishing.done()
        server.send(signal.SIGTERM)
        assert server.exit_code() == 128 + signal.SIGTERM


def test_a_file_that_another_server_has_put_there_stays(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"
    file = ReadyFile(path, {"pid": 1})
    file.open()
    write_whole(path, "theirs")

    file.close()

    assert path.read_text(encoding="utf-8") == "theirs"


def test_a_reader_who_has_removed_the_file_does_no_harm(tmp_path: Path) -> None:
    file = ReadyFile(tmp_path / "ready.json", {})
    file.open()
    (tmp_path / "ready.json").unlink()

    file.look()
    file.close()

    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_server_left_is_gone_before_the_new_one_is_ready(tmp_path: Path) -> None:
    path = tmp_path / "ready.json"
    path.write_text(former(2**22 + 1), encoding="utf-8")  # more than any pid of Linux

    ReadyFile(path, {})

    assert not path.exists()


def test_an_empty_file_that_mktemp_made_is_taken(tmp_path: Path) -> None:
    path = tmp_path / "made-by-mktemp"
    path.touch()

    ReadyFile(path, {"pid": 1}).open()

    assert read(path) == {"pid": 1}


def test_the_file_of_a_server_that_runs_stays_until_this_one_is_ready(serve: Serve) -> None:
    first = serve("--ready-file", "ready.json")
    path = first.folder / "ready.json"

    second = serve("--ready-file", path, "--endpoint", first.path, ready=False)

    assert second.exit_code() == 1
    assert "in use" in second.log()
    assert read(path)["pid"] == first.process.pid


def test_a_link_in_the_place_of_the_draft_is_not_followed(tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious", encoding="utf-8")
    (tmp_path / f".ready.json.{os.getpid()}").symlink_to(victim)

    ReadyFile(tmp_path / "ready.json", {}).open()

    assert victim.read_text(encoding="utf-8") == "precious"


@pytest.mark.parametrize("content", ["precious", "{}", "[1]", '{"pid": 1}', "x" * 2_000_000])
def test_a_file_that_no_server_has_written_is_left_alone(content: str, tmp_path: Path) -> None:
    path = tmp_path / "thesis.txt"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(EndpointMistake, match="no ready file is in the way"):
        ReadyFile(path, {})

    assert path.read_text(encoding="utf-8") == content


def test_mistakes_in_the_path_are_told_in_one_line_before_anything_is_opened(
    serve: Serve, tmp_path: Path
) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    os.mkfifo(tmp_path / "pipe")
    reasons = {
        tmp_path / "none" / "ready.json": "there is no folder",
        tmp_path / "folder": "no ready file is in the way",
        tmp_path / "pipe": "no ready file is in the way",
        tmp_path / "binary": "no ready file is in the way",
        tmp_path / ("x" * 300): "File name too long",
        Path("/dev/stdout"): "no ready file is in the way",
    }
    for path, reason in reasons.items():
        server = serve("--ready-file", path, ready=False)

        assert server.exit_code() == 1
        assert server.log().startswith("Error: --ready-file ")
        assert reason in server.log()
        assert server.log().count("\n") == 1
        assert not server.path.exists()


def test_a_folder_that_disappears_meanwhile_is_told(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file = ReadyFile(folder / "ready.json", {})
    folder.rmdir()

    with pytest.raises(EndpointMistake, match="cannot be written: No such file"):
        file.open()


def test_a_path_that_is_no_text_makes_json_all_the_same() -> None:
    plan = plan_listening(
        endpoint=os.fsdecode(b"/tmp/\xff.sock"),
        role=Role.CONTROLLER,
        node_id=None,
        node_socket_dir=None,
        node_ids=[],
    )

    said = contents(plan, driver_name="d", scenario="s", urls={})

    assert os.fsencode(json.loads(json.dumps(said))["endpoint"]) == b"unix:///tmp/\xff.sock"
