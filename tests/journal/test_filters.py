"""Which calls a filter finds, and what a filter may not ask."""

from __future__ import annotations

from typing import Any

import pytest

from csi_spec import csi_pb2
from kubelet_spec import pluginregistration_pb2
from mockdriver.journal.e2e_lines import e2e_line
from mockdriver.journal.errors import QueryMistake
from mockdriver.journal.filters import EVERY_CALL, CallFilter
from mockdriver.journal.redaction import STRIPPED
from tests.journal.recorded import SmallJournal
from tests.requests import CAPABILITY

TOKENS = "csi.storage.k8s.io/serviceAccount.tokens"


def publish(**fields: Any) -> csi_pb2.ControllerPublishVolumeRequest:
    return csi_pb2.ControllerPublishVolumeRequest(**fields)


def mixed() -> SmallJournal:
    """Return a journal of six calls; the last one is in flight."""
    small = SmallJournal()
    small.call(publish(volume_id="vol-1", node_id="i-1"), "ControllerPublishVolume")
    small.fail("NOT_FOUND", publish(volume_id="vol-2", node_id="i-2"), "ControllerPublishVolume")
    small.call(b"", "NodeGetInfo", service="Node", node_id="i-1")
    small.call(b"", "Probe", service="Identity")
    small.fail("ABORTED", csi_pb2.DeleteVolumeRequest(volume_id="vol-1"))
    small.begin(csi_pb2.ControllerGetNodeInfoRequest(node_id="i-2"), "ControllerGetNodeInfo")
    return small


FOUND: list[tuple[dict[str, Any], list[int]]] = [
    ({}, [1, 2, 3, 4, 5, 6]),
    ({"rpc": "ControllerPublishVolume"}, [1, 2]),
    ({"rpc": "Controller*"}, [1, 2, 6]),
    ({"rpc": "Node???Info"}, [3]),
    ({"service": "Node"}, [3]),
    ({"service": "*t*"}, [1, 2, 4, 5, 6]),
    ({"node_id": "i-1"}, [1, 3]),
    ({"node_id": "i-?"}, [1, 2, 3, 6]),
    ({"node_id": "*"}, [1, 2, 3, 6]),
    ({"code": "OK"}, [1, 3, 4]),
    ({"code": "NOT_FOUND"}, [2]),
    ({"code": "*O*"}, [1, 2, 3, 4, 5]),
    ({"code": "RUNNING"}, [6]),
    ({"code": "!OK"}, [2, 5]),
    ({"code": "!NOT_FOUND"}, [1, 3, 4, 5]),
    ({"code": "!RUNNING"}, [1, 2, 3, 4, 5]),
    ({"code": "!*"}, []),
    ({"message": "of ABORT"}, [5]),
    ({"message": "because*FOUND"}, [2]),
    ({"message": "because"}, [2, 5]),
    ({"after": 4}, [5, 6]),
    ({"after": 6}, []),
    ({"request": {"volume_id": "vol-1"}}, [1, 5]),
    ({"request": {"volume_id": "vol-?"}}, [1, 2, 5]),
    ({"rpc": "ControllerPublishVolume", "request": {"node_id": "i-2"}, "code": "!OK"}, [2]),
    ({"rpc": "ControllerPublishVolume", "code": "ABORTED"}, []),
]


@pytest.mark.parametrize(("fields", "expected"), FOUND, ids=[str(item[0]) for item in FOUND])
def test_a_call_is_found_if_it_meets_all_conditions(
    fields: dict[str, Any], expected: list[int]
) -> None:
    assert mixed().sequences(CallFilter(**fields)) == expected


def test_faults_are_found_by_any_of_their_names() -> None:
    small = SmallJournal()
    small.call()
    small.begin().faults = ("slow-attach", "flaky")
    assert small.sequences(CallFilter(fault="flaky")) == [2]
    assert small.sequences(CallFilter(fault="slow*")) == [2]
    assert small.sequences(CallFilter(fault="fl")) == []


# ----------------------------------------------------------------------------- fields of messages

