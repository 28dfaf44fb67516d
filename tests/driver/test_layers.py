"""The layers around a service method: journal, status, gate and checks, in-flight guard."""

from __future__ import annotations

import logging

import pytest

from csi_spec import csi_pb2
from mockdriver.driver.capabilities import (
    CONTROLLER_SERVICE,
    CREATE_DELETE_VOLUME,
    GET_CAPACITY,
    GET_NODE_INFO,
    GET_VOLUME,
    GET_VOLUME_STATS,
    LIST_VOLUMES,
    LIST_VOLUMES_PUBLISHED_NODES,
    NODE_INFO_FROM_CONTROLLER,
    NODE_SINGLE_NODE_MULTI_WRITER,
    PUBLISH_READONLY,
    PUBLISH_UNPUBLISH_VOLUME,
    SINGLE_NODE_MULTI_WRITER,
    STAGE_UNSTAGE_VOLUME,
    VOLUME_ACCESSIBILITY_CONSTRAINTS,
    VOLUME_MOUNT_GROUP,
    Capability,
)
from mockdriver.driver.controller import ControllerService
from mockdriver.driver.rpcs import RPCS, Rpc
from mockdriver.journal import Entry
from tests.driver.small_driver import SERVICES, Peer, SmallDriver, capability, of

DESCRIPTORS = csi_pb2.DESCRIPTOR.services_by_name
BUILT_RPCS = [rpc.name for rpc in RPCS]
OTHER_RPCS = [
    method.name
    for service in SERVICES
    for method in DESCRIPTORS[service].methods
    if method.name not in BUILT_RPCS
]
UNKNOWN_FIELD = b"\xfa\x3e\x05hello"
"""Field 1007 of a message, which CSI does not define, with five bytes."""


def small_driver() -> SmallDriver:
    driver = SmallDriver()
    driver.region.add_instance(slots=3)
    return driver


# -------------------------------------------------------------------------------- capability gate


@pytest.mark.parametrize("rpc", OTHER_RPCS)
def test_an_rpc_that_is_not_built_is_unimplemented(rpc: str) -> None:
    answer = small_driver().call(rpc)
    assert answer.code == "UNIMPLEMENTED"
    assert answer.message == f"{rpc} is not implemented by this driver"


def test_there_is_a_handler_for_every_rpc_of_the_three_services() -> None:
    handlers = small_driver().driver.handlers("i-1")
    assert {service: list(found) for service, found in handlers.items()} == {
        service: list(DESCRIPTORS[service].methods_by_name) for service in SERVICES
    }


@pytest.mark.parametrize(
    ("off", "rpcs"),
    [
        (CREATE_DELETE_VOLUME, ["CreateVolume", "DeleteVolume"]),
        (PUBLISH_UNPUBLISH_VOLUME, ["ControllerPublishVolume", "ControllerUnpublishVolume"]),
        (GET_NODE_INFO, ["ControllerGetNodeInfo"]),
        (LIST_VOLUMES, ["ListVolumes"]),
        (LIST_VOLUMES_PUBLISHED_NODES, []),
        (GET_VOLUME, ["ControllerGetVolume"]),
        (GET_CAPACITY, ["GetCapacity"]),
        (PUBLISH_READONLY, []),
        (SINGLE_NODE_MULTI_WRITER, []),
        (STAGE_UNSTAGE_VOLUME, ["NodeStageVolume", "NodeUnstageVolume"]),
        (GET_VOLUME_STATS, ["NodeGetVolumeStats"]),
        (NODE_SINGLE_NODE_MULTI_WRITER, []),
        (VOLUME_MOUNT_GROUP, []),
        (NODE_INFO_FROM_CONTROLLER, []),
        (VOLUME_ACCESSIBILITY_CONSTRAINTS, []),
        (CONTROLLER_SERVICE, [rpc.name for rpc in RPCS if rpc.service == "Controller"]),
    ],
    ids=str,
)
def test_off_is_unimplemented_and_nothing_else_is(off: Capability, rpcs: list[str]) -> None:
    driver = SmallDriver(switches={off: False})
    driver.region.add_instance(slots=3)
    answers = {rpc: driver.call(rpc) for rpc in BUILT_RPCS}
    assert [rpc for rpc, answer in answers.items() if answer.code == "UNIMPLEMENTED"] == rpcs
    for rpc in rpcs:
        assert answers[rpc].message == f"{rpc} needs the capability {off}, which is off"


def test_the_gate_is_before_the_checks() -> None:
    driver = SmallDriver(switches={CREATE_DELETE_VOLUME: False})
    assert driver.call_with_bytes("CreateVolume", b"\xff").code == "UNIMPLEMENTED"


# ------------------------------------------------------------------------------- bytes and fields


@pytest.mark.parametrize(
    "hostile",
    [
        b"\xff",
        b"\x0a",
        b"\x0a\xff",
        b"\x08" * 11,
        b"\x0b" * 200,
        bytes(range(256)),
        b"\x0a\x05vol",
    ],
    ids=lambda body: body[:8].hex(),
)
@pytest.mark.parametrize("rpc", BUILT_RPCS)
def test_bytes_that_are_no_request_are_an_invalid_argument(rpc: str, hostile: bytes) -> None:
    answer = small_driver().call_with_bytes(rpc, hostile)
    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message == f"request: {len(hostile)} bytes that are no csi.v1.{rpc}Request"


@pytest.mark.parametrize(
    "rpc", ["CreateVolume", "DeleteVolume", "ControllerPublishVolume", "ControllerGetNodeInfo"]
)
def test_a_string_that_is_no_utf_8_is_an_invalid_argument(rpc: str) -> None:
    answer = small_driver().call_with_bytes(rpc, b"\x0a\x02\xff\xfe")
    assert answer.code == "INVALID_ARGUMENT"


