"""The distributions, built once for all tests.

Everything here starts from a copy of the files that a clone would have. Builds are isolated, as
they are for a user; the versions of what pip downloads are held to the lock, so that a release of
somebody else's does not change what is tested.
"""

from __future__ import annotations

import os
import sys
import tarfile
from pathlib import Path

import pytest

from tests.packaging.installing import only, run
from tests.packaging.locks import read_lock
from tests.packaging.tree import copy_to


@pytest.fixture(scope="session")
def clean_tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_to(tmp_path_factory.mktemp("clean-tree"))


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    constraints = tmp_path_factory.mktemp("constraints") / "constraints.txt"
    locked = read_lock("dev")
    constraints.write_text("".join(f"{name}=={lock.version}\n" for name, lock in locked.items()))
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {
        **kept,
        "PIP_CONSTRAINT": str(constraints),
        "PIP_BUILD_CONSTRAINT": str(constraints),
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }


@pytest.fixture(scope="session")
def sdist(clean_tree: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("sdist")
    run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", target, cwd=clean_tree)
    return only(target.glob("mockdriver-*.tar.gz"))


@pytest.fixture(scope="session")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel built from what the sdist holds, as a release is made."""
    folder = tmp_path_factory.mktemp("wheel")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder, filter="data")
    source = only(folder.glob("mockdriver-*"))
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
    return only(folder.glob("mockdriver-*.whl"))
