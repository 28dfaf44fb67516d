"""What lies at a socket's path already: whose it is, and what becomes of it."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import grpc
import pytest

from mockdriver.co.csi_client import CsiClient
from mockdriver.server.sockets import EndpointMistake, make_way, name_to_bind
from tests.conftest import Serve
from tests.requests import begin_publish, is_ready, published_ids
from tests.server.in_process import listening, make
from tests.waiting import wait_until

NOBODY = 65534


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that everybody can look into."""
    with TemporaryDirectory(prefix="mockdriver-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


def answers(path: Path) -> bool:
    """Tell whether a mockdriver answers Probe on a socket."""
    with CsiClient(path) as client:
        return is_ready(client)


def leave_stale(path: Path) -> None:
    """Leave a socket at `path` that nobody answers on, as a killed process does."""
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))


@contextmanager
def another_listener(path: Path, backlog: int = 5) -> Iterator[None]:
    """Listen on `path`, as another program does, without ever accepting."""
    with socket.socket(socket.AF_UNIX) as other:
        other.bind(str(path))
        other.listen(backlog)
        yield


@contextmanager
def as_nobody() -> Iterator[None]:
    """Give up root's rights, if these tests have them, until the block ends.

    Root may write everywhere. The real user id counts too: it is what os.access looks at.
    """
    if os.getuid() != 0:
        yield
        return
    os.setreuid(NOBODY, 0)  # leaves 0 as the saved id, the way back
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setreuid(0, 0)


def test_a_server_starts_again_where_one_was_killed(serve: Serve, folder: Path) -> None:
    path = folder / "csi.sock"
    killed = serve(endpoint=path)
    killed.send(signal.SIGKILL)
    assert killed.exit_code() == -signal.SIGKILL
    assert path.is_socket(), "a killed process cannot clean up"

    second = serve(endpoint=path)

    assert answers(path)
    assert second.stop() == 0
    assert list(folder.iterdir()) == []


def test_a_server_starts_where_one_was_killed_while_it_started(folder: Path) -> None:
    path = folder / "csi.sock"
    leave_stale(name_to_bind(path))

    with listening(path):
        assert [item.name for item in folder.iterdir()] == ["csi.sock"]


def test_a_path_in_use_is_refused_and_the_first_server_goes_on(serve: Serve) -> None:
    first = serve()

    second = serve(endpoint=first.path, ready=False)

    assert second.exit_code() == 1
    assert second.log() == (
        f"Error: endpoint '{first.path}': in use, another process answers there; stop it or choose "
        "another path\n"
    )
    assert answers(first.path)
    assert first.stop() == 0


def test_a_listener_that_is_too_busy_to_accept_is_in_use(folder: Path) -> None:
    path = folder / "csi.sock"
    with another_listener(path, backlog=0), ExitStack() as waiting:
        for _ in range(3):  # fills the queue of whoever listens
            client = waiting.enter_context(socket.socket(socket.AF_UNIX))
            client.setblocking(False)
            client.connect_ex(str(path))

        with pytest.raises(EndpointMistake, match="in use"):
            make_way(path)
        assert path.is_socket()


def make_file(path: Path) -> None:
    path.write_text("precious")


def make_dangling_link(path: Path) -> None:
    path.symlink_to(path.parent / "nowhere")


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


@pytest.mark.parametrize("put", [make_file, Path.mkdir, make_dangling_link, make_pipe])
def test_what_is_no_socket_is_refused_and_left_alone(
    put: Callable[[Path], None], folder: Path
) -> None:
    path = folder / "csi.sock"
    put(path)
    before = os.lstat(path)

    with pytest.raises(EndpointMistake, match="something that is no socket is in the way"):
        make().listen(path, None)

    after = os.lstat(path)
    assert (after.st_ino, after.st_mode, after.st_size) == (
        before.st_ino,
        before.st_mode,
        before.st_size,
    )
    assert [item.name for item in folder.iterdir()] == ["csi.sock"]


def test_a_link_to_a_socket_is_no_socket_of_ours(folder: Path) -> None:
    with another_listener(folder / "theirs.sock"):
        (folder / "csi.sock").symlink_to(folder / "theirs.sock")

        with pytest.raises(EndpointMistake, match="no socket is in the way"):
            make_way(folder / "csi.sock")


def test_the_root_folder_is_no_place_for_a_socket() -> None:
    with pytest.raises(EndpointMistake, match="'/': something that is no socket is in the way"):
        make().listen(Path("/"), None)


def test_a_missing_folder_is_named(folder: Path) -> None:
    with pytest.raises(EndpointMistake, match=f"there is no folder '{folder}/no'; make it first"):
        make_way(folder / "no" / "csi.sock")


def test_a_folder_that_is_a_file_is_named(folder: Path) -> None:
    (folder / "file").write_text("")

    with pytest.raises(EndpointMistake, match=f"'{folder}/file' is no folder"):
        make_way(folder / "file" / "csi.sock")
    with pytest.raises(EndpointMistake, match="cannot be used: Not a directory"):
        make_way(folder / "file" / "inner" / "csi.sock")


def test_a_folder_without_permission_to_write_is_named(folder: Path) -> None:
    folder.chmod(0o555)

    with (
        as_nobody(),
        pytest.raises(EndpointMistake, match=f"no permission to write to the folder '{folder}'"),
    ):
        make_way(folder / "csi.sock")


def test_a_folder_that_cannot_be_looked_at_is_named(folder: Path) -> None:
    (folder / "inner").mkdir()
    folder.chmod(0o444)
    try:
        with as_nobody(), pytest.raises(EndpointMistake, match="cannot be used: Permission denied"):
            make_way(folder / "inner" / "csi.sock")
    finally:
        folder.chmod(0o755)


def test_a_server_with_no_place_for_its_socket_ends_with_one_line(serve: Serve) -> None:
    server = serve(endpoint="no/csi.sock", ready=False)

    assert server.exit_code() == 1
    assert server.log().startswith(f"Error: endpoint '{server.path}': there is no folder")
    assert server.log().count("\n") == 1


def test_a_socket_that_another_process_put_there_stays_when_the_server_stops(serve: Serve) -> None:
    server = serve()
    server.path.unlink()
    with another_listener(server.path):
        theirs = os.lstat(server.path).st_ino

        assert server.stop() == 0

        assert os.lstat(server.path).st_ino == theirs


def test_a_server_that_still_drains_makes_room_and_keeps_away(serve: Serve, folder: Path) -> None:
    path = folder / "csi.sock"
    scenario = """
        scenario: held
        cloud: {instances: [{id: i-1}], disks: [{id: vol-1}], transitions: {attach: held}}
    """
    draining = serve("--grace-seconds", "3600", scenario=scenario, endpoint=path)
    with draining.connect() as client:
        held = begin_publish(client, "vol-1", "i-1")
        wait_until(lambda: published_ids(client, "i-1"), "the publish has begun")
        draining.send(signal.SIGTERM)
        wait_until(lambda: not path.exists(), "the socket is free")

        second = serve(endpoint=path)
        draining.send(signal.SIGTERM)  # the second one: it ends at once

        assert draining.exit_code() == 128 + signal.SIGTERM
        assert held.code() is grpc.StatusCode.UNAVAILABLE
        assert answers(path)
        assert second.stop() == 0
