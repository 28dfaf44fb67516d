"""Capability switches and numbers, by flag, environment and scenario."""

from __future__ import annotations

from typing import Any

import click
import pytest
from click.testing import CliRunner
from google.protobuf.descriptor import EnumDescriptor

from csi_spec import csi_pb2
from mockdriver.cli import main
from mockdriver.co.calling import call
from mockdriver.co.csi_client import CsiClient
from tests.conftest import Serve
from tests.requests import answer

ENUMS: dict[str, EnumDescriptor] = {
    "plugin": csi_pb2.PluginCapability.Service.Type.DESCRIPTOR,
    "controller": csi_pb2.ControllerServiceCapability.RPC.Type.DESCRIPTOR,
    "node": csi_pb2.NodeServiceCapability.RPC.Type.DESCRIPTOR,
}

EVERYTHING = {
    "plugin": {"CONTROLLER_SERVICE", "VOLUME_ACCESSIBILITY_CONSTRAINTS"},
    "controller": {
        "CREATE_DELETE_VOLUME",
        "PUBLISH_UNPUBLISH_VOLUME",
        "LIST_VOLUMES",
        "LIST_VOLUMES_PUBLISHED_NODES",
        "GET_VOLUME",
        "GET_CAPACITY",
        "PUBLISH_READONLY",
        "SINGLE_NODE_MULTI_WRITER",
        "GET_NODE_INFO",
    },
    "node": {
        "STAGE_UNSTAGE_VOLUME",
        "GET_VOLUME_STATS",
        "SINGLE_NODE_MULTI_WRITER",
        "VOLUME_MOUNT_GROUP",
        "NODE_INFO_FROM_CONTROLLER",
    },
}

SCENARIO = """
scenario: switched
driver: {{capabilities: {{{}}}}}
cloud: {{instance_types: {{t: {{slots: 9}}}}, instances: [{{id: i-1, type: t}}]}}
"""


def numbers(client: CsiClient) -> dict[str, list[int]]:
    """Return the numbers of the capabilities that are advertised."""
    plugin = answer(client.identity.GetPluginCapabilities, csi_pb2.GetPluginCapabilitiesRequest())
    controller = answer(
        client.controller.ControllerGetCapabilities, csi_pb2.ControllerGetCapabilitiesRequest()
    )
    node = answer(client.node.NodeGetCapabilities, csi_pb2.NodeGetCapabilitiesRequest())
    return {
        "plugin": [item.service.type for item in plugin.capabilities],
        "controller": [item.rpc.type for item in controller.capabilities],
        "node": [item.rpc.type for item in node.capabilities],
    }


def names(client: CsiClient) -> dict[str, set[str]]:
    """Return the names of the capabilities that are advertised."""
    return {
        service: {ENUMS[service].values_by_number[number].name for number in found}
        for service, found in numbers(client).items()
    }


def without(*switched_off: str) -> dict[str, set[str]]:
    return {service: found - set(switched_off) for service, found in EVERYTHING.items()}


def ask(client: CsiClient, *, flagged: bool) -> csi_pb2.NodeGetInfoResponse:
    request = csi_pb2.NodeGetInfoRequest(controller_get_node_info=flagged)
    info: csi_pb2.NodeGetInfoResponse = answer(client.node.NodeGetInfo, request)
    return info


def test_everything_that_is_built_is_on(serve: Serve) -> None:
    with serve(scenario=SCENARIO.format("")).connect() as client:
        assert names(client) == EVERYTHING


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(
            {
                "flags": [
                    *("--capability", "GET_NODE_INFO=off"),
                    *("--capability", "node.NODE_INFO_FROM_CONTROLLER=off"),
                ]
            },
            id="flag",
        ),
        pytest.param(
            {
                "variables": {
                    "MOCKDRIVER_CAPABILITY": "controller.GET_NODE_INFO=off "
                    "NODE_INFO_FROM_CONTROLLER=off"
                }
            },
            id="environment",
        ),
        pytest.param(
            {
                "scenario": SCENARIO.format(
                    "controller: {GET_NODE_INFO: false}, node: {NODE_INFO_FROM_CONTROLLER: false}"
                )
            },
            id="scenario",
        ),
    ],
)
def test_what_is_off_is_as_if_it_had_never_been_written(
    settings: dict[str, Any], serve: Serve
) -> None:
    wanted = {"scenario": SCENARIO.format(""), **settings}
    server = serve(*wanted.pop("flags", []), **wanted)

    with server.connect() as client:
        assert names(client) == without("GET_NODE_INFO", "NODE_INFO_FROM_CONTROLLER")
        refusal = call(
            client.controller.ControllerGetNodeInfo,
            csi_pb2.ControllerGetNodeInfoRequest(node_id="i-1"),
        )
        assert refusal.code == "UNIMPLEMENTED"
        assert "controller.GET_NODE_INFO" in refusal.message
        # The flag is one of the things that had never been written: the node answers in full.
        assert ask(client, flagged=True) == ask(client, flagged=False)
        assert ask(client, flagged=True).max_volumes_per_node == 9


def test_the_flag_beats_the_environment_and_the_scenario(serve: Serve) -> None:
    scenario = SCENARIO.format(
        "controller: {GET_NODE_INFO: false, CREATE_DELETE_VOLUME: false, "
        "PUBLISH_UNPUBLISH_VOLUME: false}"
    )
    server = serve(
        *("--capability", "GET_NODE_INFO=on"),
        variables={"MOCKDRIVER_CAPABILITY": "GET_NODE_INFO=off CREATE_DELETE_VOLUME=on"},
        scenario=scenario,
    )

    with server.connect() as client:
        # click takes an option from the flags or else from the environment, never from both
        assert names(client) == without("CREATE_DELETE_VOLUME", "PUBLISH_UNPUBLISH_VOLUME")


