"""A server that registers with kubelets, and what becomes of its registration sockets."""

from __future__ import annotations

import logging
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import grpc
import pytest

from csi_spec import csi_pb2
from kubelet_spec import pluginregistration_pb2
from mockdriver.co.csi_client import CsiClient
from mockdriver.driver.driver import Role
from mockdriver.journal import Journal
from mockdriver.runtime import WallRuntime
from mockdriver.server import socket_server
from mockdriver.server.kubelet_registration import (
    SHOWN_CHARACTERS,
    KubeletRegistration,
    hidden_name,
)
from mockdriver.server.listening import Listening, ListeningPlan
from mockdriver.server.registration_plan import Registration
from mockdriver.server.sockets import EndpointMistake
from tests.conftest import Serve
from tests.requests import answer, begin_publish, is_ready, published_ids
from tests.server.in_process import make
from tests.server.kubelet import Kubelet, answers, endpoint_told_at
from tests.serving import Serving
from tests.waiting import PATIENCE_SECONDS, wait_until

DRIVER = "mock.csi.example.com"
NAME = f"{DRIVER}-reg.sock"
THREE = "{scenario: three, cloud: {instances: [{id: i-1}, {id: i-2}, {id: rack/3}]}}"
HELD = """
scenario: held
cloud: {instances: [{id: i-1}], disks: [{id: vol-1}], transitions: {attach: held}}
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder whose name leaves room for a socket's."""
    with TemporaryDirectory(prefix="mockdriver-test-") as name:
        yield Path(name)


