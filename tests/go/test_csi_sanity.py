"""csi-sanity, the ecosystem's own suite, finds nothing wrong with the driver.

It refuses capabilities whose numbers it does not know, so the scenario csi-sanity has the two of
KEP-6011 off.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.serving import Serving, serving
from tools.go_programs import program

pytestmark = pytest.mark.go

ATTACH_LIMIT = "should fail when publishing more volumes than the node max attach limit"
"""The name of the spec that publishes as many volumes as NodeGetInfo reports, and one more."""


CALLS_WITH_SECRETS = [
    *("CreateVolume", "DeleteVolume", "ControllerPublishVolume", "ControllerUnpublishVolume"),
    *("ControllerValidateVolumeCapabilities", "NodeStageVolume", "NodePublishVolume"),
]


@dataclass(frozen=True)
class Report:
    """What csi-sanity came to: how many specs ended how, and what it printed."""

    states: Counter[str]
    states_by_name: dict[str, str]
    printed: str


@pytest.fixture(scope="session")
def csi_sanity() -> Path:
    """Path of csi-sanity, at the version that tools/go/csi-sanity pins."""
    return program("csi-sanity")


def check(csi_sanity: Path, server: Serving, *flags: str, seed: int = 1) -> Report:
    """Run csi-sanity with all specs in an order that `seed` chooses."""
    report = server.folder / "report.json"
    # Where it makes its folders unless it is told.
    temporary = server.folder / "temporary"
    temporary.mkdir(exist_ok=True)
    done = subprocess.run(
        [
            csi_sanity,
            *flags,
            "--csi.testnodevolumeattachlimit",
            "--ginkgo.no-color",
            "--ginkgo.randomize-all",
            f"--ginkgo.seed={seed}",
            f"--ginkgo.json-report={report}",
        ],
        cwd=server.folder,
        env={**os.environ, "TMPDIR": str(temporary)},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    (suite,) = json.loads(report.read_text(encoding="utf-8"))
    specs = [item for item in suite["SpecReports"] if item["LeafNodeType"] == "It"]
    assert done.returncode == 0, done.stdout
    assert list(temporary.iterdir()) == []
    return Report(
        states=Counter(item["State"] for item in specs),
        states_by_name={item["LeafNodeText"]: item["State"] for item in specs},
        printed=done.stdout,
    )


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_nothing_fails_in_any_order(csi_sanity: Path, seed: int) -> None:
    with serving("--scenario", "csi-sanity") as server:
        report = check(csi_sanity, server, f"--csi.endpoint={server.path}", seed=seed)
    assert set(report.states) <= {"passed", "skipped", "pending"}
    assert report.states["passed"] > 50


def test_nothing_fails_in_folders_of_a_user_s_choice(csi_sanity: Path) -> None:
    with serving("--scenario", "csi-sanity") as server:
        chosen = server.folder / "chosen"
        chosen.mkdir()
        folders = [f"--csi.mountdir={chosen}/mount", f"--csi.stagingdir={chosen}/staging"]
        report = check(csi_sanity, server, f"--csi.endpoint={server.path}", *folders)
        assert list(chosen.iterdir()) == []
    assert report.states["failed"] == 0


def test_nothing_fails_with_block_volumes(csi_sanity: Path) -> None:
    with serving("--scenario", "csi-sanity") as server:
        flags = ["--csi.testvolumeaccesstype=block", f"--csi.endpoint={server.path}"]
        report = check(csi_sanity, server, *flags)
    assert report.states["failed"] == 0
    assert report.states_by_name[ATTACH_LIMIT] == "passed"


def test_nothing_fails_with_parameters_and_the_smallest_size(csi_sanity: Path) -> None:
    with serving("--scenario", "csi-sanity") as server:
        parameters = server.folder / "parameters.yaml"
        parameters.write_text('{max_attachments: "3", anything: else}\n', encoding="utf-8")
        report = check(
            csi_sanity,
            server,
            f"--csi.endpoint={server.path}",
            f"--csi.testvolumeparameters={parameters}",
            f"--csi.testvolumesize={1024**3}",
        )
    assert report.states["failed"] == 0


def test_nothing_fails_with_secrets_and_none_is_told(csi_sanity: Path) -> None:
    with serving("--scenario", "csi-sanity") as server:
        secrets = server.folder / "secrets.yaml"
        secrets.write_text(
            "\n".join(f"{call}Secret: {{key: hunter2}}" for call in CALLS_WITH_SECRETS),
            encoding="utf-8",
        )
        report = check(
            csi_sanity, server, f"--csi.endpoint={server.path}", f"--csi.secrets={secrets}"
        )
        assert server.stop() == 0
        assert "***stripped***" in server.log()
        assert "hunter2" not in server.log() + server.printed()
    assert report.states["failed"] == 0


def test_a_second_run_finds_everything_as_the_first_one_did(csi_sanity: Path) -> None:
    with serving("--scenario", "csi-sanity") as server:
        reports = [check(csi_sanity, server, f"--csi.endpoint={server.path}") for _ in range(2)]
    assert reports[0].states == reports[1].states
    assert reports[1].states_by_name[ATTACH_LIMIT] == "passed"


def test_the_attach_limit_is_tested_and_holds(csi_sanity: Path) -> None:
    with serving("--scenario", "csi-sanity") as server:
        report = check(csi_sanity, server, f"--csi.endpoint={server.path}")
    assert report.states_by_name[ATTACH_LIMIT] == "passed"


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5])
def test_nothing_fails_with_a_controller_on_a_socket_of_its_own(
    csi_sanity: Path, seed: int
) -> None:
    flags = ["--scenario", "csi-sanity", "--role", "controller", "--node-socket-dir", "nodes"]
    with serving(*flags) as server:
        sockets = json.loads((server.folder / "nodes" / "index.json").read_text(encoding="utf-8"))
        report = check(
            csi_sanity,
            server,
            f"--csi.endpoint={sockets['i-sanity']}",
            f"--csi.controllerendpoint={server.path}",
            seed=seed,
        )
    assert report.states["failed"] == 0
    assert report.states_by_name[ATTACH_LIMIT] == "passed"


# Not CREATE_DELETE_VOLUME: csi-sanity creates the volumes of its tests whatever is advertised.
@pytest.mark.parametrize(
    "capabilities",
    [
        "VOLUME_ACCESSIBILITY_CONSTRAINTS",
        "PUBLISH_UNPUBLISH_VOLUME",
        "LIST_VOLUMES",
        "LIST_VOLUMES_PUBLISHED_NODES",
        "GET_VOLUME",
        "GET_CAPACITY",
        "PUBLISH_READONLY",
        # A driver has the modes on both sides or on neither.
        "controller.SINGLE_NODE_MULTI_WRITER node.SINGLE_NODE_MULTI_WRITER",
        "STAGE_UNSTAGE_VOLUME",
        "GET_VOLUME_STATS",
        "VOLUME_MOUNT_GROUP",
    ],
)
def test_nothing_fails_without_a_capability(csi_sanity: Path, capabilities: str) -> None:
    switches = [f"--capability={name}=off" for name in capabilities.split()]
    with serving("--scenario", "csi-sanity", *switches) as server:
        report = check(csi_sanity, server, f"--csi.endpoint={server.path}")
    assert report.states["failed"] == 0
