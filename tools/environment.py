"""Make or refresh the virtual environment in .venv: `python -m tools.environment run|dev`.

`run` holds what the server needs, `dev` what the tests and linters need too. Every package comes
from a lock with hashes; the project itself is installed editable, which compiles csi.proto. What
is up to date already is left alone, so that calling this before every command costs nothing.

Standard library only: this runs before anything is installed.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

from tools.bare_machine import ROOT, environment
from tools.one_at_a_time import one_at_a_time

VENV = ROOT / ".venv"
VENV_PYTHON = VENV / "bin" / "python"
STAMP = VENV / "mockdriver-environment.json"
LEVELS = ("run", "dev")  # each holds all of the one before
_CONTROL = ("cloud", "faults", "journal", "state")
PROTO_FILES = (
    "csi_spec/csi.proto",
    "kubelet_spec/pluginregistration.proto",
    *(f"mockdriver/control/v1/{name}.proto" for name in _CONTROL),
)
# What the editable install is made from.
PROJECT_FILES = ("pyproject.toml", "hatch_build.py", *PROTO_FILES)
# What the editable install makes: without these it has to be made again.
PROJECT_RESULTS = (
    *(
        file.replace(".proto", ending)
        for file in PROTO_FILES
        for ending in ("_pb2.py", "_pb2_grpc.py")
    ),
    ".venv/bin/mockdriver",
)


def main(level: str) -> None:
    """Bring .venv to `level`; on a failing command its exit code becomes ours."""
    with one_at_a_time("environment"):
        have = _read_stamp()
        base = {"python": sys.version, "place": str(ROOT)}
        if not _same(have, base) or not _same(have, _packages(have["level"])):
            _make_venv()
            have = {}
        if LEVELS.index(have.get("level", level)) < LEVELS.index(level) or not have:
            _install_packages(level)
            have |= base | _packages(level)
        project = {"project": _digest([ROOT / name for name in PROJECT_FILES])}
        if not _same(have, project) or not _project_is_installed():
            _install_project()
        STAMP.write_text(json.dumps(have | project, indent=1), encoding="utf-8")


def _packages(level: str) -> dict[str, str]:
    return {"level": level, "lock": _digest([_lock(level)])}


def _lock(level: str) -> Path:
    return ROOT / "requirements" / f"{level}.lock"


def _digest(files: list[Path]) -> str:
    total = hashlib.sha256()
    for file in files:
        total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def _read_stamp() -> dict[str, str]:
    try:
        stamp: dict[str, str] = json.loads(STAMP.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return stamp if VENV_PYTHON.exists() else {}


def _same(have: dict[str, str], want: dict[str, str]) -> bool:
    return want.items() <= have.items()


def _project_is_installed() -> bool:
    return all((ROOT / name).exists() for name in PROJECT_RESULTS)


def _make_venv() -> None:
    """Start from nothing: a package that left the lock must not linger and hide that it did."""
    print(f"environment: creating .venv with Python {sys.version.split()[0]}", flush=True)
    shutil.rmtree(VENV, ignore_errors=True)
    made = subprocess.run(
        [sys.executable, "-m", "venv", VENV], capture_output=True, text=True, check=False
    )
    if made.returncode == 0:
        return
    # Some distributions split ensurepip off. A venv without pip will do if this Python has one.
    shutil.rmtree(VENV, ignore_errors=True)
    bare = [sys.executable, "-m", "venv", "--without-pip", str(VENV)]
    pip = [sys.executable, "-m", "pip", "--version"]
    for command in (bare, pip):
        if subprocess.run(command, capture_output=True, check=False).returncode != 0:
            sys.exit(
                f"environment: {sys.executable} can make no virtual environment: "
                "install its venv module (on Debian: python3-venv)"
            )


def _install_packages(level: str) -> None:
    print(f"environment: installing requirements/{level}.lock", flush=True)
    _pip("install", "--quiet", "--require-hashes", "--requirement", str(_lock(level)))


def _install_project() -> None:
    print("environment: compiling the protos, installing mockdriver (editable)", flush=True)
    # No isolation: the lock holds what the build needs, with hashes.
    _pip("install", "--quiet", "--no-deps", "--no-build-isolation", "--editable", str(ROOT))
    # pip compiles what it copies, but an editable install stays where it is. Where Python may not
    # write bytecode by itself, each start would compile all of it again.
    subprocess.run(
        [VENV_PYTHON, "-m", "compileall", "-q", "mockdriver", "csi_spec", "kubelet_spec"],
        cwd=ROOT,
        check=False,
    )


def _pip(*arguments: str) -> None:
    own = subprocess.run([VENV_PYTHON, "-m", "pip", "--version"], capture_output=True, check=False)
    if own.returncode == 0:
        pip = [str(VENV_PYTHON), "-m", "pip"]
    else:
        pip = [sys.executable, "-m", "pip", "--python", str(VENV_PYTHON)]
    done = subprocess.run([*pip, *arguments], cwd=ROOT, env=environment(), check=False)
    if done.returncode != 0:
        sys.exit(done.returncode)


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1] not in LEVELS:
        sys.exit(f"usage: python -m tools.environment {'|'.join(LEVELS)}")
    main(sys.argv[1])
