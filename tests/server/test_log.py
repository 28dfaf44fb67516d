"""The log: one line a call, for people or for programs, and never a secret."""

from __future__ import annotations

import json
import re
from typing import Any

import grpc
import pytest

from csi_spec import csi_pb2
from mockdriver.co.calling import call
from mockdriver.co.csi_client import CsiClient
from mockdriver.journal.log_lines import LogFormat
from mockdriver.server.sockets import grpc_target
from tests.conftest import Serve
from tests.requests import create, publish
from tests.serving import Serving

SECRET = "swordfish"
TOKENS = "csi.storage.k8s.io/serviceAccount.tokens"

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


def make_calls(client: CsiClient) -> None:
    """Make five calls, some of which fail, with names that could break a line."""
    call(client.identity.GetPluginInfo, csi_pb2.GetPluginInfoRequest())
    call(client.controller.ControllerGetNodeInfo, node_info("i-1"))
    call(client.controller.ControllerGetNodeInfo, node_info("i-\n\r\u2028none"))
    call(client.controller.CreateVolume, create("a\nb"))
    call(client.node.NodeGetInfo, csi_pb2.NodeGetInfoRequest())


def node_info(node_id: str) -> csi_pb2.ControllerGetNodeInfoRequest:
    return csi_pb2.ControllerGetNodeInfoRequest(node_id=node_id)


CALLS = [
    ("GetPluginInfo", "OK"),
    ("ControllerGetNodeInfo", "OK"),
    ("ControllerGetNodeInfo", "NOT_FOUND"),
    ("CreateVolume", "OK"),
    ("NodeGetInfo", "OK"),
]

SCENARIO = "{scenario: small, cloud: {instances: [{id: i-1}], disks: [{id: vol-1}]}}"


def after_the_probe(server: Serving) -> list[str]:
    """Stop the server; return the lines of its log between its own Probe and the signal."""
    assert server.stop() == 0
    lines = server.log().split("\n")
    assert lines.pop() == ""
    assert "Probe" in lines[0]
    assert "SIGTERM" in lines[-2]
    assert "stopped" in lines[-1]
    return lines[1:-2]


def test_text_has_one_line_a_call_with_time_rpc_and_code(serve: Serve) -> None:
    server = serve(scenario=SCENARIO)
    with server.connect() as client:
        make_calls(client)

    lines = after_the_probe(server)

    found = [re.match(rf"{TIME} (\w+) (\w+) \d+\.\d+ms ", line) for line in lines]
    assert [match and match.groups() for match in found] == CALLS


def test_text_tells_request_response_node_and_message(serve: Serve) -> None:
    server = serve(scenario=SCENARIO)
    with server.connect() as client:
        make_calls(client)

    lines = after_the_probe(server)

    assert '{"node_id":"i-1"} -> {"accessible_topology"' in lines[1]
    assert r'{"node_id":"i-\n\r\u2028none"}' in lines[2]
    assert "message=" in lines[2]
    assert "no instance has the id" in lines[2]
    assert 'node="i-1"' in lines[4]


def test_json_has_one_object_a_line_also_for_remarks(serve: Serve) -> None:
    server = serve("--log-format", "json", scenario=SCENARIO)
    with server.connect() as client:
        make_calls(client)
    assert server.stop() == 0

    lines = server.log().split("\n")
    assert lines.pop() == ""
    parsed: list[dict[str, Any]] = [json.loads(line) for line in lines]

    assert all(re.fullmatch(TIME, item["time"]) for item in parsed)
    calls = [item for item in parsed if "rpc" in item]
    assert [(item["rpc"], item["code"]) for item in calls] == [("Probe", "OK"), *CALLS]
    assert [item["call"] for item in calls] == [1, 2, 3, 4, 5, 6]
    assert all(item["duration_ms"] >= 0 for item in calls)
    assert calls[3]["request"] == {"node_id": "i-\n\r\u2028none"}
    assert "no instance has the id" in calls[3]["message"]
    assert calls[4]["response"]["volume"]["volume_id"] == "vol-00000001"
    assert calls[5]["node_id"] == "i-1"
    remarks = [item for item in parsed if "rpc" not in item]
    assert [item["level"] for item in remarks] == ["INFO", "INFO"]
    assert remarks[-1]["message"] == "stopped"