REQUEST = publish(
    volume_id="vol-1",
    volume_capability=CAPABILITY,
    secrets={"password": "swordfish"},
    volume_context={TOKENS: "swordfish", "csi.storage.k8s.io/pod.name": "pod-1"},
)
CREATE = csi_pb2.CreateVolumeRequest(
    name="pvc-1",
    volume_capabilities=[csi_pb2.VolumeCapability(), CAPABILITY],
    capacity_range=csi_pb2.CapacityRange(required_bytes=2**62),
    parameters={"type": "ssd", "a.b": "c"},
)
FIELDS = [
    (REQUEST, "volume_id", "vol-1", True),
    (REQUEST, "volume_id", "vol", False),
    (REQUEST, "readonly", "false", True),
    (REQUEST, "readonly", "true", False),
    (REQUEST, "node_id", "", True),
    (REQUEST, "volume_capability.access_mode.mode", "SINGLE_NODE_WRITER", True),
    (REQUEST, "volume_capability.access_mode.mode", "SINGLE*", True),
    (REQUEST, "volume_capability.access_mode.mode", "1", True),
    (REQUEST, "volume_capability.access_mode.mode", "MULTI_NODE_READER_ONLY", False),
    (REQUEST, "volume_capability.mount", "*", True),
    (REQUEST, "volume_capability.block", "*", False),
    (REQUEST, "volume_capability.access_type", "mount", True),
    (REQUEST, "volume_context.csi.storage.k8s.io/pod.name", "pod-1", True),
    (REQUEST, 'volume_context["csi.storage.k8s.io/pod.name"]', "pod-?", True),
    (REQUEST, "volume_context.other", "*", False),
    (REQUEST, "volume_context.other", "", True),
    (CREATE, "volume_capabilities[1].access_mode.mode", "SINGLE_NODE_WRITER", True),
    (CREATE, "volume_capabilities[0].access_mode.mode", "SINGLE_NODE_WRITER", False),
    (CREATE, "volume_capabilities[*].access_mode.mode", "SINGLE_NODE_WRITER", True),
    (CREATE, "volume_capabilities[7].access_mode.mode", "*", False),
    (CREATE, "capacity_range.required_bytes", str(2**62), True),
    (CREATE, "parameters.a.b", "c", True),
    (CREATE, "parameters", "*", True),
    (CREATE, "secrets", "*", False),
]


@pytest.mark.parametrize(("request_", "path", "wanted", "expected"), FIELDS)
def test_fields_are_compared_by_path_as_text(
    request_: Any, path: str, wanted: str, expected: bool
) -> None:
    small = SmallJournal()
    rpc = type(request_).__name__.removesuffix("Request")
    small.call(request_, rpc)
    assert bool(small.sequences(CallFilter(request={path: wanted}))) is expected
    assert bool(small.sequences(CallFilter(rpc=rpc, request={path: wanted}))) is expected


@pytest.mark.parametrize("path", ["secrets.password", f"volume_context.{TOKENS}"])
def test_a_secret_cannot_be_guessed(path: str) -> None:
    small = SmallJournal()
    small.call(REQUEST, "ControllerPublishVolume")
    for guess in ("swordfish", "sword*", "?????????"):
        assert small.sequences(CallFilter(request={path: guess})) == []
    assert small.sequences(CallFilter(request={path: STRIPPED.replace("*", "\\*")})) == [1]
    assert small.sequences(CallFilter(request={path: ""})) == []


def test_a_call_whose_request_has_no_such_field_is_not_found_not_even_with_an_empty_text() -> None:
    small = SmallJournal()
    small.call(b"", "Probe", service="Identity")
    assert small.sequences(CallFilter(request={"volume_id": ""})) == []


def test_bytes_that_are_no_request_have_no_fields() -> None:
    small = SmallJournal()
    small.call(b"\x0a\xff")
    assert small.sequences(CallFilter(request={"volume_id": ""})) == []


def test_a_response_has_fields_only_if_the_call_was_ok() -> None:
    small = SmallJournal()
    response = csi_pb2.ControllerGetNodeInfoResponse(published_volume_ids=["a", "b"])
    entry = small.begin(b"", "ControllerGetNodeInfo")
    unset = CallFilter(response={"max_volumes_per_node": "0"})
    assert small.sequences(unset) == []
    small.end(entry, response=response)
    small.fail("ABORTED", b"", "ControllerGetNodeInfo")
    assert small.sequences(unset) == [1]
    assert small.sequences(CallFilter(response={"published_volume_ids[*]": "b"})) == [1]
    assert small.sequences(CallFilter(response={"published_volume_ids[0]": "b"})) == []


def test_the_node_that_a_request_names_comes_before_the_one_that_was_asked() -> None:
    small = SmallJournal()
    small.call(publish(node_id="i-1"), "ControllerPublishVolume", node_id="i-9")
    assert small.sequences(CallFilter(node_id="i-1")) == [1]
    assert small.sequences(CallFilter(node_id="i-9")) == []


# --------------------------------------------------------------------------------------- mistakes

