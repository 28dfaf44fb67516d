"""What --kubelet-registration-dir and --kubelet-csi-socket mean, and what they refuse."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mockdriver.driver.driver import Role
from mockdriver.server.listening import ListeningPlan
from mockdriver.server.registration_plan import Registration, path_component, plan_registrations
from mockdriver.server.sockets import MAX_PATH_BYTES, EndpointMistake

DRIVER = "mock.csi.example.com"
HOSTILE = [
    "../../etc",
    "/",
    "..",
    ".",
    "...",
    ".hidden",
    "a/b",
    "a%2Fb",
    "a~2Fb",
    "größe 体积",
    "{node}",
    "\n",
]


def endpoint_plan(role: Role = Role.ALL, node_id: str | None = "i-1") -> ListeningPlan:
    """Return the plan of one endpoint."""
    return ListeningPlan(Path("/run/csi.sock"), role, node_id)


def folder_plan(*node_ids: str, role: Role = Role.CONTROLLER) -> ListeningPlan:
    """Return the plan of an endpoint and nodes in a folder."""
    sockets = {id: Path(f"/run/nodes/{place}.sock") for place, id in enumerate(node_ids)}
    return ListeningPlan(Path("/run/csi.sock"), role, "i-1", sockets, Path("/run/nodes"))


def planned(
    plan: ListeningPlan, folder: str = "/reg", csi_socket: str | None = None
) -> tuple[Registration, ...]:
    """Return what would be registered."""
    return plan_registrations(plan, folder=folder, csi_socket=csi_socket, driver_name=DRIVER)


def refusal(plan: ListeningPlan, folder: str = "/reg", csi_socket: str | None = None) -> str:
    """Return why nothing would be registered."""
    with pytest.raises(EndpointMistake) as refused:
        planned(plan, folder, csi_socket)
    return str(refused.value)


# ------------------------------------------------------------------------------------ which nodes


@pytest.mark.parametrize("role", [Role.ALL, Role.NODE])
def test_the_node_of_the_endpoint_is_registered(role: Role) -> None:
    assert planned(endpoint_plan(role)) == (
        Registration(Path(f"/reg/{DRIVER}-reg.sock"), "i-1", "/run/csi.sock"),
    )


def test_a_controller_alone_has_nothing_to_register() -> None:
    assert refusal(endpoint_plan(Role.CONTROLLER)) == (
        "--kubelet-registration-dir: a kubelet registers a Node service, and --role controller has "
        "none; use --role node or all, or serve nodes by --node-socket-dir"
    )


@pytest.mark.parametrize("plan", [endpoint_plan(node_id=None), folder_plan()])
def test_a_scenario_without_instances_has_nothing_to_register(plan: ListeningPlan) -> None:
    assert refusal(plan) == "--kubelet-registration-dir: the scenario has no instance to register"


@pytest.mark.parametrize("role", [Role.ALL, Role.CONTROLLER, Role.NODE])
def test_nodes_of_a_folder_are_registered_each_with_its_own_sockets(role: Role) -> None:
    assert planned(folder_plan("i-2", "rack/3", role=role), "/kubelets/{node}/reg") == (
        Registration(Path(f"/kubelets/i-2/reg/{DRIVER}-reg.sock"), "i-2", "/run/nodes/0.sock"),
        Registration(
            Path(f"/kubelets/rack~2F3/reg/{DRIVER}-reg.sock"), "rack/3", "/run/nodes/1.sock"
        ),
    )


@pytest.mark.parametrize("folder", ["/reg", "/{node}/..", "/reg/{node}/../x"])
def test_several_nodes_at_one_path_are_refused(folder: str) -> None:
    assert refusal(folder_plan("i-1", "i-2", "i-3"), folder) == (
        f"--kubelet-registration-dir {folder!r}: 3 nodes would share one registration socket; put "
        "{node} into the path, which stands for each node's id, or choose one node by --nodes"
    )


def test_one_node_of_a_folder_needs_no_path_of_its_own() -> None:
    assert [item.node_id for item in planned(folder_plan("i-2"))] == ["i-2"]


# -------------------------------------------------------------- the placeholder for a node's id


@pytest.mark.parametrize("node_id", HOSTILE)
def test_any_id_is_one_harmless_name_in_a_path(node_id: str) -> None:
    name = path_component(node_id)

    assert "/" not in name
    assert "%" not in name  # gRPC in Go would decode it
    assert not name.startswith(".")
    assert name.isascii()
    assert name.isprintable()
    (registration,) = planned(endpoint_plan(node_id=node_id), "/kubelets/{node}")
    assert registration.path.parent.parent == Path("/kubelets")


@pytest.mark.parametrize("before", ["", ".", "x."])
def test_no_id_leads_out_of_the_folder_whatever_stands_beside_it(before: str) -> None:
    (registration,) = planned(endpoint_plan(node_id="."), f"/kubelets/{before}{{node}}")

    assert registration.path.parent == Path(f"/kubelets/{before}~2E")


def test_different_ids_have_different_names() -> None:
    assert len({path_component(id) for id in HOSTILE}) == len(HOSTILE)


def test_an_id_that_looks_like_the_placeholder_is_not_replaced_again() -> None:
    (registration,) = planned(endpoint_plan(node_id="{node}"), "/{node}/x", "/{node}.sock")

    assert registration.path.parent == Path("/~7Bnode~7D/x")
    assert registration.endpoint == "/~7Bnode~7D.sock"


# ------------------------------------------------------------------------------------- the folder


def test_a_relative_folder_is_below_the_working_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/usr")

    (registration,) = planned(endpoint_plan(), "reg")

    assert registration.path == Path(f"/usr/reg/{DRIVER}-reg.sock")


def test_an_empty_folder_is_refused() -> None:
    assert refusal(endpoint_plan(), "") == (
        "--kubelet-registration-dir: is empty, want a folder that a kubelet watches"
    )


def test_a_registration_socket_has_at_most_107_bytes() -> None:
    longest = "/" + "f" * (MAX_PATH_BYTES - len(f"//{DRIVER}-reg.sock"))
    (registration,) = planned(endpoint_plan(), longest)
    assert len(os.fsencode(registration.path)) == MAX_PATH_BYTES

    assert refusal(endpoint_plan(), f"{longest}f") == (
        f"--kubelet-registration-dir: endpoint '{longest}f/{DRIVER}-reg.sock': has 108 bytes, a "
        "Unix socket's path has at most 107; choose a shorter folder"
    )


def test_the_longest_id_decides() -> None:
    assert "has 273 bytes" in refusal(folder_plan("i-1", "ü" * 40), "/k/{node}")


# --------------------------------------------------------------- the socket as the kubelet sees it


@pytest.mark.parametrize(
    "written", ["/seen/csi.sock", "unix:///seen/csi.sock", "unix:/seen/csi.sock"]
)
def test_a_kubelet_is_told_the_plain_path_that_it_sees(written: str) -> None:
    (registration,) = planned(endpoint_plan(), csi_socket=written)

    assert registration.endpoint == "/seen/csi.sock"


def test_nodes_may_have_the_same_path_in_the_eyes_of_their_kubelets() -> None:
    two = folder_plan("i-1", "i-2")

    same = planned(two, "/{node}", "/csi/csi.sock")
    own = planned(two, "/{node}", "/csi/{node}.sock")

    assert [item.endpoint for item in same] == ["/csi/csi.sock"] * 2
    assert [item.endpoint for item in own] == ["/csi/i-1.sock", "/csi/i-2.sock"]


@pytest.mark.parametrize(
    "written", ["csi.sock", "unix:csi.sock", "", "tcp://127.0.0.1:1", "{node}/x"]
)
def test_a_path_that_is_not_absolute_is_refused(written: str) -> None:
    assert refusal(endpoint_plan(), csi_socket=written) == (
        f"--kubelet-csi-socket {written!r}: must be an absolute path, as the kubelet sees it"
    )


def test_a_path_that_is_too_long_for_the_kubelet_is_refused() -> None:
    path = "/" + "s" * MAX_PATH_BYTES

    assert refusal(endpoint_plan(), csi_socket=path).startswith(
        f"--kubelet-csi-socket: endpoint '{path}': has 108 bytes"
    )


def test_a_path_that_is_no_text_cannot_be_told_to_a_kubelet() -> None:
    plan = ListeningPlan(Path(os.fsdecode(b"/run/\xff.sock")), Role.ALL, "i-1")

    assert refusal(plan) == (
        "endpoint '/run/\\udcff.sock': a kubelet can be told of paths in UTF-8 only; choose "
        "another path, or give --kubelet-csi-socket"
    )
    assert planned(plan, csi_socket="/csi.sock")[0].endpoint == "/csi.sock"
