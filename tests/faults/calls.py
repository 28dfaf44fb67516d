"""Calls that faults act on, and lists of faults, for tests of both."""

from __future__ import annotations

from typing import Any

from csi_spec import csi_pb2
from mockdriver.faults import Fault
from mockdriver.faults.engine import FaultEngine
from mockdriver.faults.subjects import Call, CloudCall, RpcCall, node_of
from mockdriver.runtime import Runtime, VirtualRuntime

RPC = "ControllerPublishVolume"


def rpc_call(rpc: str = RPC, at_node: str | None = None, **fields: Any) -> RpcCall:
    """Return a call of an RPC; `fields` are those of its request, `at_node` is who is asked."""
    request = getattr(csi_pb2, f"{rpc}Request")(**fields)
    return RpcCall(rpc, request, node_of(rpc, request, at_node))


def publish(volume: str = "vol-1", node: str = "i-1") -> RpcCall:
    """Return a call of ControllerPublishVolume."""
    return rpc_call(RPC, volume_id=volume, node_id=node)


def cloud_call(api: str, **fields: str) -> CloudCall:
    """Return a call of a cloud API."""
    return CloudCall(api, fields)


def fault(name: str = "", **keys: Any) -> Fault:
    """Return a fault of ControllerPublishVolume that answers UNAVAILABLE, unless `keys` differ."""
    if not {"rpc", "cloud_api"} & keys.keys():
        keys["rpc"] = RPC
    if not {"code", "error", "no_answer", "reply", "exit", "hold", "delay_seconds"} & keys.keys():
        keys["code"] = "UNAVAILABLE"
    return Fault(name=name, **keys)


def engine(*faults: Fault, runtime: Runtime | None = None) -> FaultEngine:
    """Return a list of faults, on a virtual clock unless there is a runtime."""
    return FaultEngine(runtime or VirtualRuntime(), faults)


def who_acts(faults: FaultEngine, call: Call) -> str | None:
    """Make a call; return the name of the fault that acts on it."""
    acting = faults.choose(call)
    return None if acting is None else acting.fault.name


def counters(faults: FaultEngine) -> dict[str, tuple[int, int]]:
    """Return how often each fault has matched and acted."""
    return {state.fault.name: (state.matched, state.acted) for state in faults.list()}
