"""``mockdriver wait``: until a server is ready, or the time is over."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import click
import grpc
import pytest
from click.testing import CliRunner

from mockdriver.cli import main
from mockdriver.server.sockets import grpc_target
from tests.conftest import Serve
from tests.server.in_process import make
from tests.serving import environment
from tests.waiting import PATIENCE_SECONDS, wait_until


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder whose name leaves room for a socket's."""
    with tempfile.TemporaryDirectory(prefix="mockdriver-wait-") as name:
        yield Path(name)


def run(*arguments: str | Path) -> click.testing.Result:
    """Run `mockdriver wait` in this process."""
    return CliRunner().invoke(main, ["wait", *map(str, arguments)])


def test_a_server_that_is_ready_is_not_waited_for(serve: Serve) -> None:
    server = serve()

    done = run("--endpoint", server.path)

    assert done.exit_code == 0
    assert done.stdout == f"unix://{server.path}: ready\n"


def test_the_wait_can_begin_before_there_is_a_socket(folder: Path, serve: Serve) -> None:
    waiting = subprocess.Popen(
        [sys.executable, "-m", "mockdriver", "wait", "--endpoint", folder / "s", "--timeout", "5m"],
        env=environment(),
        stdout=subprocess.PIPE,
    )
    try:
        # What it waits for comes only now; that it waits already cannot be seen from outside.
        serve("--endpoint", folder / "s")

        assert waiting.wait(PATIENCE_SECONDS) == 0
    finally:
        waiting.kill()
        waiting.communicate()


def test_a_server_that_listens_but_is_not_ready_is_waited_for(folder: Path) -> None:
    server = make()
    server.listen(folder / "s", "i-1")
    try:
        done = run("--endpoint", folder / "s", "--timeout", "300ms")
        assert done.exit_code == 1
        assert "it answers that it does not serve, after 0.3 s" in done.stderr

        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(run, "--endpoint", folder / "s", "--timeout", "5m")
            wait_until(server.health.watched, "the wait has begun")
            server.health.serve()

            assert waiting.result(PATIENCE_SECONDS).exit_code == 0
    finally:
        server.stop(0)


def test_a_server_that_is_replaced_while_it_is_waited_for_is_waited_for(folder: Path) -> None:
    first, second = make(), make()
    first.listen(folder / "s", "i-1")
    try:
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(run, "--endpoint", folder / "s", "--timeout", "5m")
            wait_until(first.health.watched, "the wait has begun")
            first.stop(0)
            second.listen(folder / "s", "i-1")
            second.health.serve()

            assert waiting.result(PATIENCE_SECONDS).exit_code == 0
    finally:
        second.stop(0)


def test_a_socket_that_never_comes_is_told_when_the_time_is_over(folder: Path) -> None:
    done = run("--endpoint", folder / "s", "--timeout", "200ms")

    assert done.exit_code == 1
    assert done.stderr == f"unix://{folder}/s: not ready: there is no socket, after 0.2 s\n"
    assert done.stdout == ""


def test_a_file_that_nobody_answers_at_is_told(folder: Path) -> None:
    (folder / "s").touch()

    done = run("--endpoint", folder / "s", "--timeout", "200ms")

    assert done.exit_code == 1
    assert "nobody answers there, after 0.2 s" in done.stderr


def test_a_server_without_a_health_service_is_told_at_once(folder: Path) -> None:
    with ThreadPoolExecutor(1) as pool:
        other = grpc.server(pool)
        other.add_insecure_port(grpc_target(folder / "s"))
        other.start()

        done = run("--endpoint", folder / "s", "--timeout", "8760h")

        other.stop(None).wait()
    assert done.exit_code == 1
    assert done.stderr.endswith("not ready: who answers there has no gRPC health service\n")


def test_no_time_is_no_wait(folder: Path) -> None:
    assert run("--endpoint", folder / "s", "--timeout", "0s").exit_code == 1


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--timeout", "30"], "'30' is not a duration such as"),
        (["--timeout", ""], "is not a duration"),
        (["--timeout", "-1s"], "is not a duration"),
        (["--endpoint", "tcp://localhost:1"], "only Unix sockets"),
        (["--endpoint", "/" + "x" * 200], "at most 107"),
    ],
)
def test_a_wrong_option_is_refused_with_what_is_allowed(arguments: list[str], reason: str) -> None:
    done = run(*arguments)

    assert done.exit_code == click.UsageError.exit_code
    assert reason in done.stderr


def test_the_endpoint_can_be_given_as_drivers_take_it(folder: Path) -> None:
    runner = CliRunner(env={"CSI_ENDPOINT": f"unix://{folder}/s", "MOCKDRIVER_TIMEOUT": "1ms"})

    assert f"unix://{folder}/s" in runner.invoke(main, ["wait"]).stderr
