"""The program as a whole: its version, its help, and what it does not load."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

import mockdriver
from mockdriver.cli import COMMANDS, main
from tests.serving import environment

SCRIPT = str(Path(sys.executable).with_name("mockdriver"))
MODULE = (sys.executable, "-m", "mockdriver")

HEAVY = {"grpc", "pydantic", "ruamel", "google", "csi_spec", "json"}


def run(*command: str) -> subprocess.CompletedProcess[str]:
    """Run a program to its end."""
    return subprocess.run(
        command, capture_output=True, text=True, env=environment(), check=False, timeout=60
    )


def loaded_by(*arguments: str) -> set[str]:
    """Return the packages that the program imports when it is run with arguments."""
    done = run(sys.executable, "-X", "importtime", "-m", "mockdriver", *arguments)
    assert done.returncode == 0, done.stderr
    modules = re.findall(r"^import time:.*\| +(\S+)$", done.stderr, re.MULTILINE)
    return {module.partition(".")[0] for module in modules}


@pytest.mark.parametrize("command", [(SCRIPT,), MODULE], ids=["script", "module"])
def test_the_version_is_printed(command: tuple[str, ...]) -> None:
    done = run(*command, "--version")

    assert done.returncode == 0
    assert done.stdout == f"mockdriver {mockdriver.__version__}\n"
    assert done.stderr == ""


@pytest.mark.parametrize("arguments", [["--version"], ["--no-such-option"], ["no-such-command"]])
def test_what_needs_no_grpc_does_not_load_it(arguments: list[str]) -> None:
    script = (
        "import sys\n"
        "from mockdriver.cli import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print('loaded:', *sorted({name.partition('.')[0] for name in sys.modules}))\n"
    )
    done = run(sys.executable, "-c", script, *arguments)

    loaded = done.stdout.splitlines()[-1].split()
    assert loaded[0] == "loaded:"
    assert "click" in loaded
    assert HEAVY.isdisjoint(loaded)


def test_a_command_loads_what_it_needs_and_no_more() -> None:
    assert {"grpc", "pydantic"} <= loaded_by("serve", "--help")
    assert "grpc" not in loaded_by("check", "kep-6011-example")
    assert "grpc" not in loaded_by("scenarios")


def invoke(*arguments: str) -> tuple[int, str]:
    """Run the program in this process; return its exit code and all that it prints."""
    result = CliRunner().invoke(main, arguments)
    return result.exit_code, result.output


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_lists_all_commands(flag: str) -> None:
    code, output = invoke(flag)

    assert code == 0
    for command in ("serve", "play", "check", "scenarios", "schema"):
        assert re.search(rf"^  {command} +\w", output, re.MULTILINE)


def test_without_a_command_the_program_shows_its_help() -> None:
    code, output = invoke()

    assert code == 2
    assert "Commands:" in output


@pytest.mark.parametrize("flag", ["-h", "--help"])
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_tells_what_it_does(command: str, flag: str) -> None:
    code, output = invoke(command, flag)

    assert code == 0
    assert re.match(rf"Usage: .*{command} \[OPTIONS\]", output)
    assert len(output.splitlines()[2].strip()) > 20
    for option in re.findall(r"^  (--[a-z-]+)", output, re.MULTILINE):
        # click puts the help beside the option, or below it where that is long
        described = re.search(rf"^  {option}.*(\n {{10,}})? {{2}}\w", output, re.MULTILINE)
        assert described, f"{option} has no help"


@pytest.mark.parametrize(
    ("written", "meant"), [("chek", "check"), ("scenario", "scenarios"), ("PLAY", "play")]
)
def test_an_unknown_command_is_answered_with_the_nearest_one(written: str, meant: str) -> None:
    code, output = invoke(written)

    assert code == 2
    assert f'unknown command "{written}", allowed: serve, wait, play, ctl' in output
    assert f'did you mean "{meant}"?' in output


def test_an_unknown_option_is_answered_with_the_nearest_one() -> None:
    code, output = invoke("serve", "--scenarios", "x")

    assert code == 2
    assert re.search("Did you mean .*'--scenario'", output)


def test_a_server_that_does_not_start_leaves_signals_as_they_were() -> None:
    before = signal.pthread_sigmask(signal.SIG_BLOCK, ())

    code, output = invoke("serve", "--nodes", "i-1")

    assert (code, "--nodes" in output) == (2, True)
    assert signal.pthread_sigmask(signal.SIG_BLOCK, ()) == before
