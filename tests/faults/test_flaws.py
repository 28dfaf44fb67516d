"""What is wrong with a fault: where it is, and what is allowed."""

from __future__ import annotations

from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.cloud import API_NAMES, errors
from mockdriver.faults import Fault
from mockdriver.faults.cloud_calls import CLOUD_ERRORS, CLOUD_FIELDS, ERROR_NAMES
from mockdriver.faults.compiling import (
    MAX_CONDITIONS,
    MAX_HEADER_BYTES,
    MAX_OVERRIDES,
    MAX_PATTERN_CHARACTERS,
    compile_fault,
    flaws_of,
)
from mockdriver.faults.subjects import rpcs

EVERY_RPC = [
    method.name
    for service in csi_pb2.DESCRIPTOR.services_by_name.values()
    for method in service.methods
    if not method.server_streaming
]


def flaws(**keys: Any) -> list[str]:
    return [str(flaw) for flaw in flaws_of(Fault(name="f", **keys))]


def places(**keys: Any) -> list[str]:
    return [".".join(map(str, flaw.place)) for flaw in flaws_of(Fault(name="f", **keys))]


# ------------------------------------------------------------------------------------- which calls


def test_a_fault_is_about_an_rpc_or_an_api_of_the_cloud() -> None:
    assert flaws(code="ABORTED") == [
        "fault: neither is given, exactly one of rpc and cloud_api is needed"
    ]
    assert flaws(code="ABORTED", rpc="Probe", cloud_api="attach") == [
        "fault: both are given, exactly one of rpc and cloud_api is needed"
    ]


@pytest.mark.parametrize("rpc", EVERY_RPC)
def test_every_rpc_that_answers_once_can_have_faults(rpc: str) -> None:
    assert flaws(rpc=rpc, code="INTERNAL") == []
    assert list(compile_fault(Fault(name="f", rpc=rpc, code="INTERNAL")).on) == [rpc]


def test_no_two_services_have_an_rpc_of_the_same_name() -> None:
    assert len(set(EVERY_RPC)) == len(EVERY_RPC)
    assert set(rpcs()) == set(EVERY_RPC)


@pytest.mark.parametrize("api", API_NAMES)
def test_every_api_of_the_cloud_can_have_faults(api: str) -> None:
    assert flaws(cloud_api=api, code="INTERNAL") == []
    assert set(CLOUD_FIELDS) == set(CLOUD_ERRORS) == set(API_NAMES)


def test_an_unknown_rpc_is_told_with_those_that_there_are() -> None:
    (flaw,) = flaws(rpc="GetNodeInfo", code="ABORTED")
    assert flaw.startswith("rpc: unknown RPC 'GetNodeInfo', allowed: GetPluginInfo, ")
    assert places(rpc="GetMetadataDelta", code="ABORTED") == ["rpc"]
    assert places(cloud_api="attach_disk", code="ABORTED") == ["cloud_api"]


def test_a_pattern_is_about_the_rpcs_that_have_all_its_fields() -> None:
    def about(**keys: Any) -> set[str]:
        return set(compile_fault(Fault(name="f", code="ABORTED", **keys)).on)

    assert about(rpc="*") == set(EVERY_RPC)
    assert about(rpc="Controller*Volume", request={"node_id": "i-1"}) == {
        "ControllerPublishVolume",
        "ControllerUnpublishVolume",
    }
    assert about(rpc="Node*", request={"target_path": "*", "readonly": "true"}) == {
        "NodePublishVolume"
    }
    assert about(cloud_api="*", request={"disk": "vol-*"}) == {
        "describe_disks",
        "attach",
        "detach",
        "delete_disk",
    }


def test_a_field_that_none_of_the_rpcs_has_is_told_of_the_one_that_comes_nearest() -> None:
    (flaw,) = flaws(rpc="Node*", code="ABORTED", request={"volume_capability.mount.fstype": "x"})
    assert flaw.startswith("request.volume_capability.mount.fstype: unknown field of MountVolume")
    (flaw,) = flaws(rpc="*", reply={"node_id": 5, "max_volumes_per_node": 1})
    assert flaw == "reply.node_id: 5 is not allowed, allowed: text"


