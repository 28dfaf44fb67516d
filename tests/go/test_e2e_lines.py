"""`--log-format kubernetes-e2e`: programs written in Go read the lines as they were meant.

The program tools/go/e2e-lines compares each line with what encoding/json makes of the same call,
with what Kubernetes' suite reads, and with the CSI types that it reads back.
"""

from __future__ import annotations

import base64
import json
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest
from google.protobuf.message import Message

from csi_spec import csi_pb2
from mockdriver.driver.rpcs import RPCS
from mockdriver.journal import Entry
from mockdriver.journal.e2e_lines import e2e_line
from mockdriver.server.sockets import grpc_target
from tests.conftest import Serve
from tests.filled import fill
from tests.journal.recorded import SmallJournal
from tests.requests import CAPABILITY, create, publish
from tests.serving import Serving
from tests.waiting import PATIENCE_SECONDS
from tools.go_programs import program

pytestmark = pytest.mark.go

TOKENS = "csi.storage.k8s.io/serviceAccount.tokens"

SCENARIO = """
scenario: one-node
cloud:
  instance_types: {t: {slots: 25}}
  instances:
    - {id: i-1, type: t, zone: a, attached: [vol-manual]}
"""


@dataclass(frozen=True)
class Sent:
    """A call, as whoever made it knows it."""

    method: str
    request: bytes
    response: bytes = b""
    code: int = 0
    message: str = ""

    def input(self, line: str) -> str:
        """Return what the program takes for this call and its line."""
        return json.dumps(
            {
                "Line": line,
                "Method": self.method,
                "Request": base64.b64encode(self.request).decode(),
                "Response": base64.b64encode(self.response).decode(),
                "Code": self.code,
                "Message": self.message,
            }
        )


@pytest.fixture(scope="module")
def checker() -> Path:
    return program("e2e-lines")


def verdict(checker: Path, sent: Iterable[Sent], lines: Iterable[str]) -> str:
    """Return what the program says of calls and their lines."""
    text = "\n".join(call.input(line) for call, line in zip(sent, lines, strict=True))
    done = subprocess.run([checker], input=text, capture_output=True, text=True, check=False)
    assert done.stderr == ""
    return done.stdout


# ----------------------------------------------------------------------------- lines of a server


class Recorder:
    """Makes calls over a socket, and remembers their bytes."""

    def __init__(self, channel: grpc.Channel) -> None:
        self.sent: list[Sent] = []
        self._channel = channel

    def call(self, rpc: str, request: Message) -> Any:
        """Make a call; return its response, or None if it failed."""
        service = next(
            name
            for name, found in csi_pb2.DESCRIPTOR.services_by_name.items()
            if rpc in found.methods_by_name
        )
        method, body = f"/csi.v1.{service}/{rpc}", request.SerializeToString()
        try:
            over_the_wire: Any = self._channel.unary_unary(method)
            response = over_the_wire(body, timeout=PATIENCE_SECONDS)
        except grpc.RpcError as error:
            failed: Any = error  # what is raised is a grpc.Call too
            number = failed.code().value[0]
            self.sent.append(Sent(method, body, code=number, message=failed.details()))
            return None
        self.sent.append(Sent(method, body, response))
        return getattr(csi_pb2, f"{rpc}Response").FromString(response)


SECRETS = {"password": "swordfish", "user": ""}
CONTEXT = {TOKENS: '{"": "swordfish"}', "csi.storage.k8s.io/pod.name": "pod-1"}
BLOCK = csi_pb2.VolumeCapability(block=csi_pb2.VolumeCapability.BlockVolume())
NOTHING = csi_pb2.VolumeCapability()
NO_FIELDS = (
    *("GetPluginInfo", "GetPluginCapabilities", "Probe", "ControllerGetCapabilities"),
    *("NodeGetCapabilities", "GetCapacity", "ListVolumes"),
)