@pytest.mark.parametrize("log_format", LogFormat)
def test_no_secret_is_ever_printed(log_format: LogFormat, serve: Serve) -> None:
    server = serve("--log-format", log_format, "--journal", "calls.jsonl", scenario=SCENARIO)
    secrets = {"password": SECRET}
    context = {TOKENS: SECRET, "harmless": "shown"}
    huge = {"password": SECRET * 10_000}
    bad = csi_pb2.ControllerPublishVolumeRequest(volume_id="vol-1", secrets=secrets)
    with server.connect() as client:
        controller = client.controller
        requests: list[tuple[Any, Any]] = [
            (controller.CreateVolume, create("v", secrets=secrets)),
            (controller.CreateVolume, create("v", secrets=huge)),
            (
                controller.ControllerPublishVolume,
                publish("vol-1", "i-1", secrets=secrets, volume_context=context),
            ),
            (
                controller.ControllerPublishVolume,
                publish("vol-1", "i-none", secrets=secrets, volume_context=context),
            ),
            (
                controller.ControllerPublishVolume,
                publish("vol-1", "i-1", volume_context={TOKENS: SECRET * 10_000}),
            ),
            (controller.ControllerPublishVolume, bad),
            (
                controller.ControllerUnpublishVolume,
                csi_pb2.ControllerUnpublishVolumeRequest(volume_id="vol-1", secrets=secrets),
            ),
            (
                controller.DeleteVolume,
                csi_pb2.DeleteVolumeRequest(volume_id="vol-1", secrets=secrets),
            ),
            # An RPC that is not built is logged all the same.
            (
                client.node.NodeExpandVolume,
                csi_pb2.NodeExpandVolumeRequest(volume_id="v", secrets=secrets),
            ),
        ]
        answers = [call(method, request) for method, request in requests]
    with grpc.insecure_channel(grpc_target(server.path)) as channel:
        # Cut off in the middle: no request at all, whose bytes hold the secret.
        body = bad.SerializeToString()[:-1]
        cut = call(channel.unary_unary("/csi.v1.Controller/ControllerPublishVolume"), body)

    assert [answer.code for answer in answers] == [
        *("OK", "INVALID_ARGUMENT", "OK", "NOT_FOUND", "INVALID_ARGUMENT", "INVALID_ARGUMENT"),
        *("OK", "OK", "UNIMPLEMENTED"),
    ]
    assert cut.code == "INVALID_ARGUMENT"
    assert not any(SECRET in answer.message for answer in [*answers, cut])
    assert server.stop() == 0
    journal = (server.folder / "calls.jsonl").read_text(encoding="utf-8")
    assert SECRET not in server.log() + server.printed() + journal
    assert '"password":"***stripped***"' in server.log()
    assert f'"{TOKENS}":"***stripped***"' in server.log()
    assert '"harmless":"shown"' in server.log()


BROKEN = [
    ("GET_NODE_INFO=off", "NODE_INFO_FROM_CONTROLLER is on without GET_NODE_INFO"),
    (
        "PUBLISH_UNPUBLISH_VOLUME=off",
        "GET_NODE_INFO is on without PUBLISH_UNPUBLISH_VOLUME",
        "LIST_VOLUMES_PUBLISHED_NODES is on without PUBLISH_UNPUBLISH_VOLUME",
    ),
    (
        "VOLUME_ACCESSIBILITY_CONSTRAINTS=off",
        "nodes report topology although VOLUME_ACCESSIBILITY_CONSTRAINTS is off",
    ),
]


@pytest.mark.parametrize("broken", BROKEN, ids=lambda broken: broken[0])
def test_a_broken_invariant_is_served_and_warned_about(
    broken: tuple[str, ...], serve: Serve
) -> None:
    switch, *expected = broken
    server = serve("--capability", switch)
    assert server.stop() == 0

    warnings = [line for line in server.log().splitlines() if " WARNING " in line]
    assert len(warnings) == len(expected)
    for line, warning in zip(warnings, expected, strict=True):
        assert warning in line


def test_whole_capabilities_are_not_warned_about(serve: Serve) -> None:
    server = serve(
        *("--capability", "GET_NODE_INFO=off", "--capability", "NODE_INFO_FROM_CONTROLLER=off")
    )
    assert server.stop() == 0

    assert "WARNING" not in server.log()


def test_what_is_odd_in_a_scenario_is_warned_about_with_its_position(serve: Serve) -> None:
    scenario = """
scenario: crowded
cloud:
  instance_types: {t: {slots: 2, network_interfaces_share_slots: true}}
  instances:
    - {id: i-1, type: t, network_interfaces: 3}
"""
    server = serve(scenario=scenario)
    assert server.stop() == 0

    warnings = [line for line in server.log().splitlines() if " WARNING " in line]
    assert len(warnings) == 1
    assert "scenario.yaml:6:7: cloud.instances[0]: " in warnings[0]
    assert "3 network interfaces" in warnings[0]
