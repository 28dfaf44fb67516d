"""A mock as a process that a test holds: it starts, answers, stops, dies and starts again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import grpc
import pytest

import mockdriver.testing
from csi_spec import csi_pb2, csi_pb2_grpc
from mockdriver.client import ControlClient, ControlError
from mockdriver.client.csi import CsiError
from mockdriver.scenario import shipped
from mockdriver.testing import Driver, Scenario, StartFailed, running, start
from mockdriver.testing.scenario_source import DEFAULT_SCENARIO
from tests.waiting import PATIENCE_SECONDS, wait_until

TWO_NODES = {"scenario": "two", "cloud": {"instances": [{"id": "i-1"}, {"id": "i-2"}]}}


def test_it_answers_when_it_has_started_and_leaves_nothing_when_it_has_stopped() -> None:
    with start() as driver:
        info = driver.csi.controller.ControllerGetNodeInfo(node_id="i-worker-1")
        folder = driver.socket.parent

    assert info.max_volumes_per_node == 23
    assert not folder.exists()
    assert not driver.is_running
    assert driver.exit_code == 0


def test_the_default_scenario_is_that_of_serve() -> None:
    assert shipped.DEFAULT == DEFAULT_SCENARIO


@pytest.mark.parametrize("kind", ["name", "file", "path", "text", "dict"])
def test_a_scenario_is_a_name_a_file_a_text_or_a_dict(kind: str, tmp_path: Path) -> None:
    text = 'scenario: odd\ncloud: {instances: [{id: "ü-\U0001f4be"}]}\n'
    (tmp_path / "odd.yaml").write_text(text, encoding="utf-8")
    scenarios: dict[str, Scenario] = {
        "name": "csi-sanity",
        "file": str(tmp_path / "odd.yaml"),
        "path": tmp_path / "odd.yaml",
        "text": text,
        "dict": {"scenario": "odd", "cloud": {"instances": [{"id": "ü-\U0001f4be"}]}},
    }

    with start(scenarios[kind]) as driver:
        node_id = driver.csi.node.NodeGetInfo().node_id

    assert node_id == ("i-sanity" if kind == "name" else "ü-\U0001f4be")


def test_options_are_those_of_serve() -> None:
    with start(
        TWO_NODES,
        capabilities={"GET_NODE_INFO": False},
        driver_name="other.example.com",
        node="i-2",
        serve_options=["--log-format", "json"],
    ) as driver:
        assert driver.csi.identity.GetPluginInfo().name == "other.example.com"
        assert driver.csi.node.NodeGetInfo().node_id == "i-2"
        with pytest.raises(CsiError) as caught:
            driver.csi.controller.ControllerGetNodeInfo(node_id="i-1")

    assert caught.value.code is grpc.StatusCode.UNIMPLEMENTED
    assert "controller.GET_NODE_INFO, which is off" in caught.value.message


def test_the_control_api_can_have_a_socket_of_its_own() -> None:
    with start(own_control_socket=True) as driver:
        assert driver.control_endpoint != driver.endpoint
        assert driver.control.state.server().driver_name == "mock.csi.example.com"
        assert driver.cloud.attach("i-worker-1", "vol-by-hand").out_of_band
        with ControlClient(driver.endpoint) as control, pytest.raises(ControlError) as caught:
            control.clock.reading()

    assert caught.value.code is grpc.StatusCode.UNIMPLEMENTED


def test_a_server_without_the_control_api_answers_csi() -> None:
    with start(serve_options=["--control-endpoint", "off"]) as driver:
        assert driver.csi.identity.Probe().ready.value
        with pytest.raises(ControlError, match="has no control API"):
            driver.reset()


def test_an_option_that_does_not_exist_is_refused_with_the_known_ones() -> None:
    with pytest.raises(TypeError, match="no option nodez; there are: scenario, capabilities, "):
        start(TWO_NODES, nodez="*")  # type: ignore[call-arg]


def test_variables_of_the_environment_do_not_steer_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOCKDRIVER_DRIVER_NAME", "surprise.example.com")
    monkeypatch.setenv("CSI_ENDPOINT", "unix:///nowhere/csi.sock")

    with start() as driver:
        assert driver.csi.identity.GetPluginInfo().name == "mock.csi.example.com"


def test_other_nodes_have_sockets_of_their_own() -> None:
    with start(TWO_NODES, nodes="*") as driver:
        assert set(driver.node_sockets) == {"i-1", "i-2"}
        assert driver.csi.node_of("i-2").NodeGetInfo().node_id == "i-2"
        with pytest.raises(LookupError, match=r"no node 'i-3' .* there are: i-1, i-2"):
            driver.csi.node_of("i-3")


def test_nodes_without_a_socket_are_missed_with_a_word_on_how_to_have_them() -> None:
    with start(TWO_NODES) as driver:
        with pytest.raises(LookupError, match=r"start it with nodes=\[\.\.\.\]"):
            driver.csi.node_of("i-2")
        with pytest.raises(LookupError, match="no node 'i-2'"):
            driver.channel("i-2")


def test_stubs_of_ones_own_get_a_channel() -> None:
    with start(TWO_NODES, nodes=["i-2"]) as driver:
        for node_id, channel in [("i-1", driver.channel()), ("i-2", driver.channel("i-2"))]:
            stub = csi_pb2_grpc.NodeStub(channel)
            answer = stub.NodeGetInfo(csi_pb2.NodeGetInfoRequest(), timeout=PATIENCE_SECONDS)
            assert answer.node_id == node_id


def test_two_mocks_do_not_know_of_each_other() -> None:
    with start() as first, start() as second:
        first.csi.controller.CreateVolume(
            name="pvc-1",
            volume_capabilities=[
                csi_pb2.VolumeCapability(
                    mount=csi_pb2.VolumeCapability.MountVolume(),
                    access_mode=csi_pb2.VolumeCapability.AccessMode(
                        mode=csi_pb2.VolumeCapability.AccessMode.SINGLE_NODE_WRITER
                    ),
                )
            ],
        )
        counts = [len(driver.csi.controller.ListVolumes().entries) for driver in (first, second)]
        assert counts[0] == counts[1] + 1
        assert running() == [first, second]

    assert running() == []


def test_a_scenario_with_mistakes_fails_with_all_of_them() -> None:
    with pytest.raises(StartFailed) as caught:
        start({"scenario": "wrong", "cloud": {"instances": [{"id": "i", "type": "t", "zon": 1}]}})

    assert "ended before it was ready" in str(caught.value)
    assert "zon" in str(caught.value)


def test_a_server_that_is_not_ready_in_time_fails_and_is_gone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with tempfile.TemporaryDirectory(prefix="mockdriver-test-") as folder:
        monkeypatch.setattr(tempfile, "tempdir", folder)

        with pytest.raises(StartFailed, match=r"was not ready within 0\.001 s"):
            start(start_timeout_seconds=0.001)

        assert list(Path(folder).iterdir()) == []


def test_the_log_has_a_line_a_call() -> None:
    with start() as driver:
        size = driver.log_size
        driver.csi.controller.ControllerGetNodeInfo(node_id="i-worker-1")
        wait_until(lambda: "ControllerGetNodeInfo OK" in driver.log_from(size), "the line")

        assert driver.log_from(size) in driver.log


def test_a_killed_server_starts_again_at_the_same_socket() -> None:
    with start(TWO_NODES, nodes="*") as driver:
        endpoint, first = driver.endpoint, driver.pid
        driver.kill()
        assert driver.exit_code == -signal.SIGKILL
        assert not driver.is_running

        driver.restart()

        assert driver.endpoint == endpoint
        assert driver.pid != first
        assert driver.csi.node_of("i-2").NodeGetInfo().node_id == "i-2"


def test_a_running_server_can_be_started_again() -> None:
    with start() as driver:
        first = driver.pid
        assert driver.csi.identity.Probe().ready.value

        driver.restart()

        assert driver.pid != first
        assert driver.csi.identity.Probe().ready.value


def test_a_signal_to_the_tests_at_a_terminal_does_not_reach_it() -> None:
    with start() as driver:
        assert driver.pid is not None
        assert os.getpgid(driver.pid) != os.getpgrp()


def test_the_end_of_a_server_that_ends_by_itself_can_be_waited_for() -> None:
    with start() as driver:
        assert driver.wait(0.001) is None
        assert driver.pid is not None
        os.kill(driver.pid, signal.SIGTERM)

        assert driver.wait(PATIENCE_SECONDS) == 0


def test_stopping_twice_is_no_mistake() -> None:
    driver = start()

    driver.stop()
    driver.stop()

    assert not driver.is_running


def test_a_mock_that_nobody_holds_any_more_is_gone() -> None:
    driver = start()
    folder, pid = driver.socket.parent, driver.pid
    assert pid is not None

    del driver

    assert not folder.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_mock_outlives_the_thread_that_started_it() -> None:
    started: list[Driver] = []
    thread = threading.Thread(target=lambda: started.append(start()))
    thread.start()
    thread.join()

    [driver] = started
    with driver:
        assert driver.csi.identity.Probe().ready.value


HOLDER = """
import os, sys
import mockdriver.testing
driver = mockdriver.testing.start()
print(driver.socket, flush=True)
if sys.argv[1] == "fork":
    if os.fork() == 0:
        sys.exit()  # its end must not be that of the parent's driver
    os.wait()
    print(driver.csi.identity.Probe().ready.value, flush=True)
