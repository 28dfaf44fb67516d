"""Files that a server makes for others to find, and removes when it ends."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path


class OwnFile:
    """A file that a server has made, a socket for one; it goes away with the server."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._identity = _identity(path)

    def is_there(self) -> bool:
        """Tell whether the file is still at its path, and no other one in its place."""
        return _identity(self._path) == self._identity

    def remove(self) -> None:
        """Remove the file, unless another process has put its own in the place."""
        if self._identity is not None and self.is_there():
            with contextlib.suppress(FileNotFoundError):
                self._path.unlink()


def write_whole(path: Path, text: str) -> OwnFile:
    """Write a file so that readers find all of it or none; raises OSError."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        # Made anew, so that no link that somebody has put there is followed.
        draft.unlink(missing_ok=True)
        with draft.open("x", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
    return OwnFile(path)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        found = os.lstat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
