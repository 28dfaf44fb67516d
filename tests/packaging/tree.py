"""The project's own files, as a clone would have them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def files() -> list[Path]:
    """Return the paths, from the root, of all files that are committed or about to be."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    paths = {Path(name) for name in listed.split("\0") if name}
    return sorted(path for path in paths if (ROOT / path).is_file())


def copy_to(folder: Path) -> Path:
    """Copy these files, and nothing that building or testing has made, into `folder`."""
    for path in files():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, target)
    return folder