if sys.argv[1] != "exit":
    sys.stdin.read()
"""


@pytest.mark.parametrize("how", ["exit", "kill"])
def test_a_mock_ends_with_the_process_that_started_it(how: str) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, how], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert holder.stdout is not None
    path = Path(holder.stdout.readline().decode().strip())
    if how == "kill":
        assert path.is_socket()
        holder.kill()
    holder.communicate()

    wait_until(lambda: not path.exists(), "the end of the server")
    assert path.parent.exists() == (how == "kill")  # nobody was left to remove it
    if how == "kill":
        (path.parent / "log").unlink()
        path.parent.rmdir()


def test_a_mock_does_not_end_with_a_fork_of_the_process_that_started_it() -> None:
    with subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", HOLDER, "fork"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "GRPC_ENABLE_FORK_SUPPORT": "0"},
    ) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()

        assert holder.stdout.readline() == b"True\n"


def test_a_long_name_of_the_temporary_folder_leaves_room_for_sockets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(long))

    with start(TWO_NODES, nodes="*") as driver:
        assert driver.csi.node_of("i-2").NodeGetInfo().node_id == "i-2"


def test_the_module_has_all_that_it_promises() -> None:
    assert [
        name for name in mockdriver.testing.__all__ if not hasattr(mockdriver.testing, name)
    ] == []
