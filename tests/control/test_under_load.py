"""Everything at once: COs, operators and suites that set the state back, on one server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import grpc
import pytest

from csi_spec import csi_pb2
from tests.cloud.consistency import check
from tests.control.live_world import LiveWorld, live_world
from tests.requests import CAPABILITY, create, publish
from tests.waiting import wait_until

pytestmark = pytest.mark.slow

ROUNDS = 60
SCENARIO = """\
scenario: busy
cloud:
  instance_types: {t: {slots: 6}}
  instances: {count: 4, id: "i-{n}", type: t, boot_disk: "boot-{n}", published: 2}
  disks: [{id: a, max_attachments: 2}, {id: b}, {id: c}]
  transitions: {attach: after 2ms, detach: after 3ms}
"""

ALLOWED = {
    "OK",
    "ABORTED",
    "ALREADY_EXISTS",
    "FAILED_PRECONDITION",
    "NOT_FOUND",
    "RESOURCE_EXHAUSTED",
    "UNAVAILABLE",
}
"""What a call may be answered with, whatever happens beside it."""

Action = Callable[[LiveWorld, Random], object]


def co(world: LiveWorld, chance: Random) -> object:
    volume = chance.choice(["a", "b", "c", "i-1-published-1", "none"])
    node = f"i-{chance.randint(1, 5)}"
    controller: Any = world.csi.controller
    requests = [
        (controller.ControllerPublishVolume, publish(volume, node)),
        (
            controller.ControllerUnpublishVolume,
            csi_pb2.ControllerUnpublishVolumeRequest(volume_id=volume, node_id=node),
        ),
        (
            controller.ControllerGetNodeInfo,
            csi_pb2.ControllerGetNodeInfoRequest(node_id=node),
        ),
        (controller.CreateVolume, create(f"pvc-{chance.randint(1, 3)}")),
        (controller.DeleteVolume, csi_pb2.DeleteVolumeRequest(volume_id="vol-00000001")),
        (controller.ListVolumes, csi_pb2.ListVolumesRequest()),
        (
            controller.ValidateVolumeCapabilities,
            csi_pb2.ValidateVolumeCapabilitiesRequest(
                volume_id=volume, volume_capabilities=[CAPABILITY]
            ),
        ),
    ]
    method, request = chance.choice(requests)
    return method(request, timeout=60)


def operator(world: LiveWorld, chance: Random) -> object:
    disk, instance = chance.choice(["a", "b", "x"]), f"i-{chance.randint(1, 5)}"
    place = {"disk": disk, "instance": instance}
    force = chance.random() < 0.5
    calls: list[tuple[str, dict[str, Any]]] = [
        ("Attach", {**place, "force": force, "wait": True}),
        ("Detach", {**place, "force": force, "wait": True}),
        ("ChangeAttachment", {**place, "state": chance.choice(["busy", "detaching"])}),
        ("Release", {}),
        ("RemoveDisk", {"id": disk, "force": force}),
        ("AddInstance", {"id": instance, "boot_disk": f"boot-{instance}", "published": ["b"]}),
        ("RemoveInstance", {"id": instance}),
        ("ChangeDisk", {"id": disk, "zone": "region-1b", "force": force}),
        ("ListInstances", {}),
        ("ListDisks", {"instance": instance}),
        ("ListAttachments", {}),
        ("GetNodeInfo", {"node_id": instance}),
    ]
    rpc, fields = chance.choice(calls)
    return world.call(f"Cloud.{rpc}", **fields)


def suite(world: LiveWorld, chance: Random) -> object:
    calls: list[tuple[str, dict[str, Any]]] = [
        ("SaveSnapshot", {"name": "s"}),
        ("RestoreSnapshot", {"name": "s"}),
        ("Reset", {}),
        ("Reset", {"parts": ["cloud"]}),
        ("RestartDriver", {}),
        ("LoadScenario", {"yaml": SCENARIO}),
        ("ExportScenario", {}),
    ]
    rpc, fields = chance.choice(calls)
    return world.call(f"State.{rpc}", **fields)


def repeated(world: LiveWorld, seed: int, action: Action) -> Counter[str]:
    """Do something again and again; return the codes that it was answered with."""
    chance, codes = Random(seed), Counter[str]()
    for _ in range(ROUNDS):
        try:
            action(world, chance)
            code, why = "OK", ""
        except grpc.RpcError as error:
            code, why = error.code().name, error.details() or ""
        assert code in ALLOWED, f"{action.__name__}: {why}"
        codes[code] += 1
    return codes


def test_no_call_hangs_nor_fails_for_a_reason_of_ours(tmp_path: Path) -> None:
    actions: Sequence[Action] = (*[co] * 6, *[operator] * 3, suite)
    with live_world(tmp_path, SCENARIO) as world, ThreadPoolExecutor(len(actions)) as threads:
        futures = [
            threads.submit(repeated, world, seed, action) for seed, action in enumerate(actions)
        ]

        def all_are_done() -> bool:
            world.call("Cloud.Release")  # or somebody waits for what was made busy at the last
            return all(future.done() for future in futures)

        wait_until(all_are_done, "the end of all calls")
        codes = Counter[str]()
        for future in futures:
            codes += future.result()
        assert codes["OK"] > ROUNDS
        world.call("State.Reset")
        check(world.server.cloud.core.store)
        assert world.server.cloud.core._watchers == {}
        assert world.server.journal.in_flight() == 0
        assert len(world.call("Cloud.ListInstances").instances) == 4
