"""The fixtures for pytest in a project of its own, which has nothing but the wheel."""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.packaging.installing import install, run

pytestmark = pytest.mark.packaging

TESTS = """
import pytest

@pytest.mark.parametrize("nth", range(4))
def test_each_finds_the_driver_as_new(mockdriver, nth):
    mockdriver.cloud.attach("i-worker-1", f"vol-{nth}")
    info = mockdriver.csi.controller.ControllerGetNodeInfo(node_id="i-worker-1")
    assert len(info.published_volume_ids) == 11
    assert mockdriver.calls("ControllerGetNodeInfo").count == 1

@pytest.mark.mockdriver(scenario="small.yaml")
def test_a_scenario_beside_the_test(mockdriver):
    assert mockdriver.csi.node.NodeGetInfo().node_id == "i-small"

def test_two_names(mockdriver_factory):
    names = ["a.example.com", "b.example.com"]
    drivers = [mockdriver_factory(driver_name=name) for name in names]
    assert [driver.csi.identity.GetPluginInfo().name for driver in drivers] == names

def test_that_fails(mockdriver):
    with mockdriver.hold("NodeGetInfo") as held:
        call = mockdriver.csi.node.NodeGetInfo.begin()
        held.wait_for(1)
    assert call.result().node_id == "another"
"""


@pytest.fixture(scope="module")
def python(
    wheel: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The Python of an environment with the wheel, its extra for pytest, and pytest-xdist."""
    folder = tmp_path_factory.mktemp("with-pytest")
    return install(f"{wheel}[pytest]", folder, environment, "pytest-xdist")


@pytest.mark.parametrize("options", [[], ["-n", "2"]], ids=["alone", "xdist"])
def test_a_projects_tests_run(python: Path, options: list[str], tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_orchestrator.py").write_text(TESTS)
    (tmp_path / "tests" / "small.yaml").write_text(
        "scenario: small\ncloud: {instances: [{id: i-small}]}\n"
    )

    done = subprocess.run(
        [python, "-m", "pytest", "--strict-markers", "--strict-config", "-W", "error", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )

    assert "1 failed, 6 passed" in done.stdout, done.stdout + done.stderr
    assert "calls of <mockdriver kep-6011-example at unix:" in done.stdout
    assert 'NodeGetInfo at node i-worker-1 {} -> OK {"accessible' in done.stdout


def test_the_client_and_the_plugin_are_typed_for_the_projects_checker(
    python: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    modules = run(
        python,
        "-c",
        "import mockdriver.testing, mockdriver.client.csi, mockdriver as m; print(m.__path__[0])",
        cwd=tmp_path,
    )

    package = Path(modules.strip())
    assert (package / "py.typed").exists()
    assert (package / "control" / "v1" / "cloud_pb2.pyi").exists()


def test_without_the_extra_pytest_is_not_asked_for(wheel: Path) -> None:
    archive = zipfile.ZipFile(wheel)
    [metadata] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
    needed = re.findall(r"^Requires-Dist: (.*)$", archive.read(metadata).decode(), re.MULTILINE)

    assert [line for line in needed if line.startswith("pytest")] == [
        "pytest>=8.0; extra == 'pytest'"
    ]
