"""The built distributions, installed where nothing but them can be imported, do run."""

from __future__ import annotations

import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from hatch_build import GENERATED
from mockdriver import __version__
from tests.packaging.installing import install, run
from tests.packaging.tree import ROOT, copy_to, files

pytestmark = pytest.mark.packaging

PACKAGES = ("csi_spec", "kubelet_spec", "mockdriver")
PROTOS = {"csi_spec/csi.proto", "kubelet_spec/pluginregistration.proto"}

# Run in the installed environment: where the packages come from, and that they fit together.
USE = """
import pathlib
import csi_spec, kubelet_spec, mockdriver
from csi_spec import csi_pb2, csi_pb2_grpc
assert csi_pb2.NodeGetInfoRequest(controller_get_node_info=True).ByteSize() == 2
assert csi_pb2_grpc.ControllerServicer.ControllerGetNodeInfo
from kubelet_spec import pluginregistration_pb2, pluginregistration_pb2_grpc
assert pluginregistration_pb2_grpc.RegistrationStub
for module in (mockdriver, csi_spec, csi_pb2, kubelet_spec, pluginregistration_pb2):
    print(pathlib.Path(module.__file__).resolve())
"""


@pytest.fixture(scope="module")
def installed_wheel(
    wheel: Path, environment: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The Python of a new environment that the wheel, and what it needs, were installed into."""
    return install(wheel, tmp_path_factory.mktemp("from-wheel"), environment)


@pytest.mark.parametrize("command", [["mockdriver"], ["python", "-m", "mockdriver"]])
def test_an_installed_wheel_tells_its_version(
    installed_wheel: Path, command: list[str], tmp_path: Path
) -> None:
    program, *arguments = command

    answer = run(installed_wheel.parent / program, *arguments, "--version", cwd=tmp_path)

    assert __version__ in answer


def test_an_installed_wheel_is_used_from_where_it_was_installed(
    installed_wheel: Path, tmp_path: Path
) -> None:
    answer = run(installed_wheel, "-c", USE, cwd=tmp_path)

    environment_folder = installed_wheel.parent.parent.resolve()
    assert len(answer.split()) == 5
    assert all(Path(line).is_relative_to(environment_folder) for line in answer.split())


def test_an_installed_wheel_finds_the_scenarios_it_brought(
    installed_wheel: Path, tmp_path: Path
) -> None:
    answer = run(installed_wheel.parent / "mockdriver", "scenarios", cwd=tmp_path)

    for path in scenario_files():
        assert path.stem in answer


@pytest.mark.parametrize("extra", ["dashboard", "metrics"])
def test_an_installed_wheel_without_an_extra_says_what_to_install(
    extra: str, installed_wheel: Path, tmp_path: Path
) -> None:
    program = str(installed_wheel.parent / "mockdriver")
    command = [program, "serve", f"--{extra}", "127.0.0.1:0"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)

    assert done.returncode == 1
    assert done.stderr.endswith(f"pip install 'mockdriver[{extra}]'\n")


def test_the_extras_bring_what_page_and_metrics_need(
    wheel: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    python = install(f"{wheel}[dashboard,metrics]", tmp_path, environment)

    code = "import mockdriver.metrics.endpoint, mockdriver.dashboard.app as app; print(app.STATIC)"
    static = Path(run(python, "-c", code, cwd=tmp_path).strip())
    assert static.is_relative_to(tmp_path.resolve())
    there = {path.name for path in (ROOT / "mockdriver" / "dashboard" / "static").iterdir()}
    assert {path.name for path in static.iterdir()} == there


def test_pip_installs_from_the_sdist(
    sdist: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    python = install(sdist, tmp_path, environment)

    assert __version__ in run(python.parent / "mockdriver", "--version", cwd=tmp_path)
    assert str(tmp_path.resolve()) in run(python, "-c", USE, cwd=tmp_path)


def test_pip_installs_from_a_clone_and_leaves_it_as_it_was(
    environment: dict[str, str], tmp_path: Path
) -> None:
    clone = copy_to(tmp_path / "clone")

    python = install(clone, tmp_path, environment)

    assert __version__ in run(python.parent / "mockdriver", "--version", cwd=tmp_path)
    assert str(tmp_path / "venv") in run(python, "-c", USE, cwd=tmp_path)
    left = {path.relative_to(clone) for path in clone.rglob("*") if path.is_file()}
    assert {path for path in left if "__pycache__" not in path.parts} == set(files())


def test_the_wheel_holds_the_packages_with_stubs_and_scenarios_and_nothing_else(
    wheel: Path,
) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())

    assert set(GENERATED) <= names
    assert {f"{package}/py.typed" for package in PACKAGES} <= names
    assert names >= PROTOS
    assert {f"mockdriver/{path}" for path in scenario_files()} <= names
    python_files = {str(path) for path in files() if path.parts[0] in PACKAGES}
    assert python_files <= names
    tops = {name.split("/")[0] for name in names}
    assert tops == {*PACKAGES, f"mockdriver-{__version__}.dist-info"}


def test_the_sdist_holds_the_sources_and_nothing_generated(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        names = {str(Path(*Path(name).parts[1:])) for name in archive.getnames()}

    assert PROTOS | {"hatch_build.py", "pyproject.toml", "LICENSE"} <= names
    assert {str(path) for path in scenario_files()} <= names
    assert [name for name in names if name.endswith(GENERATED)] == []


def scenario_files() -> list[Path]:
    found = [path for path in files() if path.parts[0] == "scenarios" and path.suffix == ".yaml"]
    assert found
    return found
