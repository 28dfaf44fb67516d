"""Codes and messages as grpcurl shows them, block and mount, and a server that is stopped."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Serve
from tests.go.asking import BLOCK, MOUNT, Asker, publish
from tests.requests import published_ids
from tests.serving import serving
from tests.waiting import wait_until

pytestmark = pytest.mark.go

SCENARIO = """
scenario: errors
cloud:
  instance_types: {t: {slots: 1}}
  instances:
    - {id: i-1, type: t, zone: a}
    - {id: i-2, type: t, zone: a}
    - {id: i-far, zone: b}
    - {id: i-full, type: t, zone: a, published: 1}
  disks:
    - {id: vol-1, zone: a}
    - {id: vol-2, zone: a}
    - {id: vol-there, zone: a}
"""


@pytest.fixture(scope="module")
def asker(grpcurl: Path) -> Iterator[Asker]:
    with serving(scenario=SCENARIO) as server:
        asker = Asker(grpcurl, server.path)
        asker.ask("Controller/ControllerPublishVolume", publish("vol-there", "i-2"))
        yield asker


UNKNOWN_MODE = {"mount": {}, "access_mode": {"mode": "UNKNOWN"}}
NO_ACCESS_TYPE = {"access_mode": {"mode": "SINGLE_NODE_WRITER"}}

PUBLISH_ERRORS: list[tuple[dict[str, Any], int, str]] = [
    (publish("", "i-1"), 3, "volume_id: is required, got an empty string"),
    (publish("vol-1", ""), 3, "node_id: is required, got an empty string"),
    ({"volume_id": "vol-1", "node_id": "i-1"}, 3, "volume_capability: is required, got nothing"),
    (
        publish("vol-1", "i-1", volume_capability=UNKNOWN_MODE),
        3,
        "volume_capability.access_mode.mode: is required, got UNKNOWN",
    ),
    (
        publish("vol-1", "i-1", volume_capability=NO_ACCESS_TYPE),
        3,
        "volume_capability.access_type: is required, set either mount or block",
    ),
    (publish("vol-none", "i-1"), 5, "no disk has the id 'vol-none'"),
    (publish("vol-1", "i-none"), 5, "no instance has the id 'i-none'"),
    (
        publish("vol-there", "i-2", readonly=True),
        6,
        (
            "volume 'vol-there' is published on node 'i-2' with access mode SINGLE_NODE_WRITER and "
            "readonly false, asked for is access mode SINGLE_NODE_WRITER and readonly true"
        ),
    ),
    (publish("vol-there", "i-1"), 9, "disk 'vol-there' is attached to instance 'i-2'"),
    (
        publish("vol-1", "i-far"),
        9,
        "disk 'vol-1' is in zone 'a', instance 'i-far' in zone 'b'",
    ),
    (publish("vol-1", "i-full"), 8, "instance 'i-full' has 1 slots and 1 slot users"),
]


@pytest.mark.parametrize(
    ("request_", "code", "message"), PUBLISH_ERRORS, ids=[item[2][:40] for item in PUBLISH_ERRORS]
)
def test_a_publish_is_refused_with_the_specs_code_and_a_reason(
    request_: dict[str, Any], code: int, message: str, asker: Asker
) -> None:
    failure = asker.fail("Controller/ControllerPublishVolume", request_)

    assert (failure.code, failure.message) == (code, message)


@pytest.mark.parametrize(
    ("rpc", "request_", "code", "message"),
    [
        ("Controller/ControllerGetNodeInfo", {}, 3, "node_id: is required"),
        ("Controller/ControllerGetNodeInfo", {"node_id": "i-x"}, 5, "no instance has the id 'i-x'"),
        ("Controller/ControllerGetNodeInfo", {"node_id": "x" * 257}, 3, "has 257 bytes"),
        ("Controller/ControllerUnpublishVolume", {}, 3, "volume_id: is required"),
        ("Controller/DeleteVolume", {}, 3, "volume_id: is required"),
        ("Controller/DeleteVolume", {"volume_id": "vol-there"}, 9, "is attached to 'i-2'"),
        ("Controller/CreateVolume", {"name": "v"}, 3, "volume_capabilities: is required"),
        (
            "Controller/CreateVolume",
            {"name": "v", "volume_capabilities": [MOUNT], "capacity_range": {"limit_bytes": 5}},
            11,
            "capacity_range",
        ),
        ("Controller/ListSnapshots", {}, 12, "ListSnapshots is not implemented by this driver"),
        ("Node/NodeExpandVolume", {}, 12, "NodeExpandVolume is not implemented"),
    ],
)
def test_other_rpcs_too(
    rpc: str, request_: dict[str, Any], code: int, message: str, asker: Asker
) -> None:
    failure = asker.fail(rpc, request_)

    assert failure.code == code
    assert message in failure.message


@pytest.mark.parametrize("capability", [MOUNT, BLOCK], ids=["mount", "block"])
def test_a_volume_is_a_mount_or_a_block_device(capability: object, asker: Asker) -> None:
    made = asker.ask(
        "Controller/CreateVolume", {"name": "either", "volume_capabilities": [capability]}
    )
    volume = made["volume"]["volume_id"]

    request = publish(volume, "i-1", volume_capability=capability)
    assert asker.ask("Controller/ControllerPublishVolume", request) == {}

    leaving = {"volume_id": volume, "node_id": "i-1"}
    assert asker.ask("Controller/ControllerUnpublishVolume", leaving) == {}


def test_a_call_in_flight_outlives_the_signal_and_then_nobody_is_there(
    grpcurl: Path, serve: Serve
) -> None:
    server = serve(
        scenario="""
            scenario: slow
            cloud:
              instances: [{id: i-1}]
              disks: [{id: vol-1}]
              transitions: {attach: after 1s}
        """
    )
    asker = Asker(grpcurl, server.path)
    with ThreadPoolExecutor(1) as in_background, server.connect() as client:
        publishing = in_background.submit(
            asker.ask, "Controller/ControllerPublishVolume", publish("vol-1", "i-1")
        )
        wait_until(lambda: published_ids(client, "i-1"), "the publish has begun")

        assert server.stop() == 0

        assert publishing.result() == {}
    done = asker.run("csi.v1.Identity/Probe", flags=("-connect-timeout", "0.5"))
    assert done.returncode != 0
    assert "Failed to dial target host" in done.stderr