@pytest.mark.parametrize(
    ("rpc", "is_about_a_node"),
    [
        ("ControllerPublishVolume", True),
        ("ControllerGetNodeInfo", True),
        ("NodeGetInfo", True),
        ("NodeStageVolume", True),
        ("DeleteVolume", False),
        ("Probe", False),
    ],
)
def test_a_node_is_only_for_calls_that_are_about_one(rpc: str, is_about_a_node: bool) -> None:
    expected = (
        [] if is_about_a_node else [f"node_id: a call of {rpc} is about no node; leave node_id out"]
    )
    assert flaws(rpc=rpc, node_id="i-1", code="ABORTED") == expected


def test_a_node_is_only_for_apis_that_name_an_instance() -> None:
    assert flaws(cloud_api="attach", node_id="i-1", code="ABORTED") == []
    assert places(cloud_api="delete_disk", node_id="i-1", code="ABORTED") == ["node_id"]


def test_fields_of_a_cloud_api_are_those_that_its_calls_name() -> None:
    assert flaws(cloud_api="attach", request={"instanc": "i"}, code="ABORTED") == [
        "request.instanc: unknown field of attach 'instanc', allowed: instance, disk"
    ]


def test_calls_are_selected_by_number() -> None:
    assert flaws(rpc="Probe", code="ABORTED", calls="every 2") == []
    assert places(rpc="Probe", code="ABORTED", calls="every second") == ["calls"]


def test_a_seed_goes_with_a_probability() -> None:
    assert flaws(rpc="Probe", code="ABORTED", probability=0.5, seed=3) == []
    assert places(rpc="Probe", code="ABORTED", seed=3) == ["seed"]


# ----------------------------------------------------------------------------------- what it does

ANSWERS: dict[str, Any] = {
    "code": "ABORTED",
    "no_answer": True,
    "reply": {"max_volumes_per_node": 5},
    "exit": 1,
}


def test_a_fault_does_something() -> None:
    assert flaws(rpc="Probe") == [
        "fault: it does nothing, needed is one of code, error, no_answer, reply, exit, delay, hold"
    ]


@pytest.mark.parametrize("keys", [{"delay_seconds": 1.0}, {"hold": "b"}, {"exit": 0}])
def test_waiting_alone_is_something_and_so_is_exit_code_0(keys: dict[str, Any]) -> None:
    assert flaws(rpc="Probe", **keys) == []


@pytest.mark.parametrize("key", ANSWERS)
@pytest.mark.parametrize("when", ["", "before", "after"])
def test_delay_and_hold_go_with_each_answer_at_any_moment(key: str, when: str) -> None:
    keys = {key: ANSWERS[key], "delay_seconds": 1.0, "hold": "b", "when": when}
    assert flaws(rpc="ControllerGetNodeInfo", **keys) == []


@pytest.mark.parametrize(("first", "second"), [(a, b) for a in ANSWERS for b in ANSWERS if a < b])
def test_no_two_answers_go_together(first: str, second: str) -> None:
    keys = {first: ANSWERS[first], second: ANSWERS[second]}
    (flaw,) = flaws(rpc="ControllerGetNodeInfo", **keys)
    assert "are given, at most one of code, error, no_answer, reply, exit is allowed" in flaw


def test_an_unknown_code_is_told() -> None:
    (flaw,) = flaws(rpc="Probe", code="UNAVAILBLE")
    assert flaw.startswith("code: unknown status code 'UNAVAILBLE', allowed: OK, CANCELLED")


@pytest.mark.parametrize("key", ["message", "details"])
@pytest.mark.parametrize("keys", [{"no_answer": True}, {"code": "OK"}])
def test_message_and_details_go_with_the_code_of_an_error(key: str, keys: dict[str, Any]) -> None:
    value = "x" if key == "message" else ({"@type": "google.rpc.ErrorInfo"},)
    assert places(rpc="Probe", **keys, **{key: value}) == [key]


def test_an_error_is_the_cloud_s_and_a_reply_an_rpc_s() -> None:
    assert places(rpc="Probe", error="Throttled") == ["error"]
    assert places(cloud_api="attach", reply={"a": 1}) == ["reply"]
    assert places(cloud_api="attach", code="OK") == ["code"]


