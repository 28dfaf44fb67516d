"""Installing a distribution into an environment of its own, and running what is there."""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Iterable
from pathlib import Path

from tests.packaging.tree import ROOT


def install(source: str | Path, folder: Path, environment: dict[str, str], *others: str) -> Path:
    """Install `source`, and others, into a new environment; return its Python."""
    # Without a pip of its own: ours installs into it, and making it takes no time.
    venv.create(folder / "venv", with_pip=False, symlinks=True)
    python = folder / "venv" / "bin" / "python"
    pip("--python", python, "install", "--quiet", source, *others, cwd=folder, env=environment)
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
