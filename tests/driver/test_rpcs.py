"""The table of RPCs against csi.proto and against the services."""

from __future__ import annotations

from collections import Counter

import pytest

from csi_spec import csi_pb2
from mockdriver.driver.capabilities import BUILT, CONTROLLER_SERVICE
from mockdriver.driver.controller import ControllerService
from mockdriver.driver.identity import IdentityService
from mockdriver.driver.in_flight import InFlightKey
from mockdriver.driver.node import NodeService
from mockdriver.driver.rpcs import BY_NAME, RPCS, SERVICE_NEEDS, Rpc

SERVICES: dict[str, type] = {
    "Identity": IdentityService,
    "Controller": ControllerService,
    "Node": NodeService,
}
DESCRIPTORS = csi_pb2.DESCRIPTOR.services_by_name


def public_methods(service: type) -> list[str]:
    """Return what a service can be asked, by itself or by one of its bases."""
    return [name for name in dir(service) if name[0] != "_" and callable(getattr(service, name))]


@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: rpc.name)
def test_every_row_is_an_rpc_of_csi(rpc: Rpc) -> None:
    assert rpc.name in DESCRIPTORS[rpc.service].methods_by_name


@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: rpc.name)
def test_every_required_field_is_a_field_of_the_request(rpc: Rpc) -> None:
    request = DESCRIPTORS[rpc.service].methods_by_name[rpc.name].input_type
    assert set(rpc.required) <= set(request.fields_by_name)


@pytest.mark.parametrize("rpc", RPCS, ids=lambda rpc: rpc.name)
def test_every_needed_capability_is_built(rpc: Rpc) -> None:
    assert rpc.needs is None or rpc.needs in BUILT


def test_no_rpc_has_two_rows() -> None:
    assert max(Counter((rpc.service, rpc.name) for rpc in RPCS).values()) == 1
    assert len(BY_NAME) == len(RPCS)


@pytest.mark.parametrize("service", SERVICES)
def test_every_method_of_a_service_is_an_rpc(service: str) -> None:
    assert set(public_methods(SERVICES[service])) <= set(DESCRIPTORS[service].methods_by_name)


@pytest.mark.parametrize("service", SERVICES)
def test_rows_and_methods_of_a_service_are_the_same(service: str) -> None:
    rows = {rpc.name for rpc in RPCS if rpc.service == service}
    assert rows == set(public_methods(SERVICES[service]))


def test_the_whole_controller_service_hangs_on_its_plugin_capability() -> None:
    assert SERVICE_NEEDS == {"Controller": CONTROLLER_SERVICE}


def key_of(rpc: str, **fields: str) -> InFlightKey | None:
    """Return the key that a call of this RPC holds."""
    row = next(row for row in RPCS if row.name == rpc)
    return None if row.key is None else row.key(getattr(csi_pb2, f"{rpc}Request")(**fields))


@pytest.mark.parametrize("rpc", ["ControllerPublishVolume", "ControllerUnpublishVolume"])
def test_publish_and_unpublish_hold_the_volume_on_the_node(rpc: str) -> None:
    assert key_of(rpc, volume_id="vol-1", node_id="i-1") == InFlightKey("volume", "vol-1", "i-1")


def test_an_unpublish_from_every_node_holds_the_whole_volume() -> None:
    assert key_of("ControllerUnpublishVolume", volume_id="vol-1") == InFlightKey("volume", "vol-1")


def test_delete_holds_the_whole_volume() -> None:
    assert key_of("DeleteVolume", volume_id="vol-1") == InFlightKey("volume", "vol-1")


def test_create_holds_the_name_which_is_no_volume_id() -> None:
    assert key_of("CreateVolume", name="vol-1") == InFlightKey("volume name", "vol-1")


@pytest.mark.parametrize(
    "rpc", [rpc.name for rpc in RPCS if "Get" in rpc.name or rpc.service == "Identity"]
)
def test_calls_that_only_look_hold_nothing(rpc: str) -> None:
    assert key_of(rpc) is None
