"""What the tools need to know to work on a machine where nothing is set up.

Standard library only.
"""

from __future__ import annotations

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Downloads and built programs; git-ignored, and safe to delete.
CACHE = Path(os.environ.get("MOCKDRIVER_CACHE") or ROOT / ".cache").resolve()


def environment() -> dict[str, str]:
    """Return our environment with a home folder for the caches of pip and Go, and a quiet pip.

    HOME may be unset, empty, or a folder that does not exist or cannot be written to.
    """
    variables = dict(os.environ)
    home = variables.get("HOME")
    if not home or not os.access(home, os.W_OK | os.X_OK):
        own = CACHE / "home"
        own.mkdir(parents=True, exist_ok=True)
        variables["HOME"] = str(own)
    variables["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    variables["PIP_NO_INPUT"] = "1"
    variables["PIP_ROOT_USER_ACTION"] = "ignore"
    return variables