@pytest.mark.parametrize("api", CLOUD_ERRORS)
def test_an_api_refuses_with_its_own_errors_only(api: str) -> None:
    for error in ERROR_NAMES:
        expected = [] if error in CLOUD_ERRORS[api] else ["error"]
        assert places(cloud_api=api, error=error) == expected
        assert issubclass(getattr(errors, error), errors.CloudError)


def test_an_error_of_a_pattern_is_that_of_the_apis_that_have_it() -> None:
    compiled = compile_fault(Fault(name="f", cloud_api="*", error="SlotsExhausted"))
    assert list(compiled.on) == ["attach"]


def test_a_reply_has_the_fields_of_the_rpc_s_response() -> None:
    assert flaws(rpc="ControllerGetNodeInfo", reply={"max_volume_per_node": 1}) == [
        (
            "reply.max_volume_per_node: unknown field of ControllerGetNodeInfoResponse "
            "'max_volume_per_node', allowed: max_volumes_per_node, accessible_topology, "
            "published_volume_ids"
        )
    ]
    assert places(rpc="ControllerGetNodeInfo", reply={"accessible_topology": {"segments": 3}}) == [
        "reply.accessible_topology.segments"
    ]


def test_every_flaw_is_told_in_the_order_of_the_keys() -> None:
    assert places(
        rpc="CreateVolume",
        node_id="i-1",
        request={"nam": "x", "capacity_range.limit_bytes": "5GiB"},
        calls="x",
        seed=2,
        code="NOPE",
        message="m",
        no_answer=True,
    ) == [
        "node_id",
        "request.nam",
        "request.capacity_range.limit_bytes",
        "calls",
        "seed",
        "code",
        "no_answer",
    ]


# ------------------------------------------------------------------------------------------ details


def test_details_are_messages_of_google_rpc() -> None:
    details = (
        {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "1.5s"},
        {"@type": "google.rpc.ErrorInfo", "reason": "FULL", "metadata": {"zone": "z"}},
    )
    assert flaws(rpc="Probe", code="ABORTED", details=details) == []


def test_every_detail_that_cannot_be_is_told() -> None:
    found = flaws(
        rpc="Probe",
        code="ABORTED",
        details=(
            {},
            {"@type": "google.rpc.RetryInf"},
            {"@type": "google.rpc.RetryInfo", "retry_delay": "soon"},
            {"@type": "google.rpc.RetryInfo", "retrydelay": "1s"},
        ),
    )
    assert [flaw.partition(": ")[0] for flaw in found] == [
        "details.0",
        "details.1.@type",
        "details.2.retry_delay",
        "details.3.retrydelay",
    ]


@pytest.mark.parametrize(
    ("keys", "place"),
    [
        ({"message": "m" * MAX_HEADER_BYTES}, None),
        ({"message": "m" * (MAX_HEADER_BYTES + 1)}, "message"),
        ({"message": "é" * (MAX_HEADER_BYTES // 6 + 1)}, "message"),
        (
            {"details": ({"@type": "google.rpc.ErrorInfo", "reason": "r" * MAX_HEADER_BYTES},)},
            "details",
        ),
    ],
)
def test_message_and_details_have_to_fit_into_headers(
    keys: dict[str, Any], place: str | None
) -> None:
    assert places(rpc="Probe", code="ABORTED", **keys) == ([] if place is None else [place])


# ------------------------------------------------------------------------------------------- sizes


def test_nothing_is_so_large_that_calls_become_slow() -> None:
    long = "*" * (MAX_PATTERN_CHARACTERS + 1)
    assert places(rpc=long, code="ABORTED") == ["rpc"]
    assert places(rpc="NodeGetInfo", node_id=long, code="ABORTED") == ["node_id"]
    assert places(rpc="DeleteVolume", request={"volume_id": long}, code="ABORTED") == [
        "request.volume_id"
    ]
    many = {f"parameters.{n}": "*" for n in range(MAX_CONDITIONS + 1)}
    assert places(rpc="CreateVolume", request=many, code="ABORTED") == ["request"]
    replies = {f"publish_context.{n}": "x" for n in range(MAX_OVERRIDES + 1)}
    assert places(rpc="ControllerPublishVolume", reply=replies) == ["reply"]
    huge = {"publish_context.a": "x" * 2**24}
    assert places(rpc="ControllerPublishVolume", reply=huge) == ["reply"]
