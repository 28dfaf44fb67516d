"""A folder of which every file is known, so that a change anywhere in it is noticed."""

from __future__ import annotations

import os
import stat
from pathlib import Path

State = dict[str, tuple[object, ...]]


def state_of(root: Path) -> State:
    """Return, by path, kind, mode, inode and content of all that is in a folder, links as such."""
    found: State = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = Path(folder, name)
            status = path.lstat()
            found[str(path)] = (
                stat.filemode(status.st_mode),
                status.st_ino,
                _content(path, status.st_mode),
            )
    return found


def _content(path: Path, mode: int) -> object:
    if stat.S_ISLNK(mode):
        return path.readlink()
    return path.read_bytes() if stat.S_ISREG(mode) else None


def canaries(root: Path) -> Path:
    """Make a folder of things that nobody may touch: files, folders, links; return it."""
    folder = root / "canaries"
    (folder / "full" / "deep").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "full" / "deep" / "bird").write_text("sings")
    (folder / "bird").write_text("sings")
    (folder / "nothing-in-it").touch()
    (folder / "to-the-full").symlink_to(folder / "full")
    (folder / "to-a-bird").symlink_to("bird")
    (folder / "to-nowhere").symlink_to("no-such")
    return folder
