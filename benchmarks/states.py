"""What the control API pays for the state of a large cloud: to keep it, and to put it back."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import grpc

from mockdriver.control.v1 import cloud_pb2, cloud_pb2_grpc, state_pb2, state_pb2_grpc
from mockdriver.server.sockets import grpc_target
from mockdriver.testing.driver import start

ROUNDS = 30
NODES = 5_000
LARGE = {
    "scenario": "five thousand nodes",
    "cloud": {
        "instance_types": {"t": {"slots": 25}},
        "instances": [
            {"count": NODES, "id": "i-{n}", "type": "t", "boot_disk": "boot-{n}", "published": 9}
        ],
    },
}
"""5,000 instances with 50,000 attached disks."""


def measure() -> dict[str, list[float]]:
    """Return how long each call takes, by what it does; each after a change of the state."""
    with start(LARGE) as driver:
        path = Path(driver.endpoint.removeprefix("unix://"))
        with grpc.insecure_channel(grpc_target(path)) as channel:
            return _measure(channel)


def _measure(channel: grpc.Channel) -> dict[str, list[float]]:
    state, cloud = state_pb2_grpc.StateStub(channel), cloud_pb2_grpc.CloudStub(channel)
    name = {"name": "benchmark"}
    calls: dict[str, Callable[[], object]] = {
        "keep a snapshot": lambda: state.SaveSnapshot(state_pb2.SaveSnapshotRequest(**name)),
        "restore it": lambda: state.RestoreSnapshot(state_pb2.RestoreSnapshotRequest(**name)),
        "reset": lambda: state.Reset(state_pb2.ResetRequest()),
        "list 100 of the instances": lambda: cloud.ListInstances(
            cloud_pb2.ListInstancesRequest(id="*7*", page_size=100)
        ),
    }
    found: dict[str, list[float]] = {call: [] for call in calls}
    for number in range(ROUNDS):
        for what, call in calls.items():
            disk = cloud_pb2.AttachRequest(instance=f"i-{number + 1}", disk=f"{what} {number}")
            cloud.Attach(disk)
            began_at = time.perf_counter()
            call()
            found[what].append(time.perf_counter() - began_at)
    return found
