"""The browser of the page's tests: `python -m tools.chromium` finds one, or installs Debian's.

Playwright's own browsers are not taken: they come from a place that is no package registry, and
Debian's security updates its chromium. Standard library only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.one_at_a_time import one_at_a_time

VARIABLE = "MOCKDRIVER_CHROMIUM"
"""Names the program, for a machine where it lies elsewhere."""

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
OF_MACOS = (
    Path("/Applications/Chromium.app/Contents/MacOS/Chromium"),
    Path("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"),
)

_NO_QUESTIONS = {"DEBIAN_FRONTEND": "noninteractive"}


def program() -> Path:
    """Return the browser, installed first if there is none and that is possible.

    Ends the program with what to do where it is not.
    """
    found = find()
    if found is not None:
        return found
    with one_at_a_time("chromium"):
        return find() or _install()


def find() -> Path | None:
    """Return a browser that is there, or None."""
    named = os.environ.get(VARIABLE)
    if named:
        path = shutil.which(named)
        if path is None:
            sys.exit(f"chromium: {VARIABLE}={named!r} is no program")
        return Path(path)
    on_path = (shutil.which(name) for name in NAMES)
    return next((Path(path) for path in on_path if path), None) or next(
        (path for path in OF_MACOS if path.exists()), None
    )


def flags() -> list[str]:
    """Return the flags for tests: nothing that talks to the world, and what this machine needs."""
    quiet = [
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-gpu",
        "--disable-quic",
        "--disable-sync",
        "--no-first-run",
    ]
    # Its sandbox refuses to run as root, which is what CI and containers are.
    return [*quiet, "--no-sandbox"] if os.geteuid() == 0 else quiet


def _install() -> Path:
    hint = (
        f"install one ({', '.join(NAMES)}), or say by {VARIABLE} where it is; "
        "on Debian: apt-get install chromium"
    )
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        sys.exit(f"chromium: the page's tests need a Chromium, and there is none: {hint}")
    print("chromium: installing Debian's package", flush=True)
    install = ["apt-get", "install", "--yes", "--quiet", "--no-install-recommends", "chromium"]
    if _run(install) != 0:
        # Lists of packages that are missing or old.
        _run(["apt-get", "update", "--quiet"])
        if _run(install) != 0:
            sys.exit(f"chromium: apt-get could not install it: {hint}")
    found = find()
    if found is None:
        sys.exit(f"chromium: Debian's package is installed, but has no program: {hint}")
    return found


def _run(command: Sequence[str]) -> int:
    done = subprocess.run(
        command, env={**os.environ, **_NO_QUESTIONS}, stdout=subprocess.DEVNULL, check=False
    )
    return done.returncode


if __name__ == "__main__":
    print(program())