def make_calls(recorder: Recorder, folder: Path) -> None:
    """Call each RPC that the driver answers, some of them so that they fail."""
    call = recorder.call
    for rpc in NO_FIELDS:
        call(rpc, getattr(csi_pb2, f"{rpc}Request")())
    for flag in (False, True):
        call("NodeGetInfo", csi_pb2.NodeGetInfoRequest(controller_get_node_info=flag))
    volume = call("CreateVolume", create('<p> & "v" ä\u2028', secrets=SECRETS)).volume.volume_id
    call("CreateVolume", create("v", parameters={"unknown": "<b>"}))
    call("ControllerPublishVolume", publish(volume, "i-1", secrets=SECRETS, volume_context=CONTEXT))
    call("ControllerPublishVolume", publish(volume, "i-none"))
    for node_id in ("i-1", "i-none"):
        call("ControllerGetNodeInfo", csi_pb2.ControllerGetNodeInfoRequest(node_id=node_id))
    ask_about(volume, recorder)
    use_on_node(volume, recorder, folder)
    call(
        "ControllerUnpublishVolume",
        csi_pb2.ControllerUnpublishVolumeRequest(volume_id=volume, node_id="i-1", secrets=SECRETS),
    )
    call("DeleteVolume", csi_pb2.DeleteVolumeRequest(volume_id=volume, secrets=SECRETS))


def ask_about(volume: str, recorder: Recorder) -> None:
    """Make the calls that tell of a volume."""
    recorder.call("ControllerGetVolume", csi_pb2.ControllerGetVolumeRequest(volume_id=volume))
    recorder.call("ListVolumes", csi_pb2.ListVolumesRequest(max_entries=1))
    for capabilities in ([CAPABILITY], [CAPABILITY, BLOCK, NOTHING]):
        request = csi_pb2.ValidateVolumeCapabilitiesRequest(
            volume_id=volume, volume_capabilities=capabilities
        )
        recorder.call("ValidateVolumeCapabilities", request)


def use_on_node(volume: str, recorder: Recorder, folder: Path) -> None:
    """Stage, publish, look, and undo it all."""
    call, target = recorder.call, str(folder / "pod" / "target")
    for name in ("staging", "pod"):
        (folder / name).mkdir()
    there: Any = {"volume_id": volume, "staging_target_path": str(folder / "staging")}
    stage = csi_pb2.NodeStageVolumeRequest(
        **there, volume_capability=CAPABILITY, volume_context=CONTEXT, secrets=SECRETS
    )
    call("NodeStageVolume", stage)
    publish_there = csi_pb2.NodePublishVolumeRequest(
        volume_id=volume,
        staging_target_path=there["staging_target_path"],
        target_path=target,
        volume_capability=CAPABILITY,
        volume_context=CONTEXT,
        secrets=SECRETS,
    )
    call("NodePublishVolume", publish_there)
    stats = csi_pb2.NodeGetVolumeStatsRequest(volume_id=volume, volume_path=target)
    call("NodeGetVolumeStats", stats)
    call("NodeExpandVolume", csi_pb2.NodeExpandVolumeRequest(volume_id=volume, secrets=SECRETS))
    unpublish = csi_pb2.NodeUnpublishVolumeRequest(volume_id=volume, target_path=target)
    call("NodeUnpublishVolume", unpublish)
    call("NodeUnstageVolume", csi_pb2.NodeUnstageVolumeRequest(**there))


def lines_of(server: Serving) -> list[str]:
    """Stop the server; return its lines about calls, but for that of its own Probe."""
    assert server.stop() == 0
    return [line for line in server.log().split("\n") if "gRPCCall:" in line][1:]


