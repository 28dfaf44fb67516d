"""What kubelet and external-attacher ask a driver, in which order, and what they believe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from csi_spec import csi_pb2
from mockdriver.co.calling import Answer
from mockdriver.co.csi_client import CsiClient
from mockdriver.co.registration import MAX_RETRIES, Lookup, plain_node_info, refresh, register
from mockdriver.co.volume_records import VolumeRecords

ZONE = {"topology.example.com/zone": "zone-a"}
NODE_INFO_FROM_CONTROLLER = csi_pb2.NodeServiceCapability.RPC.NODE_INFO_FROM_CONTROLLER


def node_capabilities(*types: int) -> csi_pb2.NodeGetCapabilitiesResponse:
    """Return the answer of a node that has these capabilities."""
    response = csi_pb2.NodeGetCapabilitiesResponse()
    for type_ in types:
        response.capabilities.add().rpc.type = csi_pb2.NodeServiceCapability.RPC.Type.ValueType(
            type_
        )
    return response


class ScriptedDriver:
    """Answers by the kind of request; notes what it was asked and how long the CO paused."""

    def __init__(self, client: CsiClient) -> None:
        self._client = client
        self.answers: dict[type, Callable[[], Answer]] = {}
        self.asked: list[Any] = []
        self.pauses: list[float] = []
        self.records = VolumeRecords()
        self.answer(node_capabilities(NODE_INFO_FROM_CONTROLLER))
        self.answer(csi_pb2.NodeGetInfoResponse(node_id="i-1"))
        self.answer(
            csi_pb2.ControllerGetNodeInfoResponse(
                max_volumes_per_node=23,
                accessible_topology=csi_pb2.Topology(segments=ZONE),
                published_volume_ids=["vol-boot", "vol-csi"],
            )
        )

    def answer(self, response: Any) -> None:
        """Answer requests of the response's RPC with it from now on."""
        name = type(response).__name__.removesuffix("Response")
        self.answers[getattr(csi_pb2, f"{name}Request")] = lambda: Answer("OK", response)

    def fail(self, request_type: type, codes: list[str]) -> None:
        """Answer these requests with the codes first, and then as before."""
        usual, left = self.answers[request_type], list(codes)
        self.answers[request_type] = lambda: Answer(left.pop(0)) if left else usual()

    def call(self, method: Callable[..., object], request: Any) -> Answer:
        """Stand in for a call over the socket."""
        self.asked.append(request)
        return self.answers[type(request)]()

    def register(self) -> Lookup:
        """Register the node as kubelet and external-attacher do."""
        return register(
            self._client, self._client, self.records, self.call, pause=self.pauses.append
        )

    def names(self) -> list[str]:
        """Return which RPCs were called, in order."""
        return [type(request).__name__.removesuffix("Request") for request in self.asked]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[CsiClient]:
    """A connection that is never used: the calls are answered before they go out."""
    with CsiClient(tmp_path / "nobody.sock") as client:
        yield client


@pytest.fixture
def driver(client: CsiClient) -> ScriptedDriver:
    return ScriptedDriver(client)


# --------------------------------------------------------------------------- the controller flow


def test_a_node_with_the_capability_is_asked_for_its_id_and_the_controller_for_the_rest(
    driver: ScriptedDriver,
) -> None:
    view = driver.register().view
    assert driver.names() == ["NodeGetCapabilities", "NodeGetInfo", "ControllerGetNodeInfo"]
    assert driver.asked[1].controller_get_node_info
    assert driver.asked[2].node_id == "i-1"
    assert view is not None
    assert view.node_id == "i-1"
    assert view.max_volumes_per_node == 23
    assert view.accessible_topology == ZONE
    assert view.published_volume_ids == ("vol-boot", "vol-csi")


def test_the_effective_limit_spares_what_the_co_has_a_record_of(driver: ScriptedDriver) -> None:
    driver.records.remember("i-1", "vol-csi", published=True)
    view = driver.register().view
    assert view is not None
    assert view.effective_limit == 22


def test_what_is_published_while_the_controller_is_asked_is_spared_too(
    driver: ScriptedDriver,
) -> None:
    usual = driver.answers[csi_pb2.ControllerGetNodeInfoRequest]

    def publish_meanwhile() -> Answer:
        driver.records.remember("i-1", "vol-csi", published=False)
        return usual()

    driver.answers[csi_pb2.ControllerGetNodeInfoRequest] = publish_meanwhile
    view = driver.register().view
    assert view is not None
    assert view.effective_limit == 22


def test_limit_and_topology_of_a_flagged_answer_are_not_believed(driver: ScriptedDriver) -> None:
    driver.answer(
        csi_pb2.NodeGetInfoResponse(
            node_id="i-1",
            max_volumes_per_node=1,
            accessible_topology=csi_pb2.Topology(segments={"wrong": "zone"}),
        )
    )
    view = driver.register().view
    assert view is not None
    assert (view.max_volumes_per_node, view.accessible_topology) == (23, ZONE)


