"""Where the control API is: at the endpoint, at a socket of its own, or nowhere."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any, Self

import grpc
import pytest

from mockdriver.control.v1 import cloud_pb2, cloud_pb2_grpc, state_pb2, state_pb2_grpc
from mockdriver.driver.driver import Role
from mockdriver.server.listening import CONTROL_OFF, plan_listening
from mockdriver.server.sockets import EndpointMistake, grpc_target
from tests.conftest import Serve
from tests.requests import begin_publish, is_ready
from tests.serving import Serving
from tests.waiting import PATIENCE_SECONDS, wait_until

TWO = "{scenario: two, cloud: {instances: [{id: i-1}, {id: i-2}], transitions: {attach: held}}}"


class Control:
    """An operator's connection to a socket."""

    def __init__(self, path: Path) -> None:
        self.channel = grpc.insecure_channel(
            grpc_target(path), options=[("grpc.use_local_subchannel_pool", 1)]
        )
        self.cloud = cloud_pb2_grpc.CloudStub(self.channel)
        self.state = state_pb2_grpc.StateStub(self.channel)

    def instances(self) -> int:
        answer = self.cloud.GetCloud(cloud_pb2.GetCloudRequest(), timeout=PATIENCE_SECONDS)
        return answer.instances

    def server(self) -> state_pb2.Server:
        request = state_pb2.GetServerRequest()
        return self.state.GetServer(request, timeout=PATIENCE_SECONDS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.channel.close()


def answers_for_the_cloud(path: Path) -> str:
    """Return the code of a call of the Cloud service at a socket."""
    with Control(path) as control:
        try:
            control.instances()
        except grpc.RpcError as error:
            return str(error.code().name)
    return "OK"


def test_it_is_at_the_endpoint_by_default(serve: Serve) -> None:
    server: Serving = serve(scenario=TWO)
    with Control(server.path) as control:
        assert control.instances() == 2
        told = control.server()
    assert told.endpoint == told.control_endpoint == f"unix://{server.path}"
    assert (told.node_id, told.scenario) == ("i-1", "two")


def test_it_can_have_a_socket_of_its_own(serve: Serve) -> None:
    server = serve("--control-endpoint", "unix:control.sock", scenario=TWO, ready=False)
    assert server.exit_code() != 0
    assert "must be absolute" in server.log()
    server = serve("--control-endpoint", "control.sock", scenario=TWO)
    own = server.folder / "control.sock"
    assert f"control API on unix://{own}" in server.printed()
    with Control(own) as control, server.connect() as csi:
        assert control.instances() == 2
        assert control.server().control_endpoint == f"unix://{own}"
        assert is_ready(csi)
    assert answers_for_the_cloud(server.path) == "UNIMPLEMENTED"
    assert server.stop() == 0
    assert list(server.folder.glob("*.sock")) == []


def test_it_can_be_switched_off(serve: Serve) -> None:
    server = serve(scenario=TWO, variables={"MOCKDRIVER_CONTROL_ENDPOINT": "off"})
    assert answers_for_the_cloud(server.path) == "UNIMPLEMENTED"
    with server.connect() as csi:
        assert is_ready(csi)


def test_the_endpoint_can_be_named_for_it_too(serve: Serve, tmp_path: Path) -> None:
    server = serve("--control-endpoint", "csi.sock", scenario=TWO)
    assert answers_for_the_cloud(server.path) == "OK"
    assert "control API on" not in server.printed()


def test_a_path_that_somebody_uses_is_refused(serve: Serve) -> None:
    first = serve(scenario=TWO)
    second = serve("--control-endpoint", str(first.path), scenario=TWO, ready=False)
    assert second.exit_code() == 1
    assert "in use, another process answers there" in second.log()
    assert answers_for_the_cloud(first.path) == "OK"


def test_a_socket_that_is_left_from_a_killed_process_is_replaced(serve: Serve) -> None:
    first = serve("--control-endpoint", "control.sock", scenario=TWO)
    own = first.folder / "control.sock"
    first.send(signal.SIGKILL)
    first.exit_code()
    assert own.is_socket()
    second = serve("--control-endpoint", str(own), "--endpoint", str(first.path), scenario=TWO)
    assert answers_for_the_cloud(own) == "OK"
    assert second.stop() == 0


def test_something_else_in_the_way_is_left_alone(serve: Serve, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    server = serve("--control-endpoint", str(path), scenario=TWO, ready=False)
    assert server.exit_code() == 1
    assert "something that is no socket is in the way" in server.log()
    assert path.read_text() == "mine"


def test_a_server_whose_control_socket_is_taken_away_ends(serve: Serve) -> None:
    server = serve("--control-endpoint", "control.sock", scenario=TWO)
    (server.folder / "control.sock").unlink()
    assert server.exit_code() == 1
    assert "was removed or replaced" in server.log()


def test_a_stopped_clock_does_not_stop_the_server_from_looking_after_its_sockets(
    serve: Serve,
) -> None:
    server = serve(scenario=TWO)
    with Control(server.path) as control:
        clock = state_pb2_grpc.ClockStub(control.channel)
        clock.StopClock(state_pb2.StopClockRequest(), timeout=PATIENCE_SECONDS)
    server.path.unlink()
    assert server.exit_code() == 1


def test_nodes_in_a_folder_have_none(serve: Serve) -> None:
    server = serve("--node-socket-dir", "nodes", "--role", "node", scenario=TWO, told_where=False)
    socket_path = server.folder / "nodes" / "0.sock"
    assert answers_for_the_cloud(socket_path) == "UNIMPLEMENTED"


def test_nodes_in_a_folder_can_be_steered_from_a_socket_of_its_own(serve: Serve) -> None:
    server = serve(
        *("--node-socket-dir", "nodes", "--role", "node", "--control-endpoint", "control.sock"),
        scenario=TWO,
        told_where=False,
    )
    with Control(server.folder / "control.sock") as control:
        told = control.server()
    nodes = server.folder / "nodes"
    assert dict(told.node_endpoints) == {
        "i-1": f"unix://{nodes}/0.sock", "i-2": f"unix://{nodes}/1.sock",
    }  # fmt: skip
    assert (told.endpoint, told.node_id) == ("", "")


def test_control_calls_are_answered_while_csi_calls_hold_every_thread(serve: Serve) -> None:
    scenario = TWO.replace("[{id: i-1}", "[{id: i-1, attached: 0}")
    server = serve(scenario=scenario)
    with Control(server.path) as control, server.connect() as csi:
        calls = []
        for n in range(1_050):  # more than there are threads
            disk = cloud_pb2.AddDiskRequest(id=f"d-{n}")
            control.cloud.AddDisk(disk, timeout=PATIENCE_SECONDS)
            calls.append(begin_publish(csi, f"d-{n}", "i-1"))

        def attaching() -> bool:
            request = cloud_pb2.GetCloudRequest()
            return control.cloud.GetCloud(request, timeout=PATIENCE_SECONDS).attachments >= 1_000

        wait_until(attaching, "a thousand calls that wait")
        release: Any = control.cloud.Release
        request = cloud_pb2.ReleaseRequest()

        def all_have_ended() -> bool:
            release(request, timeout=PATIENCE_SECONDS)
            return all(call.done() for call in calls)

        wait_until(all_have_ended, "the end of all calls")
        assert all(call.exception() is None for call in calls)


def test_reflection_describes_it_with_other_capability_numbers_too(serve: Serve) -> None:
    server = serve("--capability-number", "GET_NODE_INFO=1001", scenario=TWO)
    assert answers_for_the_cloud(server.path) == "OK"


@pytest.mark.parametrize(
    ("given", "control"),
    [(None, "/run/csi.sock"), (CONTROL_OFF, None), ("unix:///run/c.sock", "/run/c.sock")],
)
def test_what_is_planned(given: str | None, control: str | None) -> None:
    plan = plan_listening(
        endpoint="/run/csi.sock",
        role=Role.ALL,
        node_id=None,
        node_socket_dir=None,
        node_ids=[],
        control_endpoint=given,
    )
    assert plan.control == (None if control is None else Path(control))


def test_a_path_that_is_too_long_is_refused() -> None:
    with pytest.raises(EndpointMistake, match="at most 107"):
        plan_listening(
            endpoint="/run/csi.sock",
            role=Role.ALL,
            node_id=None,
            node_socket_dir=None,
            node_ids=[],
            control_endpoint="/" + "x" * 200,
        )
