"""The pages about the CSI services have the tables that the driver's table of RPCs makes."""

from __future__ import annotations

import re

import pytest

from csi_spec import csi_pb2
from mockdriver.cloud.api import MAX_DISK_GIB, MIN_DISK_GIB
from mockdriver.driver import capabilities
from mockdriver.driver.capacity import DEFAULT_SIZE_GIB
from mockdriver.driver.cloud_client import PATIENCE_SECONDS
from mockdriver.driver.field_checks import MAP_BYTES, NODE_ID_BYTES, PATH_BYTES, STRING_BYTES
from mockdriver.driver.in_flight import InFlightKey
from mockdriver.driver.mounts.files import MARK
from mockdriver.driver.node_volumes import INODES_PER_GIB
from mockdriver.driver.parameters import MANY_ATTACHMENTS
from mockdriver.driver.rpcs import BY_NAME, Rpc
from mockdriver.driver.status import CODES
from mockdriver.driver.volume_listing import MAX_PAGE_BYTES
from mockdriver.scenario.code_names import CODES as CODE_NAMES
from mockdriver.server.node_sockets import MAX_NODES
from mockdriver.server.sockets import MAX_PATH_BYTES
from tests.docs.blocks import text_of
from tools.service_docs import (
    BEGIN,
    END,
    PAGES,
    NoMarkers,
    generated,
    held_by,
    not_built,
    rewritten,
)


def _page(service: str) -> str:
    name = service if service == "README" else service.lower()
    return text_of(f"docs/services/{name}.md")


@pytest.mark.parametrize("service", PAGES)
def test_the_table_of_a_page_is_fresh(service: str) -> None:
    page = _page(service)

    assert page == rewritten(page, service), "run python -m tools.service_docs"


@pytest.mark.parametrize("service", PAGES)
def test_every_rpc_of_a_service_stands_in_its_table_or_in_the_list_of_missing_ones(
    service: str,
) -> None:
    text = generated(service)

    for method in csi_pb2.DESCRIPTOR.services_by_name[service].methods:
        assert text.count(f"`{method.name}`") == 1, method.name


@pytest.mark.parametrize(("service", "name"), BY_NAME)
def test_every_rpc_that_is_built_is_spoken_of_outside_the_table(service: str, name: str) -> None:
    before, _, rest = _page(service).partition(BEGIN)

    assert name in before + rest.partition(END)[2]


@pytest.mark.parametrize("capability", capabilities.BUILT, ids=str)
def test_every_capability_is_named_on_the_page_of_its_service(
    capability: capabilities.Capability,
) -> None:
    page = _page("identity" if capability.service == "plugin" else capability.service)

    assert f"`{capability.name}`" in page or f"`{capability}`" in page


@pytest.mark.parametrize("page", ["README", "identity", "controller", "node"])
def test_the_codes_that_a_page_names_are_codes_that_the_driver_answers(page: str) -> None:
    named = set(re.findall(r"`([A-Z_]+)`", text_of(f"docs/services/{page}.md"))) & set(CODE_NAMES)

    assert named <= {code.name for code in CODES.values()}


def test_numbers_in_the_text_are_those_of_the_program() -> None:
    first, controller, node = (_page(name) for name in ("README", "controller", "node"))

    assert f"text has at most {STRING_BYTES} bytes, a `node_id` {NODE_ID_BYTES}" in first
    assert f"together {MAP_BYTES}" in first
    assert f"Paths have at most {PATH_BYTES}" in first
    assert f"its patience, {PATIENCE_SECONDS:g} s" in first
    assert f"{MIN_DISK_GIB} to {MAX_DISK_GIB} GiB" in controller
    assert f"for\n  {MANY_ATTACHMENTS}." in controller
    assert f"{DEFAULT_SIZE_GIB} GiB where nothing is required" in controller
    assert f"never more than {MAX_PAGE_BYTES // 1024**2} MiB" in controller
    assert f"`{MARK}`" in node
    assert f"{INODES_PER_GIB:,}" in node
    roles = text_of("docs/roles.md")
    assert f"at most {MAX_NODES} nodes" in roles
    assert f"{MAX_PATH_BYTES} bytes" in roles


def test_what_a_call_holds_is_read_off_its_key() -> None:
    def target(request: csi_pb2.NodePublishVolumeRequest) -> InFlightKey:
        return InFlightKey("volume", request.volume_id, request.target_path)

    assert held_by(Rpc("Node", "NodePublishVolume")) == "-"
    assert held_by(BY_NAME["Controller", "DeleteVolume"]) == "`volume_id`"
    row = Rpc("Node", "NodePublishVolume", required=("target_path",), key=target)
    assert held_by(row) == "`volume_id` and `target_path`"
    assert held_by(BY_NAME["Controller", "ControllerUnpublishVolume"]) == (
        "`volume_id` and `node_id`; without `node_id` all of `volume_id`"
    )


def test_an_rpc_without_a_row_is_missing() -> None:
    assert "CreateSnapshot" in not_built("Controller")
    assert "CreateVolume" not in not_built("Controller")


def test_only_what_is_between_the_markers_changes() -> None:
    old = f"before\n{BEGIN}\nstale\n{END}\nafter\n"

    new = rewritten(old, "Identity")

    assert new.startswith(f"before\n{BEGIN}\n")
    assert new.endswith(f"{END}\nafter\n")
    assert "stale" not in new
    assert "`Probe`" in new


@pytest.mark.parametrize("text", ["no markers\n", f"{END}\n{BEGIN}\n", f"{BEGIN}\n"])
def test_a_page_without_both_markers_is_found(text: str) -> None:
    with pytest.raises(NoMarkers):
        rewritten(text, "Identity")
