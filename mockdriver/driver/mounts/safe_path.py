"""Paths that a peer names, walked without following a single symbolic link.

A path is untrusted: between a look at it and its use somebody could put a link in the place of a
folder. So each folder is opened relative to the one before it, and the last name is used relative
to its opened parent.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from mockdriver.cloud.errors import quoted
from mockdriver.driver.errors import InvalidField, PathInTheWay

_WALK = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Place:
    """The last name of a path, in its opened parent folder."""

    parent_fd: int
    name: str
    path: str

    def look(self) -> os.stat_result | None:
        """Return what is at the place, a link itself and not its target; None if nothing is."""
        try:
            return os.stat(self.name, dir_fd=self.parent_fd, follow_symlinks=False)
        except FileNotFoundError:
            return None


def checked(field: str, path: str) -> str:
    """Return `path` without what means nothing in it (`//`, `/./`, a slash at the end).

    Raises InvalidField unless it is absolute, has no `..` and no zero byte, and is not the root.
    """
    if not path.startswith("/"):
        raise InvalidField(field, f"must be an absolute path, got {quoted(path)}")
    if "\0" in path:
        raise InvalidField(field, f"must not contain a zero byte: {quoted(path)}")
    names = _names(path)
    if ".." in names:
        raise InvalidField(field, f"must not contain '..': {quoted(path)}")
    if not names:
        raise InvalidField(field, f"must not be the root folder: {quoted(path)}")
    return normal(path)


def normal(path: str) -> str:
    """Return an absolute path without what means nothing in it."""
    return "/" + "/".join(_names(path))


@contextmanager
def opened(field: str, path: str) -> Iterator[Place]:
    """Open the parent folder of a checked path for the length of the block.

    Raises InvalidField if a folder on the way is a symbolic link, PathInTheWay if one is missing
    or no folder.
    """
    *folders, name = _names(path)
    fd = os.open("/", _WALK)
    try:
        walked = ""
        for folder in folders:
            walked += f"/{folder}"
            fd = _enter(field, walked, folder, fd)
        yield Place(fd, name, path)
    finally:
        os.close(fd)


def is_link(found: os.stat_result) -> bool:
    """Tell whether a look found a symbolic link."""
    return stat.S_ISLNK(found.st_mode)


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _enter(field: str, walked: str, folder: str, fd: int) -> int:
    try:
        entered = os.open(folder, _WALK, dir_fd=fd)
    except OSError as error:
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            found = os.stat(folder, dir_fd=fd, follow_symlinks=False)
            if is_link(found):
                raise InvalidField(
                    field, f"{quoted(walked)} is a symbolic link; these are not followed"
                ) from None
            raise PathInTheWay(field, f"{quoted(walked)} is no folder") from None
        if error.errno == errno.ENAMETOOLONG:
            raise InvalidField(field, f"{quoted(walked)} is longer than a name can be") from None
        raise PathInTheWay(
            field, f"the folder {quoted(walked)} cannot be used: {os.strerror(error.errno or 0)}"
        ) from None
    os.close(fd)
    return entered
