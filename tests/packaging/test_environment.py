"""What `make serve` and `make test` do first, on a machine where nothing is set up."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest

from mockdriver import __version__
from tests.packaging.tree import ROOT, copy_to

# Where the machine's network settings may lie; everything else of our environment is left out.
KEPT = ("PATH", "PIP_", "SSL_", "HTTP", "http", "NO_PROXY", "no_proxy", "REQUESTS_CA")


@dataclass(frozen=True)
class Clone:
    """A clone that has set itself up once."""

    folder: Path
    environment: dict[str, str]
    first_output: str

    def run(self, *command: str) -> str:
        return run(*command, cwd=self.folder, env=self.environment)


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Clone:
    kept = {name: value for name, value in os.environ.items() if name.startswith(KEPT)}
    environment = {**kept, "HOME": str(tmp_path_factory.mktemp("empty-home"))}
    folder = copy_to(tmp_path_factory.mktemp("clone"))
    output = run("make", "environment-run", cwd=folder, env=environment)
    return Clone(folder, environment, output)


@pytest.mark.packaging
def test_a_clone_sets_itself_up_with_an_empty_home(clone: Clone) -> None:
    assert "installing requirements/run.lock" in clone.first_output
    assert __version__ in clone.run(".venv/bin/mockdriver", "--version")


@pytest.mark.packaging
def test_what_is_set_up_already_is_left_alone(clone: Clone) -> None:
    assert clone.run("make", "environment-run") == ""


@pytest.mark.packaging
def test_a_changed_proto_is_compiled_again_without_a_new_environment(clone: Clone) -> None:
    proto = clone.folder / "csi_spec" / "csi.proto"
    proto.write_text(proto.read_text() + "\nmessage Invented {}\n")

    assert clone.run("make", "environment-run").splitlines() == [
        "environment: compiling the protos, installing mockdriver (editable)"
    ]
    clone.run(".venv/bin/python", "-c", "from csi_spec import csi_pb2; csi_pb2.Invented()")


def test_an_old_python_is_refused_in_one_line(tmp_path: Path) -> None:
    old = tmp_path / "python-of-old"
    old.write_text("#!/bin/sh\nexit 1\n")  # how any Python answers the question for its version
    old.chmod(0o755)

    answer = subprocess.run(
        [ROOT / "tools" / "find-python"],
        env={**os.environ, "PYTHON": str(old)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert answer.returncode == 1
    assert answer.stderr == (
        f"mockdriver needs Python 3.11 or newer, and PYTHON={old} is not one\n"
    )


def run(*command: str, cwd: Path, env: dict[str, str]) -> str:
    """Run a program and return what it printed; show that when it fails."""
    done = subprocess.run(command, cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done.stdout