def test_a_limit_of_zero_leaves_the_effective_limit_unset(driver: ScriptedDriver) -> None:
    driver.answer(csi_pb2.ControllerGetNodeInfoResponse(published_volume_ids=["vol-boot"]))
    view = driver.register().view
    assert view is not None
    assert view.effective_limit is None
    assert view.published_volume_ids == ("vol-boot",)


# -------------------------------------------------------------------------------- the plain flow


@pytest.mark.parametrize(
    "types", [(), (csi_pb2.NodeServiceCapability.RPC.STAGE_UNSTAGE_VOLUME, 77)]
)
def test_a_node_without_the_capability_is_asked_without_the_flag(
    driver: ScriptedDriver, types: tuple[int, ...]
) -> None:
    driver.answer(node_capabilities(*types))
    driver.answer(
        csi_pb2.NodeGetInfoResponse(
            node_id="i-1",
            max_volumes_per_node=20,
            accessible_topology=csi_pb2.Topology(segments=ZONE),
        )
    )
    view = driver.register().view
    assert driver.names() == ["NodeGetCapabilities", "NodeGetInfo"]
    assert not driver.asked[1].controller_get_node_info
    assert view is not None
    assert (view.max_volumes_per_node, view.effective_limit) == (20, 20)
    assert view.accessible_topology == ZONE
    assert view.published_volume_ids is None


def test_the_plain_flow_without_a_limit_leaves_the_effective_limit_unset(
    driver: ScriptedDriver, client: CsiClient
) -> None:
    view = plain_node_info(client, driver.call).view
    assert view is not None
    assert (view.max_volumes_per_node, view.effective_limit) == (0, None)


def test_a_node_that_fails_in_the_plain_flow_gives_no_view(
    driver: ScriptedDriver, client: CsiClient
) -> None:
    driver.fail(csi_pb2.NodeGetInfoRequest, ["NOT_FOUND"])
    lookup = plain_node_info(client, driver.call)
    assert (lookup.answer.code, lookup.view) == ("NOT_FOUND", None)


# --------------------------------------------------------------------------------------- retries

REQUESTS = [
    csi_pb2.NodeGetCapabilitiesRequest,
    csi_pb2.NodeGetInfoRequest,
    csi_pb2.ControllerGetNodeInfoRequest,
]


@pytest.mark.parametrize("request_type", REQUESTS)
@pytest.mark.parametrize("code", ["UNAVAILABLE", "ABORTED", "DEADLINE_EXCEEDED"])
def test_registering_retries_what_may_pass(
    driver: ScriptedDriver, request_type: type, code: str
) -> None:
    driver.fail(request_type, [code] * MAX_RETRIES)
    assert driver.register().answer.ok
    assert len(driver.asked) == len(REQUESTS) + MAX_RETRIES


@pytest.mark.parametrize("request_type", REQUESTS)
def test_registering_gives_up_after_ten_retries(driver: ScriptedDriver, request_type: type) -> None:
    driver.fail(request_type, ["UNAVAILABLE"] * 11)
    lookup = driver.register()
    assert (lookup.answer.code, lookup.view) == ("UNAVAILABLE", None)
    assert sum(isinstance(request, request_type) for request in driver.asked) == 11


@pytest.mark.parametrize("request_type", REQUESTS)
@pytest.mark.parametrize("code", ["NOT_FOUND", "UNIMPLEMENTED", "INTERNAL", "RESOURCE_EXHAUSTED"])
def test_registering_ends_at_an_answer_that_will_not_pass(
    driver: ScriptedDriver, request_type: type, code: str
) -> None:
    driver.fail(request_type, [code])
    lookup = driver.register()
    assert (lookup.answer.code, lookup.view) == (code, None)
    assert isinstance(driver.asked[-1], request_type)
    assert driver.pauses == []


def test_the_pauses_between_retries_grow_up_to_a_limit(driver: ScriptedDriver) -> None:
    driver.fail(csi_pb2.NodeGetInfoRequest, ["UNAVAILABLE"] * MAX_RETRIES)
    driver.register()
    assert driver.pauses == [1, 2, 4, 8, 16, 30, 30, 30, 30, 30]


def test_each_call_of_a_registration_has_its_own_retries(driver: ScriptedDriver) -> None:
    for request_type in REQUESTS:
        driver.fail(request_type, ["UNAVAILABLE"] * MAX_RETRIES)
    assert driver.register().answer.ok


def test_a_refresh_asks_once_and_does_not_retry(driver: ScriptedDriver, client: CsiClient) -> None:
    driver.fail(csi_pb2.ControllerGetNodeInfoRequest, ["UNAVAILABLE"])
    lookup = refresh("i-1", client, driver.records, driver.call)
    assert (lookup.answer.code, lookup.view) == ("UNAVAILABLE", None)
    assert driver.names() == ["ControllerGetNodeInfo"]


def test_a_refresh_that_fails_leaves_no_recording_behind(
    driver: ScriptedDriver, client: CsiClient
) -> None:
    driver.fail(csi_pb2.ControllerGetNodeInfoRequest, ["UNAVAILABLE"])
    refresh("i-1", client, driver.records, driver.call)
    assert not any(driver.records._recordings.values())
