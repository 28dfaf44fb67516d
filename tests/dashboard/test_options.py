"""``serve --dashboard``: addresses, tokens, and what is told when they are wrong."""

from __future__ import annotations

import socket
import subprocess
import sys

import pytest
from click.testing import CliRunner

from mockdriver.cli import main
from tests.conftest import Serve
from tests.dashboard.asking import site
from tests.metrics.test_endpoint import without
from tests.waiting import PATIENCE_SECONDS


def test_the_ready_line_tells_where_the_page_is() -> None:
    with site() as page:
        assert f", page on {page.url}, " in page.server.printed().splitlines()[0]


def test_both_http_servers_run_beside_each_other() -> None:
    with site("--metrics", "127.0.0.1:0") as page:
        assert page.call("Cloud/GetCloud").status == 200
        assert page.server.stop() == 0


def test_an_address_that_others_can_reach_needs_a_token(serve: Serve) -> None:
    server = serve("--dashboard", "0.0.0.0:0", ready=False)

    assert server.exit_code() == 1
    assert server.log() == (
        "Error: --dashboard '0.0.0.0:0': others can reach this address, and whoever does can "
        "change the cloud: give a token by --dashboard-token or by MOCKDRIVER_DASHBOARD_TOKEN, or "
        "choose 127.0.0.1\n"
    )
    assert not server.path.exists()


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--dashboard", "8080"], "--dashboard '8080': want HOST:PORT, as in 127.0.0.1:8080"),
        (["--dashboard", "127.0.0.1:x"], "the port must be a number from 0 to 65535"),
        (["--dashboard", "no-such-host.invalid:1"], "is no host that is known here"),
        (
            ["--dashboard", "127.0.0.1:0", "--dashboard-token", "short"],
            "--dashboard-token: has 5 characters, want 16 or more",
        ),
    ],
)
def test_mistakes_are_told_in_one_line(flags: list[str], reason: str, serve: Serve) -> None:
    server = serve(*flags, ready=False)

    assert server.exit_code() == 1
    assert server.log().startswith("Error: ")
    assert reason in server.log()
    assert server.log().count("\n") == 1
    assert not server.path.exists()


def test_a_token_is_not_repeated_when_it_is_wrong(serve: Serve) -> None:
    server = serve("--dashboard", "127.0.0.1:0", "--dashboard-token", "Sesame", ready=False)
    server.exit_code()

    assert "Sesame" not in server.log()


def test_a_token_without_a_page_is_a_mistake() -> None:
    done = CliRunner().invoke(main, ["serve", "--dashboard-token", "x" * 16])

    assert done.exit_code == 2
    assert "--dashboard-token is for --dashboard, which is missing" in done.output


def test_a_port_in_use_is_told(serve: Serve) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        server = serve("--dashboard", f"127.0.0.1:{port}", ready=False)

        assert server.exit_code() == 1
        assert f"Error: --dashboard '127.0.0.1:{port}': in use" in server.log()


@pytest.mark.parametrize("package", ["starlette", "uvicorn"])
def test_without_the_extra_it_is_told_what_to_install(package: str) -> None:
    done = without(package, "serve", "--dashboard", "127.0.0.1:0")

    assert done.returncode == 1
    assert done.stderr == (
        "Error: --dashboard needs the extra dashboard, which is not installed: "
        "pip install 'mockdriver[dashboard]'\n"
    )


def test_without_the_option_the_packages_are_not_even_looked_for() -> None:
    code = "import sys, mockdriver.cli.serve; print({'starlette', 'uvicorn'} & {*sys.modules})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=True,
    )

    assert done.stdout == "set()\n"


def test_nothing_but_calls_and_our_own_words_is_logged() -> None:
    with site() as page:
        page.ask("GET", "/")
        page.ask("GET", "/none")
        page.call("Cloud/GetInstance", {"id": "none"})
        page.server.stop()

        lines = [line.split(" ", 1)[1] for line in page.server.log().splitlines()]
    assert [line for line in lines if not line.startswith(("Probe OK", "INFO SIGTERM"))] == [
        "INFO stopped"
    ]