MISTAKES: list[tuple[dict[str, Any], str]] = [
    (
        {"rpc": "ControlerGetNodeInfo"},
        (
            'rpc: unknown RPC "ControlerGetNodeInfo", allowed: GetPluginInfo, .* '
            'did you mean "ControllerGetNodeInfo"\\?'
        ),
    ),
    ({"rpc": "Snap*"}, 'rpc: unknown RPC "Snap\\*"'),
    ({"rpc": "NodeGetInfo", "service": "Controller"}, 'rpc: unknown RPC "NodeGetInfo"'),
    ({"service": "node"}, 'service: unknown service "node", .* did you mean "Node"\\?'),
    ({"code": "ok"}, 'code: unknown code "ok", .* did you mean "OK"\\?'),
    ({"code": "!5"}, 'code: unknown code "5", allowed: OK, CANCELLED, .*, RUNNING'),
    ({"after": -1}, "after: -1 is not allowed, allowed: 0 or more"),
    (
        {"rpc": "DeleteVolume", "request": {"volume_idd": "x"}},
        (
            r'request\["volume_idd"\]: unknown field of DeleteVolumeRequest "volume_idd", allowed: '
            r'volume_id, secrets, did you mean "volume_id"\?'
        ),
    ),
    ({"request": {"no_such_field": "x"}}, r'request\["no_such_field"\]: unknown field of'),
    (
        {"request": {"volume_capability.access_mode.mod": "x"}},
        r'unknown field of AccessMode "mod", allowed: mode, did you mean "mode"\?',
    ),
    (
        {"request": {"volume_capability.access_mode.mode": "WRITER"}},
        'unknown value of Mode "WRITER',
    ),
    ({"request": {"readonly": "yes"}}, r'request\["readonly"\]: .*yes.*, allowed: true or false'),
    ({"response": {"volume_id": "x"}}, r'response\["volume_id"\]: unknown field of'),
    ({"request": {"": "x"}}, r'request\[""\]: '),
    ({"rpc": "x" * 5_000}, "rpc: 5000 characters are not allowed, allowed: at most 4096"),
    ({"request": {"name": "x" * 5_000}}, r'request\["name"\]: 5000 characters are not allowed'),
    (
        {"request": {f"parameters.{n}": "x" for n in range(101)}},
        "request: 101 fields are not allowed, allowed: at most 100",
    ),
]


@pytest.mark.parametrize(("fields", "text"), MISTAKES, ids=[item[1][:40] for item in MISTAKES])
def test_what_no_call_can_ever_meet_is_a_mistake(fields: dict[str, Any], text: str) -> None:
    with pytest.raises(QueryMistake, match=text):
        CallFilter(**fields)


def test_a_field_need_not_be_in_every_rpc_that_the_filter_is_about() -> None:
    assert mixed().sequences(CallFilter(rpc="*Volume", request={"node_id": "i-1"})) == [1]


def test_a_filter_in_words_has_its_conditions_in_the_order_of_its_fields() -> None:
    wanted = CallFilter(
        request={"volume_id": "v", "node_id": "i-1"}, code="!OK", rpc="Controller*", after=3
    )
    assert str(wanted) == (
        ' with rpc="Controller*", code="!OK", request.node_id="i-1", request.volume_id="v" '
        "after call 3"
    )
    assert str(EVERY_CALL) == ""


def test_a_hostile_pattern_does_not_take_its_time() -> None:
    small = SmallJournal()
    small.call(csi_pb2.CreateVolumeRequest(name="a" * 100_000), "CreateVolume")
    hostile = "*a" * 2_000 + "b"
    assert small.sequences(CallFilter(request={"name": hostile})) == []


def test_the_kubelets_calls_at_a_registration_socket_can_be_asked_for() -> None:
    small = SmallJournal()
    request = pluginregistration_pb2.RegistrationStatus(plugin_registered=True)
    entry = small.journal.begin(
        service="Registration",
        rpc="NotifyRegistrationStatus",
        request_type=pluginregistration_pb2.RegistrationStatus,
        response_type=pluginregistration_pb2.RegistrationStatusResponse,
        request_bytes=request.SerializeToString(),
        peer="unix:",
        node_id="i-1",
    )
    small.end(entry)
    wanted = CallFilter(service="Registration", request={"plugin_registered": "true"})
    assert small.sequences(wanted) == [1]
    assert small.sequences(CallFilter(rpc="Notify*", node_id="i-1")) == [1]
    assert '"Method":"/pluginregistration.Registration/NotifyRegistrationStatus"' in e2e_line(entry)
