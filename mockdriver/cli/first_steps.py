"""Lines to copy into a second terminal, for whoever meets the driver for the first time."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote


def grpcurl_lines(
    path: Path,
    node_id: str | None,
    topology: Mapping[str, str],
    *,
    controller_flow: bool,
    volumes: bool,
) -> list[str]:
    """Return grpcurl commands that walk through a registration and a publish.

    `topology` is the node's: a volume has to be made in its zone to be published there. With
    `controller_flow` the node registers as in KEP-6011; without `volumes` there are none to make.
    """
    if node_id is None:
        return [_grpcurl(path, "Identity/GetPluginInfo", {})]
    capability = {"mount": {}, "access_mode": {"mode": "SINGLE_NODE_WRITER"}}
    create = {
        "name": "pvc-1",
        "volume_capabilities": [capability],
        "accessibility_requirements": {"requisite": [{"segments": dict(topology)}]},
    }
    publish = {
        "volume_id": "vol-00000001",
        "node_id": node_id,
        "volume_capability": capability,
    }
    registration = [
        "Ask the node for all it knows:",
        _grpcurl(path, "Node/NodeGetInfo", {}),
    ]
    if controller_flow:
        registration = [
            "Ask the node for its id only, then the controller for the rest (KEP-6011):",
            _grpcurl(path, "Node/NodeGetInfo", {"controller_get_node_info": True}),
            _grpcurl(path, "Controller/ControllerGetNodeInfo", {"node_id": node_id}),
        ]
    if not volumes:
        return registration
    return [
        *registration,
        "Make a volume and publish it on the node:",
        _grpcurl(path, "Controller/CreateVolume", create),
        _grpcurl(path, "Controller/ControllerPublishVolume", publish),
    ]


def _grpcurl(path: Path, rpc: str, request: object) -> str:
    body = shlex.quote(json.dumps(request))
    # grpcurl takes the path for a part of a URL
    socket = shlex.quote(quote(os.fsencode(path)))
    return f"  grpcurl -plaintext -unix -d {body} {socket} csi.v1.{rpc}"
