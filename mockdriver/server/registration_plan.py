"""Which kubelets are told of which node, and where; planned before anything is made."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from mockdriver.driver.driver import Role
from mockdriver.server.listening import ListeningPlan
from mockdriver.server.sockets import EndpointMistake, parse_endpoint, require_short

FOLDER_OPTION = "--kubelet-registration-dir"
SOCKET_OPTION = "--kubelet-csi-socket"

NODE = "{node}"
"""Stands for the node's id in both options."""


@dataclass(frozen=True)
class Registration:
    """What one kubelet finds: the registration socket, and where it says that the CSI socket is.

    `endpoint` is the path as the kubelet sees it, which may be in another mount namespace.
    """

    path: Path
    node_id: str
    endpoint: str


def plan_registrations(
    plan: ListeningPlan, *, folder: str, csi_socket: str | None, driver_name: str
) -> tuple[Registration, ...]:
    """Return what to register for what the two options say; raises EndpointMistake.

    Registered are the nodes of --node-socket-dir, or without it the endpoint's node.
    """
    planned = tuple(
        Registration(
            path=_registration_path(folder, node_id, driver_name),
            node_id=node_id,
            endpoint=_as_the_kubelet_sees_it(path, csi_socket, node_id),
        )
        for node_id, path in _csi_sockets(plan).items()
    )
    if len({registration.path for registration in planned}) < len(planned):
        raise EndpointMistake(
            f"{FOLDER_OPTION} {folder!r}: {len(planned)} nodes would share one registration "
            f"socket; put {NODE} into the path, which stands for each node's id, or choose one "
            "node by --nodes"
        )
    return planned


def path_component(node_id: str) -> str:
    """Return a node's id as one name in a path, different for each id.

    All but letters, digits, `-`, `_` and dots is encoded as in URLs, with `~` in the place of `%`:
    gRPC in Go, and so a kubelet, takes a socket's path for a URL and decodes what has a `%`. A dot
    at the start is encoded too: no id leads to another folder.
    """
    encoded = quote(node_id, safe="").replace("~", "%7E").replace("%", "~")
    return f"~2E{encoded[1:]}" if encoded.startswith(".") else encoded


def _csi_sockets(plan: ListeningPlan) -> Mapping[str, Path]:
    """Return the CSI socket of each node to register; raises EndpointMistake if there is none."""
    if plan.folder is not None:
        sockets = dict(plan.node_sockets)
    elif plan.role is Role.CONTROLLER:
        raise EndpointMistake(
            f"{FOLDER_OPTION}: a kubelet registers a Node service, and --role controller has "
            "none; use --role node or all, or serve nodes by --node-socket-dir"
        )
    elif plan.node_id is None or plan.endpoint is None:
        sockets = {}
    else:
        sockets = {plan.node_id: plan.endpoint}
    if not sockets:
        raise EndpointMistake(f"{FOLDER_OPTION}: the scenario has no instance to register")
    return sockets


def _registration_path(folder: str, node_id: str, driver_name: str) -> Path:
    if not folder:
        raise EndpointMistake(f"{FOLDER_OPTION}: is empty, want a folder that a kubelet watches")
    absolute = os.path.abspath(folder.replace(NODE, path_component(node_id)))  # noqa: PTH100 - Path.absolute() keeps `..`
    path = Path(absolute) / f"{driver_name}-reg.sock"
    try:
        require_short(path)
    except EndpointMistake as mistake:
        raise EndpointMistake(f"{FOLDER_OPTION}: {mistake}") from None
    return path


def _as_the_kubelet_sees_it(path: Path, csi_socket: str | None, node_id: str) -> str:
    if csi_socket is not None:
        if not csi_socket.removeprefix("unix:").startswith("/"):
            raise EndpointMistake(
                f"{SOCKET_OPTION} {csi_socket!r}: must be an absolute path, as the kubelet sees it"
            )
        try:
            path = parse_endpoint(csi_socket.replace(NODE, path_component(node_id)))
        except EndpointMistake as mistake:
            raise EndpointMistake(f"{SOCKET_OPTION}: {mistake}") from None
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise EndpointMistake(
            f"endpoint {str(path)!r}: a kubelet can be told of paths in UTF-8 only; choose another "
            f"path, or give {SOCKET_OPTION}"
        ) from None
    return str(path)