def test_go_reads_the_calls_of_every_rpc_that_the_driver_answers(
    checker: Path, serve: Serve
) -> None:
    server = serve("--log-format", "kubernetes-e2e", scenario=SCENARIO)
    with grpc.insecure_channel(grpc_target(server.path)) as channel:
        recorder = Recorder(channel)
        make_calls(recorder, server.folder)
    sent = recorder.sent

    answered = {call.method.rpartition("/")[2] for call in sent if call.code == 0}
    assert answered == {rpc.name for rpc in RPCS}
    assert {call.code for call in sent} >= {0, 3, 5, 12}
    assert verdict(checker, sent, lines_of(server)) == f"{len(sent)} lines are right\n"


# -------------------------------------------------------------------------- messages of any kind


def methods() -> list[tuple[str, str]]:
    """Return service and name of every RPC of CSI that answers once and that releases have."""
    return [
        (service.name, method.name)
        for service in csi_pb2.DESCRIPTOR.services_by_name.values()
        for method in service.methods
        if not method.server_streaming
    ]


def recorded(service: str, rpc: str, request: Message, response: Message) -> Entry:
    small = SmallJournal()
    return small.end(small.begin(request, rpc, service=service), response=response)


def test_go_reads_whatever_csi_messages_can_hold(checker: Path) -> None:
    sent, lines = [], []
    for service, rpc in methods():
        for seed in range(20):
            random = Random(f"{rpc} {seed}")
            request = fill(getattr(csi_pb2, f"{rpc}Request")(), random)
            response = fill(getattr(csi_pb2, f"{rpc}Response")(), random)
            lines.append(e2e_line(recorded(service, rpc, request, response)))
            sent.append(
                Sent(
                    f"/csi.v1.{service}/{rpc}",
                    request.SerializeToString(),
                    response.SerializeToString(),
                )
            )

    assert verdict(checker, sent, lines) == f"{len(sent)} lines are right\n"
    assert len({line.partition('"Request"')[0] for line in lines}) == len(methods())


@pytest.mark.parametrize("code", [code for code in grpc.StatusCode if code.value[0] > 0])
@pytest.mark.parametrize("message", ["", "no <such> disk: 'vol-1'\n"])
def test_go_reads_the_codes_and_messages_of_failures(
    checker: Path, code: grpc.StatusCode, message: str
) -> None:
    small = SmallJournal()
    number = code.value[0]
    entry = small.end(small.begin(b""), code.name, number=number, message=message)
    sent = Sent("/csi.v1.Controller/DeleteVolume", b"", code=number, message=message)

    assert verdict(checker, [sent], [e2e_line(entry)]) == "1 lines are right\n"


# -------------------------------------------------------------------- the program can find faults

RIGHT = (
    'gRPCCall: {"Method":"/csi.v1.Controller/ControllerPublishVolume","Request":{"volume_id":"v",'
    '"volume_capability":{"AccessType":{"Mount":{}},"access_mode":{"mode":1}}},'
    '"Response":{},"Error":"","FullError":null}'
)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("gRPCCall", "call"),
        ("volume_id", "volumeId"),
        ('"v"', '"w"'),
        ("AccessType", "access_type"),
        ('{"AccessType":{"Mount":{}},', '{"mount":{},'),
        ("Mount", "Block"),
        ('"mode":1', '"mode":"SINGLE_NODE_WRITER"'),
        ('"mode":1', '"mode":2'),
        ('{"volume_id"', '{"readonly":false,"volume_id"'),
        ('"Response":{}', '"Response":null'),
        ('"Error":""', '"Error":"none"'),
        ('"FullError":null', '"FullError":{"code":5}'),
        ("ControllerPublishVolume", "ControllerUnpublishVolume"),
    ],
)
def test_a_line_that_is_not_right_is_found(checker: Path, right: str, wrong: str) -> None:
    assert right in RIGHT
    request = publish("v", "")
    sent = Sent("/csi.v1.Controller/ControllerPublishVolume", request.SerializeToString())

    assert verdict(checker, [sent], [RIGHT]) == "1 lines are right\n"
    said = verdict(checker, [sent], [RIGHT.replace(right, wrong)])
    assert said.endswith("\n0 lines are right\n")
    assert said.startswith(f"{sent.method}: as it would be written")
