"""Every flag of every command also by environment, and what the flags of `serve` do."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner

from csi_spec import csi_pb2
from mockdriver.cli import COMMANDS, main
from tests.conftest import Serve
from tests.requests import answer

ZONES = """
scenario: zones
driver: {name: of.the.scenario, node_info_reply: full}
cloud:
  instances: [{id: i-1, zone: a}, {id: i-2, zone: b}]
"""


def options() -> list[Any]:
    """Return all options of all commands, as parameters of a test."""
    context = click.Context(main)
    found = []
    for name in COMMANDS:
        command = main.get_command(context, name)
        assert command is not None
        found += [
            pytest.param(name, option, id=f"{name} {max(option.opts, key=len)}")
            for option in command.params
            if isinstance(option, click.Option)
        ]
    return found


@pytest.mark.parametrize(("command", "option"), options())
def test_every_flag_can_be_given_by_environment(command: str, option: click.Option) -> None:
    names = [option.envvar] if isinstance(option.envvar, str) else option.envvar

    flag = max(option.opts, key=len).removeprefix("--").replace("-", "_").upper()
    # With the command's name where another command gives the same variable another meaning.
    allowed = {f"MOCKDRIVER_{flag}", f"MOCKDRIVER_{command.upper()}_{flag}"}
    assert allowed & set(names or ())


def test_all_commands_are_looked_at() -> None:
    assert {param.id.split()[0] for param in options()} >= {"serve", "play"}


def identity(server: Any) -> tuple[str, csi_pb2.NodeGetInfoResponse]:
    """Return the plugin's name and what its node answers to the flag."""
    with server.connect() as client:
        info = answer(client.identity.GetPluginInfo, csi_pb2.GetPluginInfoRequest())
        flagged = csi_pb2.NodeGetInfoRequest(controller_get_node_info=True)
        return info.name, answer(client.node.NodeGetInfo, flagged)


def test_without_flags_the_scenario_decides_and_the_first_instance_is_the_node(
    serve: Serve,
) -> None:
    name, info = identity(serve(scenario=ZONES))

    assert name == "of.the.scenario"
    assert info.node_id == "i-1"
    assert info.accessible_topology.segments["topology.of.the.scenario/zone"] == "a"


def test_flags_beat_the_scenario(serve: Serve) -> None:
    flags = ["--driver-name", "of.the.flag", "--node", "i-2", "--node-info-reply", "full"]
    name, info = identity(serve(*flags, scenario=ZONES))

    assert name == "of.the.flag"
    assert info.node_id == "i-2"
    # The plugin's name is part of the topology keys.
    assert dict(info.accessible_topology.segments) == {
        "topology.of.the.flag/zone": "b",
        "topology.of.the.flag/region": "region-1",
    }


def test_the_environment_sets_what_the_flags_set(serve: Serve) -> None:
    server = serve(
        variables={
            "MOCKDRIVER_ENDPOINT": "csi.sock",
            "CSI_ENDPOINT": "unix:///this/one/is/not/used",
            "MOCKDRIVER_SCENARIO": "three-zones",
            "MOCKDRIVER_NODE": "i-c",
            "MOCKDRIVER_DRIVER_NAME": "of.the.environment",
            "MOCKDRIVER_NODE_INFO_REPLY": "misleading",
            "MOCKDRIVER_LOG_FORMAT": "json",
            "MOCKDRIVER_GRACE_SECONDS": "1.5",
            "MOCKDRIVER_SEED": "7",
        },
    )

    name, info = identity(server)

    assert name == "of.the.environment"
    assert info.node_id == "i-c"
    assert info.accessible_topology.segments["topology.of.the.environment/zone"] == (
        "misleading-zone"
    )
    assert server.stop() == 0
    assert server.log().startswith("{")
    assert "may finish for 1.5 s" in server.log()


def test_flags_beat_the_environment(serve: Serve) -> None:
    server = serve(
        *("--node", "i-2", "--driver-name", "of.the.flag"),
        scenario=ZONES,
        variables={
            "MOCKDRIVER_SCENARIO": "/no/such/file",
            "MOCKDRIVER_NODE": "i-none",
            "MOCKDRIVER_DRIVER_NAME": "of.the.environment",
        },
    )

    name, info = identity(server)

    assert (name, info.node_id) == ("of.the.flag", "i-2")


def test_an_empty_variable_is_none(serve: Serve) -> None:
    server = serve(
        scenario=ZONES,
        variables={"MOCKDRIVER_NODE": "", "MOCKDRIVER_CAPABILITY": "", "MOCKDRIVER_SEED": ""},
    )

    assert identity(server)[1].node_id == "i-1"


@pytest.mark.parametrize(
    ("reply", "answer"),
    [
        ("omit", csi_pb2.NodeGetInfoResponse(node_id="i-1")),
        (
            "misleading",
            csi_pb2.NodeGetInfoResponse(
                node_id="i-1",
                max_volumes_per_node=1,
                accessible_topology=csi_pb2.Topology(
                    segments={
                        "topology.of.the.scenario/zone": "misleading-zone",
                        "topology.of.the.scenario/region": "region-1",
                    }
                ),
            ),
        ),
    ],
)
def test_the_flagged_node_answers_as_it_is_told(
    reply: str, answer: csi_pb2.NodeGetInfoResponse, serve: Serve
) -> None:
    assert identity(serve("--node-info-reply", reply, scenario=ZONES))[1] == answer


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--driver-name", "not a name"], "a CSI plugin name"),
        (["--driver-name", "x" * 64], "at most 63"),
        (["--node-info-reply", "half"], "'omit', 'full', 'misleading'"),
        (["--log-format", "xml"], "'text', 'json'"),
        (["--grace-seconds", "-1"], "0<=x<=3600"),
        (["--seed", "x"], "not a valid integer"),
        (["--no-such-flag"], "No such option"),
        (["an-argument"], "unexpected extra argument"),
    ],
)
def test_a_wrong_flag_is_refused_with_what_is_allowed(flags: list[str], reason: str) -> None:
    result = CliRunner().invoke(main, ["serve", *flags])

    assert result.exit_code == click.UsageError.exit_code
    assert reason in result.output


@pytest.mark.parametrize(
    ("flag", "value", "reason"),
    [
        ("--node", "i-x", "there are: i-a, i-b, i-c"),
        ("--scenario", "no-such-scenario", 'shipped scenario "no-such-scenario"'),
    ],
)
def test_a_name_that_nothing_has_is_refused_with_those_there_are(
    flag: str, value: str, reason: str, serve: Serve
) -> None:
    server = serve("--scenario", "three-zones", flag, value, ready=False)

    assert server.exit_code() == click.UsageError.exit_code
    assert reason in server.log()
    assert "Traceback" not in server.log()
    assert not server.path.exists()


def test_a_grace_that_is_no_number_is_refused() -> None:
    done = CliRunner().invoke(main, ["serve", "--grace-seconds", "nan"])
    assert done.exit_code == 2
    assert "nan is no number of seconds" in done.stderr