@pytest.mark.parametrize("rpc", BUILT_RPCS)
def test_unknown_fields_are_ignored(rpc: str) -> None:
    without = small_driver().call(rpc)
    with_it = small_driver().call_with_bytes(rpc, UNKNOWN_FIELD)
    assert with_it == without


def test_unknown_fields_beside_known_ones_are_ignored() -> None:
    driver = small_driver()
    volume = driver.new_volume()
    request = csi_pb2.ControllerPublishVolumeRequest(
        volume_id=volume, node_id="i-1", volume_capability=capability()
    )
    body = UNKNOWN_FIELD + request.SerializeToString() + UNKNOWN_FIELD
    assert driver.call_with_bytes("ControllerPublishVolume", body).ok


@pytest.mark.parametrize("rpc", [rpc for rpc in RPCS if rpc.required], ids=lambda rpc: rpc.name)
def test_required_fields_are_required_of_a_call(rpc: Rpc) -> None:
    answer = small_driver().call(rpc.name)
    assert answer.code == "INVALID_ARGUMENT"
    assert answer.message.startswith(f"{rpc.required[0]}: is required")


def test_a_field_of_many_megabytes_gets_the_code_of_the_spec() -> None:
    answer = small_driver().delete("v" * 20_000_000)
    assert answer.code == "INVALID_ARGUMENT"
    assert "has 20000000 bytes, allowed are 128" in answer.message


def test_a_call_that_fails_its_checks_does_not_reach_the_cloud() -> None:
    driver = small_driver()
    driver.publish("", "i-1")
    driver.publish("vol-1", "")
    driver.delete("v" * 129)
    driver.create("pvc-1", capacity_range=csi_pb2.CapacityRange(required_bytes=-1))
    driver.create("pvc\x001")
    assert set(driver.codes()) == {"INVALID_ARGUMENT"}
    assert driver.cloud_calls() == {}


# ----------------------------------------------------------------------------------------- status


def test_a_bug_of_ours_is_internal_and_its_text_stays_here(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(*_: object) -> csi_pb2.DeleteVolumeResponse:
        raise ZeroDivisionError("a detail of ours")

    monkeypatch.setattr(ControllerService, "DeleteVolume", broken)
    driver = small_driver()
    with caplog.at_level(logging.ERROR):
        answer = driver.delete("vol-1")
    assert answer.code == "INTERNAL"
    assert "a detail of ours" not in answer.message
    assert "a detail of ours" in caplog.text
    assert driver.codes() == ["INTERNAL"]


def test_a_bug_of_ours_leaves_no_key_in_flight(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    driver = small_driver()
    volume = driver.new_volume()
    with monkeypatch.context() as broken, caplog.at_level(logging.CRITICAL):
        broken.setattr(driver.region.cloud.api, "delete_disk", None)
        assert driver.delete(volume).code == "INTERNAL"
    assert driver.delete(volume).ok


# ---------------------------------------------------------------------------------------- journal


def test_every_call_is_in_the_journal_with_what_it_was_answered() -> None:
    driver = small_driver()
    driver.call("Probe")
    driver.delete("vol-unknown")
    driver.publish("vol-unknown")
    driver.call("ListSnapshots")
    driver.call_with_bytes("DeleteVolume", b"\xff")
    seen = [(entry.rpc, entry.code, entry.code_number) for entry in driver.journal.entries()]
    assert seen == [
        ("Probe", "OK", 0),
        ("DeleteVolume", "OK", 0),
        ("ControllerPublishVolume", "NOT_FOUND", 5),
        ("ListSnapshots", "UNIMPLEMENTED", 12),
        ("DeleteVolume", "INVALID_ARGUMENT", 3),
    ]


def test_an_entry_has_the_message_that_the_peer_got() -> None:
    driver = small_driver()
    answer = driver.publish("vol-unknown")
    (entry,) = driver.journal.entries()
    assert entry.message == answer.message == "no disk has the id 'vol-unknown'"
    assert entry.request()["volume_id"] == "vol-unknown"
    assert entry.response() == {}


def test_an_entry_has_the_response_that_the_peer_got() -> None:
    driver = small_driver()
    driver.controller_info()
    (entry,) = driver.journal.entries()
    assert entry.response()["max_volumes_per_node"] == 3


def test_an_entry_knows_the_peer_and_the_node_that_the_call_arrived_on() -> None:
    driver = SmallDriver(node="i-2")
    driver.region.add_instance("i-2", slots=3)
    driver.call("NodeGetInfo", peer=Peer("unix:kubelet"))
    driver.call("Probe", peer=Peer("unix:attacher"))
    seen = [(entry.peer, entry.node_id) for entry in driver.journal.entries()]
    assert seen == [("unix:kubelet", "i-2"), ("unix:attacher", None)]


def test_the_sink_sees_failed_calls_too() -> None:
    ended: list[Entry] = []
    driver = SmallDriver(on_end=ended.append)
    driver.publish("vol-unknown", "i-unknown")
    assert [entry.code for entry in ended] == ["NOT_FOUND"]


# --------------------------------------------------------------------------------------- restart


def test_a_second_driver_over_the_same_cloud_goes_on_where_the_first_one_stopped() -> None:
    first = small_driver()
    created = of(first.create("pvc-1")).volume
    assert first.publish(created.volume_id).ok
    second = SmallDriver(first.region)
    assert of(second.create("pvc-1")).volume == created
    assert second.publish(created.volume_id).ok
    assert second.publish(created.volume_id, readonly=True).code == "ALREADY_EXISTS"
    assert second.node_info().max_volumes_per_node == 3
    assert second.unpublish(created.volume_id).ok
    assert second.delete(created.volume_id).ok
