"""Nouns, verbs, help and completion."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest
from click.shell_completion import ShellComplete

from mockdriver.cli import main
from mockdriver.cli.ctl import SECTIONS, SINGULARS, asking
from mockdriver.cli.ctl import ctl as ctl_command
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.control.v1 import cloud_pb2, faults_pb2
from mockdriver.server import sockets
from tests.cli.ctl.running import ctl
from tests.cli.test_program import HEAVY, run
from tests.client.fake_control import FakeControl

NAMES = [name for part in SECTIONS.values() for name in part]


def commands(group: click.Group = ctl_command, path: str = "ctl") -> Iterator[str]:
    """Yield the words of every command, verbs of nouns included."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield f"{path} {name}"
        if isinstance(command, click.Group):
            yield from commands(command, f"{path} {name}")


@pytest.mark.parametrize("words", [*commands()])
def test_each_command_has_help_that_tells_of_each_option(words: str) -> None:
    done = ctl(*words.split()[1:], "--help")

    assert done.exit_code == 0
    assert done.lines[0].startswith("Usage: ")
    assert len(done.lines[2].strip()) > 10
    for option in re.findall(r"^  (?:-\w, )?(--[a-z-]+)(?: |$)", done.stdout, re.MULTILINE):
        described = re.search(rf"^  .*{option}.*(\n {{10,}})? {{2}}\w", done.stdout, re.MULTILINE)
        assert described, f"{option} has no help"


def test_the_help_lists_all_commands_on_a_line_each() -> None:
    done = ctl("--help")

    for name in NAMES:
        [line] = [line for line in done.lines if line.startswith(f"  {name} ")]
        assert line.endswith("."), f"too long: {line}"
        assert not line.endswith("..."), f"too long: {line}"


@pytest.mark.parametrize(
    "noun", [name for name in NAMES if name.endswith("s") and name not in ("clock",)]
)
def test_the_help_of_a_noun_lists_its_verbs_on_a_line_each(noun: str) -> None:
    done = ctl(noun, "--help")

    verbs = done.stdout.partition("Verbs:\n")[2].splitlines()
    assert verbs
    assert [line for line in verbs if line.endswith("...")] == []


def test_a_singular_is_its_noun() -> None:
    for singular, plural in SINGULARS.items():
        noun = ctl_command.get_command(click.Context(ctl_command), singular)
        assert isinstance(noun, Noun)
        assert plural.startswith(singular)
        assert noun.default == "show"


def test_an_unknown_command_is_answered_with_what_was_meant() -> None:
    assert 'did you mean "instances"?' in ctl("instnces").stderr
    assert 'did you mean "instances add"?' in ctl("add-instance", "i").stderr
    assert 'did you mean "interfaces remove"?' in ctl("remove-interface", "i").stderr


def test_an_unknown_verb_is_answered_with_what_was_meant() -> None:
    done = ctl("faults", "ad")

    assert done.exit_code == 2
    assert "allowed: list, show, add, change" in done.stderr
    assert 'did you mean "add"?' in done.stderr


def test_help_needs_no_grpc() -> None:
    script = (
        "import sys\n"
        "from mockdriver.cli import main\n"
        "try:\n"
        "    main()\n"
        "finally:\n"
        "    print('loaded:', *sorted({name.partition('.')[0] for name in sys.modules}))\n"
    )
    done = run("python", "-c", script, "ctl", "--help")

    loaded = done.stdout.splitlines()[-1].split()
    assert loaded[0] == "loaded:"
    assert (HEAVY - {"json"}).isdisjoint(loaded)


def completed(*words: str, incomplete: str = "") -> list[str]:
    """Return what a shell offers for a word that is begun."""
    shell = ShellComplete(main, {}, "mockdriver", "_MOCKDRIVER_COMPLETE")
    return [item.value for item in shell.get_completions(["ctl", *words], incomplete)]


def test_a_shell_completes_commands_verbs_and_options() -> None:
    assert completed(incomplete="inst") == ["instances"]
    assert completed("faults") == [
        "list",
        "show",
        "add",
        "change",
        "enable",
        "disable",
        "remove",
        "clear",
        "explain",
    ]
    assert "--node" in completed("calls", incomplete="--")
    assert "--rpc" in completed("faults", "add", incomplete="--")


def test_a_shell_completes_names_of_the_program() -> None:
    assert completed("calls", "--rpc", incomplete="ControllerGetN") == ["ControllerGetNodeInfo"]
    assert completed("faults", "add", "--code", incomplete="UNAV") == ["UNAVAILABLE"]
    assert completed("quotas", "set", incomplete="at") == ["attach"]
    assert completed("scenario", "load", incomplete="three") == ["three-zones"]
    assert completed("transitions", "set", "--attach", incomplete="x") == []


def test_a_shell_completes_ids_of_the_running_server(fake: FakeControl) -> None:
    fake.answers["ListInstances"] = cloud_pb2.ListInstancesResponse(
        instances=[cloud_pb2.Instance(id="i-1"), cloud_pb2.Instance(id="j-1")]
    )
    fake.answers["ListFaults"] = faults_pb2.ListFaultsResponse(
        faults=[faults_pb2.Fault(name="flaky")]
    )
    at = ("--endpoint", str(fake.path))

    assert completed(*at, "attach", incomplete="i") == ["i-1"]
    assert completed(*at, "instances", incomplete="i") == ["i-1"]
    assert completed(*at, "faults", "remove") == ["flaky"]
    assert completed("fault", *at) == ["flaky"]


def test_where_no_server_runs_a_shell_completes_nothing() -> None:
    assert completed("--endpoint", "/nowhere.sock", "attach", incomplete="i") == []


def test_the_default_endpoint_is_that_of_serve() -> None:
    assert asking.DEFAULT_ENDPOINT == sockets.DEFAULT_ENDPOINT