@pytest.fixture
def registered(folder: Path) -> Iterator[KubeletRegistration]:
    """A registration socket in the folder, without any server behind it."""
    registration = KubeletRegistration(
        [Registration(folder / NAME, "i-1", "/seen/csi.sock")], DRIVER, Journal(WallRuntime())
    )
    registration.open()
    yield registration
    registration.close()


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def warnings_in(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [item.getMessage() for item in caplog.records if item.levelno == logging.WARNING]


def refused(serve: Serve, *flags: Any, **settings: Any) -> str:
    """Start a server that must not start; return the line that tells why."""
    server: Serving = serve(*flags, ready=False, **settings)
    assert server.exit_code() == 1
    assert "Traceback" not in server.log()
    (line,) = [line for line in server.log().splitlines() if line.startswith("Error: ")]
    return line.removeprefix("Error: ")


# ---------------------------------------------------------------------------------------- the API


def test_a_kubelet_is_told_type_name_endpoint_and_version(
    registered: KubeletRegistration, folder: Path
) -> None:
    with Kubelet(folder / NAME) as kubelet:
        assert kubelet.get_info() == pluginregistration_pb2.PluginInfo(
            type="CSIPlugin", name=DRIVER, endpoint="/seen/csi.sock", supported_versions=["1.0.0"]
        )


def test_a_refusal_is_a_warning_with_the_kubelets_text(
    registered: KubeletRegistration, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Kubelet(folder / NAME) as kubelet:
        kubelet.notify(registered=False, error="no\n2026 INFO all is \x1b[32mwell\u2028\x9b")

    (line,) = warnings_in(caplog)
    assert line == (
        f"the kubelet at {folder / NAME} has not registered node 'i-1': "
        "'no\\n2026 INFO all is \\x1b[32mwell\\u2028\\x9b'"
    )


def test_a_long_text_of_a_kubelet_is_cut(
    registered: KubeletRegistration, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Kubelet(folder / NAME) as kubelet:
        kubelet.notify(registered=False, error="x" * 100_000)

    (line,) = warnings_in(caplog)
    assert line.endswith(f"'{'x' * SHOWN_CHARACTERS}'… (100000 characters)")


def test_a_registration_that_went_well_is_no_warning(
    registered: KubeletRegistration, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with Kubelet(folder / NAME) as kubelet:
        kubelet.notify(registered=True)

    assert warnings_in(caplog) == []


@pytest.mark.parametrize("rpc", ["GetInfo", "NotifyRegistrationStatus"])
def test_bytes_that_are_no_message_are_an_invalid_argument(
    rpc: str, registered: KubeletRegistration, folder: Path
) -> None:
    with Kubelet(folder / NAME) as kubelet:
        method: Any = kubelet.channel.unary_unary(f"/pluginregistration.Registration/{rpc}")
        call = method.future(b"\xff", timeout=PATIENCE_SECONDS)

        assert call.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert "1 bytes that are no pluginregistration." in call.details()


# ------------------------------------------------------------------------------- when it is there


class Spy:
    """An announcement that asks, whenever it is called, whether the CSI socket answers."""

    def __init__(self, csi_socket: Path) -> None:
        self.seen: list[tuple[str, bool]] = []
        self._csi_socket = csi_socket

    def _note(self, what: str) -> None:
        with CsiClient(self._csi_socket) as client:
            self.seen.append((what, is_ready(client)))

    def open(self) -> None:
        self._note("open")

    def look(self) -> None: ...

    def close(self) -> None:
        self._note("close")

    def remove_files(self) -> None: ...


def test_kubelets_are_told_once_the_csi_socket_answers_and_untold_while_it_still_does(
    folder: Path,
) -> None:
    spy = Spy(folder / "csi.sock")
    plan = ListeningPlan(folder / "csi.sock", Role.ALL, "i-1")
    listening = Listening(make(), plan, WallRuntime(), [spy])

    listening.open()
    assert spy.seen == [("open", True)]
    listening.close(0)
    assert spy.seen == [("open", True), ("close", True)]


def test_a_socket_is_bound_under_a_name_that_kubelets_ignore() -> None:
    longest, shortest = Path("/reg") / NAME, Path("/reg/d-reg.sock")
    for path in (longest, shortest):
        hidden = [hidden_name(path, made) for made in range(25)]
        assert all(item.name.startswith(".") for item in hidden)
        assert {item.parent for item in hidden} == {path.parent}
        assert {len(item.name) for item in hidden} == {len(path.name)}
        assert all(one != other for one, other in pairwise(hidden))


def test_no_name_but_the_sockets_is_left_in_the_folder(
    registered: KubeletRegistration, folder: Path
) -> None:
    assert names_in(folder) == [NAME]


# --------------------------------------------------------------------------------- when it is lost


def test_a_socket_that_was_deleted_is_made_again(
    registered: KubeletRegistration, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(12):
        (folder / NAME).unlink()
        registered.look()
        assert answers(folder / NAME)

    told = f"registration socket {folder / NAME} was removed or replaced by somebody else"
    assert warnings_in(caplog) == [told] * 12
    registered.close()
    assert names_in(folder) == []


def test_a_socket_that_is_there_is_left_as_it_is(
    registered: KubeletRegistration, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = os.lstat(folder / NAME)
    registered.look()

    assert os.lstat(folder / NAME).st_ino == before.st_ino
    assert warnings_in(caplog) == []


def test_what_somebody_has_put_in_the_place_stays_and_is_told_once(
    registered: KubeletRegistration, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / NAME).unlink()
    (folder / NAME).write_text("bird")
    registered.look()
    registered.look()

    assert (folder / NAME).read_text() == "bird"
    _, why = warnings_in(caplog)
    assert why.startswith("it is made again as soon as possible: ")
    assert "something that is no socket is in the way" in why

    (folder / NAME).unlink()
    registered.look()
    assert answers(folder / NAME)


def test_another_process_that_has_taken_the_place_keeps_it(
    registered: KubeletRegistration, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (folder / NAME).unlink()
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(folder / NAME))
        other.listen()
        theirs = os.lstat(folder / NAME).st_ino
        registered.look()
        registered.close()

        assert os.lstat(folder / NAME).st_ino == theirs
    assert "in use, another process answers there" in warnings_in(caplog)[1]


def test_a_folder_that_was_deleted_is_waited_for_and_not_made(
    registered: KubeletRegistration, folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    shutil.rmtree(folder)
    registered.look()
    registered.look()
    assert not folder.exists()
    assert len(warnings_in(caplog)) == 2

    folder.mkdir()
    registered.look()
    assert answers(folder / NAME)


def test_a_server_goes_on_when_its_registration_socket_is_deleted(
    serve: Serve, folder: Path
) -> None:
    server = serve("--kubelet-registration-dir", folder)
    (folder / NAME).unlink()

    wait_until((folder / NAME).exists, "the socket is made again")
    assert answers(folder / NAME)
    with server.connect() as client:
        assert is_ready(client)
    assert server.stop() == 0
    assert names_in(folder) == []


# ----------------------------------------------------------------------------------- the command


def test_a_server_registers_its_node_and_says_so(serve: Serve, folder: Path) -> None:
    server = serve("--kubelet-registration-dir", folder, endpoint="csi.sock")

    assert names_in(folder) == [NAME]
    assert (
        server.printed().splitlines()[0].endswith(f", with the registration socket {folder / NAME}")
    )
    assert endpoint_told_at(folder / NAME) == str(server.path)
    with Kubelet(folder / NAME) as kubelet:
        kubelet.notify(registered=False, error="try again")
        kubelet.notify(registered=True)
    assert server.stop() == 0
    assert names_in(folder) == []
    calls = [line.partition(" ")[2] for line in server.log().splitlines() if " OK " in line]
    info = f'"type":"CSIPlugin","name":"{DRIVER}","endpoint":"{server.path}"'
    (asked,) = [line for line in calls if line.startswith("GetInfo OK")]
    assert 'node="i-worker-1" {} -> ' in asked
    assert info in asked
    told = [line for line in calls if line.startswith("NotifyRegistrationStatus OK")]
    assert '{"error":"try again"} -> {}' in told[0]
    assert '{"plugin_registered":true} -> {}' in told[1]
    assert "WARNING the kubelet at" in server.log()
    assert "was not there" not in server.log()


def test_options_are_taken_from_the_environment_too(serve: Serve, folder: Path) -> None:
    variables = {
        "MOCKDRIVER_KUBELET_REGISTRATION_DIR": f"{folder}/{{node}}/reg",
        "MOCKDRIVER_KUBELET_CSI_SOCKET": "unix:///plugins/{node}/csi.sock",
    }
    serve("--driver-name", "one.example.com", variables=variables)

    path = folder / "i-worker-1" / "reg" / "one.example.com-reg.sock"
    assert endpoint_told_at(path) == "/plugins/i-worker-1/csi.sock"


def test_each_of_many_nodes_has_its_own_registration(serve: Serve, folder: Path) -> None:
    server = serve(
        *("--role", "controller", "--node-socket-dir", folder / "nodes"),
        *("--kubelet-registration-dir", folder / "kubelet-{node}"),
        scenario=THREE,
    )

    assert server.printed().splitlines()[0].endswith("with 3 registration sockets")
    ids = {}
    for name in ("i-1", "i-2", "rack~2F3"):
        csi_socket = Path(endpoint_told_at(folder / f"kubelet-{name}" / NAME))
        with CsiClient(csi_socket) as client:
            ids[name] = answer(client.node.NodeGetInfo, csi_pb2.NodeGetInfoRequest()).node_id
    assert ids == {"i-1": "i-1", "i-2": "i-2", "rack~2F3": "rack/3"}
    assert server.stop() == 0
    assert [path for path in folder.rglob("*") if not path.is_dir()] == []


def test_a_folder_that_no_kubelet_has_made_is_made_with_a_warning(
    serve: Serve, folder: Path
) -> None:
    new = folder / "var" / "plugins_registry"
    server = serve("--kubelet-registration-dir", new)

    assert answers(new / NAME)
    assert server.stop() == 0
    assert names_in(new) == []
    assert f"WARNING registration folder {new} was not there and is made" in server.log()


def test_a_folder_that_cannot_be_made_is_told_in_one_line(serve: Serve, folder: Path) -> None:
    (folder / "file").touch()

    line = refused(serve, "--kubelet-registration-dir", folder / "file" / "reg")
    assert line == (
        f"--kubelet-registration-dir '{folder}/file/reg': cannot be made: Not a directory"
    )
    line = refused(serve, "--kubelet-registration-dir", folder / "file")
    assert line == f"--kubelet-registration-dir '{folder}/file': cannot be made: File exists"


def test_a_mistake_is_told_before_anything_is_made(serve: Serve, folder: Path) -> None:
    line = refused(serve, "--role", "controller", "--kubelet-registration-dir", folder / "reg")

    assert "a kubelet registers a Node service" in line
    assert names_in(folder) == []


def test_a_csi_socket_for_no_kubelet_is_a_mistake(serve: Serve) -> None:
    server = serve("--kubelet-csi-socket", "/csi.sock", ready=False)

    assert server.exit_code() == 2
    assert "is for --kubelet-registration-dir, which is missing" in server.log()


def test_a_driver_that_is_registered_already_keeps_its_socket(serve: Serve, folder: Path) -> None:
    first = serve("--kubelet-registration-dir", folder)

    line = refused(serve, "--kubelet-registration-dir", folder)

    assert line == (
        f"--kubelet-registration-dir: endpoint '{folder / NAME}': in use, another process answers "
        "there; stop it or choose another path"
    )
    assert endpoint_told_at(folder / NAME) == str(first.path)
    second = serve("--kubelet-registration-dir", folder, "--driver-name", "other.example.com")
    assert endpoint_told_at(folder / "other.example.com-reg.sock") == str(second.path)


def test_a_socket_that_a_killed_server_left_is_taken_over(serve: Serve, folder: Path) -> None:
    killed = serve("--kubelet-registration-dir", folder)
    killed.send(signal.SIGKILL)
    killed.exit_code()
    assert names_in(folder) == [NAME]

    server = serve("--kubelet-registration-dir", folder)
    assert endpoint_told_at(folder / NAME) == str(server.path)


def test_a_kubelet_is_untold_at_once_while_calls_in_flight_go_on(
    serve: Serve, folder: Path
) -> None:
    flags = ("--kubelet-registration-dir", folder, "--grace-seconds", "3600")
    server = serve(*flags, scenario=HELD)
    with server.connect() as client:
        publishing = begin_publish(client, "vol-1", "i-1")
        wait_until(lambda: published_ids(client, "i-1"), "the publish has begun")
        server.send(signal.SIGTERM)

        wait_until(lambda: names_in(folder) == [], "the registration socket is gone")
        assert not publishing.done(), "the call in flight goes on"
        server.send(signal.SIGTERM)
        assert server.exit_code() == 128 + signal.SIGTERM


def test_signals_in_a_flood_leave_no_socket(serve: Serve, folder: Path) -> None:
    server = serve("--kubelet-registration-dir", folder)
    while server.process.poll() is None:
        server.send(signal.SIGTERM)

    assert names_in(folder) == []


def test_calls_that_are_held_do_not_keep_a_kubelet_waiting(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(socket_server, "WORKER_THREADS", 1)
    server = make(HELD)
    server.listen(folder / "csi.sock", "i-1")
    registration = KubeletRegistration(
        [Registration(folder / NAME, "i-1", "/csi.sock")], DRIVER, server.journal
    )
    registration.open()
    with CsiClient(folder / "csi.sock") as client:
        held = begin_publish(client, "vol-1", "i-1")
        wait_until(
            lambda: server.journal.entries()[-1].rpc == "ControllerPublishVolume",
            "the publish has begun",
        )

        assert answers(folder / NAME), "although the one thread for CSI calls is taken"
        assert not held.done()
        held.cancel()
    registration.close()
    server.stop(0)


def test_a_socket_in_the_way_of_the_hidden_one_is_told(folder: Path) -> None:
    path = folder / NAME
    hidden_name(path, 0).write_text("bird")
    registration = KubeletRegistration(
        [Registration(path, "i-1", "/csi.sock")], DRIVER, Journal(WallRuntime())
    )

    with pytest.raises(EndpointMistake, match="no socket is in the way"):
        registration.open()
    registration.close()
    assert names_in(folder) == [hidden_name(path, 0).name]


def test_a_server_without_a_kubelet_does_not_pay_for_the_code() -> None:
    program = (
        "import sys, mockdriver.cli.serve; "
        "print([name for name in sys.modules if 'kubelet' in name or 'registration' in name])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)

    assert done.stdout == b"[]\n"
