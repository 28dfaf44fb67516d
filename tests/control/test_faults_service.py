"""The service Faults of the control API: the same schema as scenario files, and clear mistakes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import grpc
import pytest

from mockdriver.cloud import Caller
from mockdriver.control import faults_service
from mockdriver.control.faults_service import CODES, FaultsService
from mockdriver.control.v1 import faults_pb2
from mockdriver.faults import errors as fault_errors
from mockdriver.faults.errors import (
    BarrierNotFound,
    FaultExists,
    FaultNotFound,
    FaultsError,
    NotHeldInTime,
)
from mockdriver.runtime import SeededRuntime, VirtualRuntime
from mockdriver.scenario.fault_model import FaultMistakes, FaultModel
from mockdriver.scenario.load import loads
from tests.faults.calls import engine, fault, publish, who_acts

RPC = "ControllerPublishVolume"


class Api:
    """A client of the service, without gRPC."""

    def __init__(self) -> None:
        self.runtime = VirtualRuntime()
        self.faults = engine(runtime=self.runtime)
        self.service = FaultsService(self.faults, self.runtime)
        self.caller = Caller(self.runtime)

    def create(self, *, before: str = "", **keys: Any) -> faults_pb2.Fault:
        request = faults_pb2.CreateFaultRequest(fault=faults_pb2.Fault(**keys), before=before)
        return self.service.CreateFault(request, self.caller)

    def refused(self, **keys: Any) -> list[str]:
        """Return why a fault cannot be created."""
        with pytest.raises(FaultMistakes) as caught:
            self.create(**keys)
        return [f"{place}: {text}" for place, text in caught.value.problems]

    def names(self) -> list[str]:
        response = self.service.ListFaults(faults_pb2.ListFaultsRequest(), self.caller)
        return [item.name for item in response.faults]

    def explain(self, **keys: Any) -> faults_pb2.ExplainFaultsResponse:
        return self.service.ExplainFaults(faults_pb2.ExplainFaultsRequest(**keys), self.caller)


EVERY_KEY: dict[str, Any] = {
    "name": "all",
    "rpc": RPC,
    "node_id": "i-*",
    "request": {"volume_id": "vol-?", "readonly": "false"},
    "calls": "every 2",
    "times": 5,
    "probability": 0.25,
    "seed": -3,
    "when": "after",
    "code": "ABORTED",
    "message": "später",
    "details": ['{"@type": "google.rpc.RetryInfo", "retryDelay": "1s"}'],
    "delay": "1.5s",
    "hold": "gate",
    "lifetime": "3600s",
    "enabled": False,
}


def test_a_fault_comes_back_as_it_was_created() -> None:
    api = Api()
    created = api.create(**EVERY_KEY)
    assert created == faults_pb2.Fault(**EVERY_KEY)
    got = api.service.GetFault(faults_pb2.GetFaultRequest(name="all"), api.caller)
    assert got == created


@pytest.mark.parametrize(
    "keys",
    [
        {"rpc": "Probe", "no_answer": True},
        {"rpc": "Probe", "exit": 0},
        {"rpc": "Probe", "reply": {"ready": "false"}},
        {"cloud_api": "attach", "error": "Throttled", "request": {"disk": "v"}},
        {"rpc": "CreateVolume", "reply": {"volume": '{"volume_id": "x"}'}},
        {"rpc": "CreateVolume", "when": "before", "reply": {"volume.content_source": "null"}},
    ],
)
def test_so_does_one_of_each_other_action(keys: dict[str, Any]) -> None:
    created = Api().create(**keys)
    assert created == faults_pb2.Fault(name="fault-1", enabled=True, **keys)


def test_the_keys_are_those_of_scenario_files() -> None:
    fields = set(faults_pb2.Fault.DESCRIPTOR.fields_by_name) - {"matched", "acted"}
    assert fields == {info.alias or name for name, info in FaultModel.model_fields.items()}


def test_a_fault_of_the_api_is_the_fault_of_a_file_with_the_same_keys() -> None:
    plain = {**EVERY_KEY, "details": [json.loads(text) for text in EVERY_KEY["details"]]}
    (from_file,) = loads(json.dumps({"scenario": "x", "faults": [plain]})).faults
    api = Api()
    api.create(**EVERY_KEY)
    assert api.faults.get("all").fault == from_file


def test_counters_are_read_only_and_told() -> None:
    api = Api()
    api.create(name="a", rpc=RPC, code="ABORTED", calls="2", matched=7, acted=7)
    assert [who_acts(api.faults, publish()) for _ in range(2)] == [None, "a"]
    (found,) = api.service.ListFaults(faults_pb2.ListFaultsRequest(), api.caller).faults
    assert (found.matched, found.acted) == (2, 1)


def test_the_list_is_changed_as_the_rpcs_say() -> None:
    api = Api()
    for name, before in (("b", ""), ("c", ""), ("a", "b")):
        api.create(name=name, rpc=RPC, code="ABORTED", before=before)
    assert api.names() == ["a", "b", "c"]
    updated = faults_pb2.Fault(name="b", rpc=RPC, code="INTERNAL")
    api.service.UpdateFault(faults_pb2.UpdateFaultRequest(fault=updated), api.caller)
    off = api.service.EnableFault(faults_pb2.EnableFaultRequest(name="a"), api.caller)
    assert off.enabled is False
    assert who_acts(api.faults, publish()) == "b"
    api.service.EnableFault(faults_pb2.EnableFaultRequest(name="a", enabled=True), api.caller)
    assert who_acts(api.faults, publish()) == "a"
    api.service.DeleteFault(faults_pb2.DeleteFaultRequest(name="a"), api.caller)
    assert api.names() == ["b", "c"]
    cleared = api.service.ClearFaults(faults_pb2.ClearFaultsRequest(), api.caller)
    assert (cleared.removed, api.names()) == (2, [])


def test_names_that_are_taken_or_unknown_have_errors_of_their_own() -> None:
    api = Api()
    api.create(name="a", rpc=RPC, code="ABORTED")
    with pytest.raises(FaultExists):
        api.create(name="a", rpc=RPC, code="ABORTED")
    with pytest.raises(FaultNotFound):
        api.service.GetFault(faults_pb2.GetFaultRequest(name="x"), api.caller)
    assert CODES[FaultExists] is grpc.StatusCode.ALREADY_EXISTS
    assert CODES[FaultNotFound] is grpc.StatusCode.NOT_FOUND


@pytest.mark.parametrize(
    "call",
    [
        lambda api: api.service.GetFault(faults_pb2.GetFaultRequest(), api.caller),
        lambda api: api.service.DeleteFault(faults_pb2.DeleteFaultRequest(), api.caller),
        lambda api: api.service.EnableFault(faults_pb2.EnableFaultRequest(), api.caller),
        lambda api: api.service.UpdateFault(faults_pb2.UpdateFaultRequest(), api.caller),
        lambda api: api.service.WaitForHeld(faults_pb2.WaitForHeldRequest(), api.caller),
    ],
)
def test_a_name_is_required(call: Callable[[Api], object]) -> None:
    with pytest.raises(FaultMistakes, match=r"(name|barrier): is required"):
        call(Api())


def test_every_error_of_the_list_has_a_code() -> None:
    errors = [
        kind
        for kind in vars(fault_errors).values()
        if isinstance(kind, type) and issubclass(kind, FaultsError) and kind is not FaultsError
    ]
    assert set(errors) <= set(CODES)


# ---------------------------------------------------------------------------------------- mistakes


HUGE = "x" * 1_000_000


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        (
            {"no_answer": True},
            "fault: neither is given, exactly one of rpc and cloud_api is needed",
        ),
        (
            {"rpc": "Probe", "times": 1},
            "fault: it does nothing, needed is one of code, error, no_answer, ",
        ),
        ({"rpc": "ControllerGetNodeInf"}, 'did you mean "ControllerGetNodeInfo"?'),
        ({"rpc": HUGE}, 'rpc: "xxxxx'),
        ({"rpc": "*" * 5_000}, "rpc: "),
        ({"cloud_api": "attch"}, 'did you mean "attach"?'),
        ({"name": "a\nb"}, r'name: "a\x0ab" is not allowed'),
        ({"name": HUGE}, "… (1000000 characters) is not allowed, allowed: text of 1 to 256 bytes"),
        ({"request": {"volume": "x"}}, 'did you mean "volume_id"?'),
        ({"request": {"volume_capability.acces_mode.mode": "x"}}, 'did you mean "access_mode"?'),
        ({"request": {HUGE: "x"}}, "at most 1000 characters"),
        ({"request": {"volume_id": HUGE}}, "at most 1024 characters"),
        ({"request": {"": "x"}}, 'request[""]: "" is not allowed'),
        ({"request": {"readonly": "yes"}}, 'request.readonly: "yes" is not allowed, allowed: true'),
        ({"calls": "never"}, 'calls: "never" is not allowed, allowed: which calls'),
        ({"calls": HUGE}, "calls: "),
        (
            {"times": -1, "no_answer": True, "rpc": "Probe"},
            "times: -1 is not allowed, allowed: a whole number of at least 1",
        ),
        ({"probability": math.nan}, "probability: nan is not allowed"),
        ({"probability": math.inf}, "probability: inf is not allowed"),
        ({"probability": -0.5}, "probability: -0.5 is not allowed"),
        ({"probability": 1.0001}, "probability: 1.0001 is not allowed, allowed: a number above 0"),
        ({"when": "later"}, 'when: unknown moment "later", allowed: before, after'),
        ({"code": "UNAVAILBLE"}, 'did you mean "UNAVAILABLE"?'),
        ({"message": HUGE, "code": "ABORTED"}, "message: it would be headers of 1000000 bytes"),
        ({"message": "x"}, "message: goes with a code other than OK only"),
        ({"error": "Throttled"}, "error: is what a cloud API refuses with"),
        ({"error": "Throtled"}, 'did you mean "Throttled"?'),
        ({"delay": "5"}, 'delay: "5" is not allowed, allowed: a duration such as 50ms'),
        ({"delay": "9999h"}, "delay: "),
        ({"delay": HUGE}, "delay: "),
        ({"hold": "\x00"}, r'hold: "\x00" is not allowed'),
        ({"exit": 256}, "exit: 256 is not allowed, allowed: a whole number from 0 to 255"),
        ({"exit": -1}, "exit: -1 is not allowed"),
        ({"lifetime": "0s"}, 'lifetime: "0s" is not allowed, allowed: a duration above 0'),
        ({"reply": {"publish_contxt": "{}"}}, 'did you mean "publish_context"?'),
        ({"reply": {"publish_context": "{"}}, 'reply.publish_context: "{" is not allowed'),
        ({"reply": {"publish_context": "nope"}}, "allowed: JSON, so a text has quotes of its own"),
        ({"reply": {"publish_context": "[" * 200_000}}, "allowed: JSON"),
        ({"reply": {"publish_context": "[]"}}, "reply.publish_context: a list is not allowed"),
        ({"reply": {"publish_context": '{"a": 5}'}}, "reply.publish_context.a: 5 is not allowed"),
        ({"details": ["x"], "code": "ABORTED"}, 'details[0]: "x" is not allowed, allowed: JSON'),
        ({"details": ["[]"], "code": "ABORTED"}, "details[0]: a list is not allowed"),
        ({"details": ["{}"], "code": "ABORTED"}, 'details[0]: needed is a mapping with "@type"'),
        (
            {"details": ['{"@type": "google.rpc.RetryInf"}'], "code": "ABORTED"},
            'did you mean "google.rpc.RetryInfo"?',
        ),
    ],
    ids=lambda item: str(item)[:40],
)
def test_a_mistake_is_told_in_one_clear_message(keys: dict[str, Any], problem: str) -> None:
    if not keys.keys() & {"rpc", "cloud_api", "no_answer"}:
        keys = {"rpc": RPC, **keys}
    if not keys.keys() & {"code", "error", "delay", "hold", "exit", "reply", "no_answer", "times"}:
        keys = {"no_answer": True, **keys}
    (line,) = Api().refused(**keys)
    assert problem in line
    assert len(line) < 900
    assert line.isprintable()


def test_all_mistakes_are_told_at_once() -> None:
    found = Api().refused(
        rpc=RPC, request={"volume": "v", "readonly": "no"}, times=-1, code="NOPE", delay="x"
    )
    assert [line.partition(":")[0] for line in found] == [
        "times",
        "code",
        "delay",
        "request.readonly",
        "request.volume",
    ]


# ---------------------------------------------------------------------------------------- explain


def test_explain_takes_an_rpc_with_its_request_as_json() -> None:
    api = Api()
    api.create(name="a", rpc=RPC, node_id="i-2", code="ABORTED")
    api.create(name="b", rpc=RPC, request={"volume_id": "vol-*"}, code="ABORTED")
    request = json.dumps({"volume_id": "vol-1", "nodeId": "i-1"})
    answer = api.explain(rpc=RPC, request=request)
    assert answer.acts == "b"
    assert [(item.fault, item.acts, item.reason) for item in answer.verdicts] == [
        ("a", False, "node_id is 'i-1', it wants 'i-2'"),
        ("b", True, "the call is as it says"),
    ]
    assert api.explain(rpc=RPC).acts == ""


def test_explain_takes_the_node_that_is_asked() -> None:
    api = Api()
    api.create(name="a", rpc="NodeGetInfo", node_id="i-1", code="ABORTED")
    assert api.explain(rpc="NodeGetInfo", node_id="i-1").acts == "a"
    assert api.explain(rpc="NodeGetInfo", node_id="i-2").acts == ""


def test_explain_takes_a_call_of_the_cloud() -> None:
    api = Api()
    api.create(name="a", cloud_api="attach", node_id="i-1", error="Throttled")
    assert api.explain(cloud_api="attach", node_id="i-1").acts == "a"
    assert api.explain(cloud_api="attach", request='{"instance": "i-1", "disk": "v"}').acts == "a"
    assert api.explain(cloud_api="attach", request='{"disk": "v"}').acts == ""


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({}, "rpc: neither is given"),
        ({"rpc": RPC, "cloud_api": "attach"}, "rpc: both are given"),
        ({"rpc": "Prob"}, 'did you mean "Probe"?'),
        ({"rpc": RPC, "request": "{"}, 'request: "{" is not allowed, allowed: JSON'),
        ({"rpc": RPC, "request": "[]"}, "request: a list is not allowed, allowed: a mapping"),
        ({"rpc": RPC, "request": '{"volume": 5}'}, 'did you mean "volume_id"?'),
        ({"rpc": RPC, "request": '{"volume_id": 5}'}, "request.volume_id: 5 is not allowed"),
        ({"rpc": RPC, "request": "[" * 100_000}, "allowed: JSON"),
        ({"cloud_api": "attch"}, 'did you mean "attach"?'),
        ({"cloud_api": "attach", "request": "[]"}, "request: a list is not allowed"),
        ({"cloud_api": "attach", "request": "x"}, "request: "),
        ({"cloud_api": "attach", "request": '{"dis": "v"}'}, 'did you mean "disk"?'),
        ({"cloud_api": "attach", "request": '{"disk": 5}'}, "request.disk: 5 is not allowed"),
    ],
    ids=lambda item: str(item)[:40],
)
def test_a_call_that_cannot_be_is_told(keys: dict[str, str], problem: str) -> None:
    with pytest.raises(FaultMistakes) as caught:
        Api().explain(**keys)
    assert problem in str(caught.value)
    assert str(caught.value).isprintable()


# --------------------------------------------------------------------------------------- barriers


@pytest.mark.parametrize("seed", range(10))
def test_barriers_are_listed_waited_for_and_released(seed: int) -> None:
    runtime = SeededRuntime(seed)
    faults = engine(fault("a", hold="gate"), fault("b", hold="empty"), runtime=runtime)
    service = FaultsService(faults, runtime)
    seen: list[Any] = []

    def call(number: int) -> Callable[[], None]:
        def act() -> None:
            acting = faults.choose(publish())
            assert acting is not None
            acting.wait(Caller(runtime), number)

        return act

    def steer() -> None:
        caller = Caller(runtime)
        held = service.WaitForHeld(faults_pb2.WaitForHeldRequest(barrier="gate", calls=2), caller)
        seen.append((held.name, held.held, sorted(held.calls)))
        listed = service.ListBarriers(faults_pb2.ListBarriersRequest(), caller).barriers
        seen.append([(item.name, item.held) for item in listed])
        one = faults_pb2.ReleaseBarrierRequest(barrier="gate", calls=1)
        seen.append(service.ReleaseBarrier(one, caller).released)
        seen.append(service.ReleaseBarrier(faults_pb2.ReleaseBarrierRequest(), caller).released)

    runtime.run(call(5), call(6), steer)
    assert seen == [("gate", 2, [5, 6]), [("gate", 2), ("empty", 0)], 1, 1]


def test_waiting_has_an_end() -> None:
    api = Api()
    api.create(name="a", rpc=RPC, hold="gate")

    def wait(**keys: Any) -> None:
        request = faults_pb2.WaitForHeldRequest(barrier="gate", **keys)
        with api.runtime.working():
            api.service.WaitForHeld(request, api.caller)

    with pytest.raises(NotHeldInTime, match="0 of 1 calls are held at barrier 'gate' after 10 s"):
        wait()
    assert api.runtime.now() == faults_service.DEFAULT_TIMEOUT_SECONDS
    with pytest.raises(NotHeldInTime, match=r"after 0\.5 s"):
        wait(timeout="500ms", calls=3)
    assert CODES[NotHeldInTime] is grpc.StatusCode.DEADLINE_EXCEEDED


@pytest.mark.parametrize(
    ("keys", "problem"),
    [
        ({"timeout": "soon"}, 'timeout: "soon" is not allowed, allowed: a duration'),
        ({"calls": -1}, "calls: -1 is not allowed, allowed: a whole number from 0 to 800"),
        ({"calls": 801}, "calls: 801 is not allowed"),
    ],
)
def test_waiting_for_what_cannot_be_is_told(keys: dict[str, Any], problem: str) -> None:
    api = Api()
    with pytest.raises(FaultMistakes, match=problem):
        api.service.WaitForHeld(faults_pb2.WaitForHeldRequest(barrier="x", **keys), api.caller)


def test_a_barrier_that_there_is_not_is_told() -> None:
    api = Api()
    with pytest.raises(BarrierNotFound):
        api.service.WaitForHeld(faults_pb2.WaitForHeldRequest(barrier="x"), api.caller)
    with pytest.raises(BarrierNotFound):
        api.service.ReleaseBarrier(faults_pb2.ReleaseBarrierRequest(barrier="x"), api.caller)
    assert CODES[BarrierNotFound] is grpc.StatusCode.NOT_FOUND
