"""The grpcurl lines that `serve` prints work as they are, copied into a shell."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import Serve
from tests.serving import Serving

pytestmark = pytest.mark.go


def copied(server: Serving, grpcurl: Path) -> list[dict[str, Any]]:
    """Run each printed line in a shell that finds grpcurl on its PATH; return the answers."""
    lines = [line for line in server.printed().splitlines() if line.startswith("  grpcurl ")]
    answers = []
    for line in lines:
        done = subprocess.run(
            ["sh", "-c", line],
            env={**os.environ, "PATH": f"{grpcurl.parent}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, f"{line}\n{done.stderr}"
        answers.append(json.loads(done.stdout))
    return answers


def test_they_walk_through_the_keps_flow_and_a_publish(grpcurl: Path, serve: Serve) -> None:
    flagged, info, made, published = copied(serve(), grpcurl)

    assert flagged == {"node_id": "i-worker-1"}
    assert info["max_volumes_per_node"] == "23"
    assert len(info["published_volume_ids"]) == 10
    assert made["volume"]["volume_id"] == "vol-00000001"
    assert published == {}


def test_they_work_for_a_node_in_any_zone(grpcurl: Path, serve: Serve) -> None:
    server = serve("--scenario", "three-zones", "--node", "i-c")

    _, _, made, published = copied(server, grpcurl)

    zone = made["volume"]["accessible_topology"][0]["segments"][
        "topology.mock.csi.example.com/zone"
    ]
    assert zone == "eu-1c"
    assert published == {}


def test_they_work_for_a_socket_with_an_odd_name_and_a_node_with_quotes(
    grpcurl: Path, serve: Serve
) -> None:
    server = serve(
        endpoint='it\'s a "100%" $HOME #1?.sock',
        scenario="""{scenario: odd, cloud: {instances: [{id: "i-'1' \\"$HOME\\" \\\\ ü"}]}}""",
    )

    flagged, _, _, published = copied(server, grpcurl)

    assert flagged == {"node_id": "i-'1' \"$HOME\" \\ ü"}
    assert published == {}


def test_there_is_a_line_for_a_cloud_without_instances_too(grpcurl: Path, serve: Serve) -> None:
    server = serve("--driver-name", "empty.example.com", scenario="scenario: empty")

    (info,) = copied(server, grpcurl)

    assert info["name"] == "empty.example.com"


def test_a_driver_without_the_controller_flow_shows_the_plain_one(
    grpcurl: Path, serve: Serve
) -> None:
    plain, made, published = copied(serve("--scenario", "csi-sanity"), grpcurl)

    assert plain["node_id"] == "i-sanity"
    assert plain["max_volumes_per_node"] == "24"
    assert made["volume"]["volume_id"] == "vol-00000001"
    assert published == {}