def test_the_last_switch_of_a_capability_holds(serve: Serve) -> None:
    server = serve(
        *("--capability", "GET_NODE_INFO=off", "--capability", "controller.GET_NODE_INFO=on")
    )

    with server.connect() as client:
        assert names(client) == EVERYTHING


def test_without_the_controller_service_only_its_rpcs_are_gone(serve: Serve) -> None:
    with serve("--capability", "CONTROLLER_SERVICE=off").connect() as client:
        for rpc in ("ControllerGetCapabilities", "CreateVolume", "ControllerGetNodeInfo"):
            request = getattr(csi_pb2, f"{rpc}Request")()
            assert call(getattr(client.controller, rpc), request).code == "UNIMPLEMENTED"
        assert ask(client, flagged=False).node_id == "i-worker-1"


def refused(*arguments: str) -> str:
    """Return what `serve` says to arguments that it refuses before it does anything."""
    result = CliRunner().invoke(main, ["serve", *arguments])
    assert result.exit_code == click.UsageError.exit_code
    return result.output


@pytest.mark.parametrize(
    ("switch", "reason"),
    [
        ("GET_NODE_INFO", "want [controller.|node.|plugin.]NAME=on|off"),
        ("GET_NODE_INFO=", "want [controller.|node.|plugin.]NAME=on|off"),
        ("GET_NODE_INFO=yes", "want [controller.|node.|plugin.]NAME=on|off"),
        ("GET_NODE_INFOS=off", "no such capability, there are: plugin.CONTROLLER_SERVICE"),
        ("node.GET_NODE_INFO=off", "no such capability"),
        ("UNKNOWN=on", "no such capability"),
        ("LIST_SNAPSHOTS=on", "not built yet"),
        ("EXPAND_VOLUME=off", "say which: controller.EXPAND_VOLUME, node.EXPAND_VOLUME"),
    ],
)
def test_a_switch_that_cannot_be_is_refused_with_the_reason(switch: str, reason: str) -> None:
    assert f": {switch.partition('=')[0]}" in refused("--capability", switch)
    assert reason in refused("--capability", switch)


@pytest.mark.parametrize(
    ("override", "reason"),
    [
        ("GET_NODE_INFO=11", "the number 11 is reserved by CSI"),
        ("NODE_INFO_FROM_CONTROLLER=4", "the number 4 is reserved by CSI"),
        ("GET_NODE_INFO=2", "the number 2 is taken by PUBLISH_UNPUBLISH_VOLUME"),
        ("NODE_INFO_FROM_CONTROLLER=1", "the number 1 is taken by STAGE_UNSTAGE_VOLUME"),
        ("GET_NODE_INFO=0", "the number must be 1 to 999999999, got '0'"),
        ("GET_NODE_INFO=-1", "the number must be 1 to 999999999, got '-1'"),
        ("GET_NODE_INFO=1000000000", "the number must be 1 to 999999999, got '1000000000'"),
        ("GET_NODE_INFO=0x20", "the number must be 1 to 999999999, got '0x20'"),
        ("GET_NODE_INFO=", "the number must be 1 to 999999999, got ''"),
        ("GET_NODE_INFO", "the number must be 1 to 999999999, got ''"),
        ("CREATE_DELETE_VOLUME=99", "its number is fixed by CSI, only these can be set"),
        ("NO_SUCH=99", "no such capability"),
    ],
)
def test_a_number_that_cannot_be_is_refused_with_the_reason(override: str, reason: str) -> None:
    assert reason in refused("--capability-number", override)


@pytest.mark.parametrize(
    "settings",
    [
        pytest.param(
            {
                "flags": [
                    *("--capability-number", "GET_NODE_INFO=1001"),
                    *("--capability-number", "NODE_INFO_FROM_CONTROLLER=1002"),
                ]
            },
            id="flag",
        ),
        pytest.param(
            {
                "variables": {
                    "MOCKDRIVER_CAPABILITY_NUMBER": "GET_NODE_INFO=1001 "
                    "NODE_INFO_FROM_CONTROLLER=1002"
                }
            },
            id="environment",
        ),
    ],
)
def test_a_provisional_capability_is_advertised_under_the_number_that_is_asked_for(
    settings: dict[str, Any], serve: Serve
) -> None:
    server = serve(*settings.pop("flags", []), **settings)

    with server.connect() as client:
        found = numbers(client)
        assert 1001 in found["controller"]
        assert 1002 in found["node"]
        assert csi_pb2.NodeServiceCapability.RPC.NODE_INFO_FROM_CONTROLLER not in found["node"]
        assert csi_pb2.ControllerServiceCapability.RPC.GET_NODE_INFO not in found["controller"]
        # It is the same capability under another number: nothing else changes.
        assert ask(client, flagged=True) == csi_pb2.NodeGetInfoResponse(node_id="i-worker-1")
        request = csi_pb2.ControllerGetNodeInfoRequest(node_id="i-worker-1")
        assert answer(client.controller.ControllerGetNodeInfo, request).max_volumes_per_node == 23


def test_its_own_number_is_no_override(serve: Serve) -> None:
    own = csi_pb2.NodeServiceCapability.RPC.NODE_INFO_FROM_CONTROLLER
    server = serve("--capability-number", f"NODE_INFO_FROM_CONTROLLER={own}")

    with server.connect() as client:
        assert names(client) == EVERYTHING
