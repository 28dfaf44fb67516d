"""The built distributions, installed where nothing but them can be imported, do run.

Everything here starts from a copy of the files that a clone would have. Builds are isolated, as
they are for a user; the versions of what pip downloads are held to the lock, so that a release of
somebody else's does not change what is tested.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import venv
import zipfile
from collections.abc import Iterable
from pathlib import Path

import pytest

from hatch_build import GENERATED
from mockdriver import __version__
from tests.packaging.locks import read_lock
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
def clean_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_to(tmp_path_factory.mktemp("clean-tree"))


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    constraints = tmp_path_factory.mktemp("constraints") / "constraints.txt"
    locked = read_lock("run")
    constraints.write_text("".join(f"{name}=={lock.version}\n" for name, lock in locked.items()))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {
        **kept,
        "PIP_CONSTRAINT": str(constraints),
        "PIP_BUILD_CONSTRAINT": str(constraints),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


@pytest.fixture(scope="module")
def sdist(clean_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", target, cwd=clean_tree)
    return only(target.glob("mockdriver-*.tar.gz"))


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from what the sdist holds, as a release is made."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    source = only(folder.glob("mockdriver-*"))
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
    return only(folder.glob("mockdriver-*.whl"))


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


def install(source: Path, folder: Path, environment: dict[str, str]) -> Path:
    """Install `source` with what it needs into a new environment; return its Python."""
    # Without a pip of its own: ours installs into it, and making it takes no time.
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    pip("--python", python, "install", "--quiet", source, cwd=folder, env=environment)
    return python


def pip(*arguments: str | Path, cwd: Path, env: dict[str, str]) -> str:
    return run(sys.executable, "-m", "pip", *arguments, cwd=cwd, env=env)


def run(*command: str | Path, cwd: Path, env: dict[str, str] | None = None) -> str:
    """Run a program and return what it printed; show that when it fails."""
    assert cwd.resolve() != ROOT, "there, Python would import the source tree"
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def only(paths: Iterable[Path]) -> Path:
    (path,) = paths
    return path
