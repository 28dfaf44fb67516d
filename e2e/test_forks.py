"""A sidecar from a source tree of one's own, and flags of one's own, run against mockdriver."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from e2e.cluster.cluster import Cluster
from e2e.cluster.programs import Programs
from tools import kubernetes_programs
from tools.go_toolchain import go, go_environment
from tools.kubernetes_programs import BINARIES, MODULE

ATTACHER = "github.com/kubernetes-csi/external-attacher/v4"

SCENARIO = """
scenario: one-node
cloud:
  instances: [{id: i-1}]
  disks: [{id: vol-1}]
"""


@pytest.fixture(scope="module")
def fork(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A source tree of the attacher in which one message is another."""
    go_list = [str(go(MODULE.go_version)), "list", "-m", "-f", "{{.Dir}}", ATTACHER]
    listed = subprocess.run(
        go_list,
        cwd=MODULE.folder,
        env=go_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    folder = tmp_path_factory.mktemp("fork") / "external-attacher"
    shutil.copytree(listed.stdout.strip(), folder)
    source = folder / "pkg" / "controller" / "csi_handler.go"
    source.chmod(0o644)
    text = source.read_text(encoding="utf-8")
    assert text.count('"Starting attach operation"') == 1
    source.write_text(text.replace('"Starting attach operation"', '"Attaching as a fork does"'))
    return folder


def test_an_attacher_that_is_built_from_a_fork_attaches(
    cluster: Cluster, fork: Path, tmp_path: Path
) -> None:
    built = tmp_path / "programs"
    arguments = ["--replace", f"{ATTACHER}={fork}", "--into", str(built)]
    kubernetes_programs.main(arguments)
    assert [path.name for path in built.iterdir()] == ["csi-attacher"]
    (built / "csi-attacher.flags").write_text("--worker-threads=1\n\n--retry-interval-max=7s\n")

    with cluster.bench(programs=Programs((built, BINARIES))) as bench:
        scenario = bench.folder / "scenario.yaml"
        scenario.write_text(SCENARIO)
        bench.start_driver(scenario)
        attacher = bench.start_sidecar("csi-attacher")
        bench.start_nodes(["i-1"])
        bench.namespace.claim_disk("vol-1")
        bench.namespace.start_pod("pod", claims=["vol-1"])
        bench.namespace.wait_until_ready("pod")

        attacher.process.wait_for_words("Attaching as a fork does")
        log = attacher.process.last_words(100_000)
        assert 'version="v4.13.0+fork"' in log
        command = Path(f"/proc/{attacher.process.pid}/cmdline").read_text().split("\0")
        assert {"--worker-threads=1", "--retry-interval-max=7s"} <= set(command)
