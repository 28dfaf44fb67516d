"""Paths that a peer names, walked without following a single symbolic link.

A path is untrusted: between a look at it and its use somebody could put a link in the place of a
folder. So each folder is opened relative to the one before it, and the last name is used relative
to its opened parent. Names are bytes here, UTF-8 as in CSI, whatever the locale says.
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

NAME_BYTES = 255
"""What a name in a folder has at most, on Linux and on macOS."""

# Where there is O_PATH, the permission to pass through a folder is enough; elsewhere it has to be
# readable too.
_WALK = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Place:
    """The last name of a path, in its opened parent folder."""

    parent_fd: int
    name: bytes
    path: str

    def look(self) -> os.stat_result | None:
        """Return what is at the place, a link itself and not its target; None if nothing is."""
        try:
            return os.stat(self.name, dir_fd=self.parent_fd, follow_symlinks=False)
        except FileNotFoundError:
            return None


def checked(field: str, path: str) -> str:
    """Return `path` without what means nothing in it (`//`, `/./`, a slash at the end).

    Raises InvalidField unless it is absolute, has no `..`, no zero byte and no name that is too
    long for any folder, and is not the root.
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
    for name in names:
        if len(name.encode()) > NAME_BYTES:
            raise InvalidField(
                field, f"a name in a path has at most {NAME_BYTES} bytes, got {quoted(name)}"
            )
    return normal(path)


def normal(path: str) -> str:
    """Return an absolute path without what means nothing in it; any other one as it is."""
    return "/" + "/".join(_names(path)) if path.startswith("/") else path


@contextmanager
def opened(field: str, path: str) -> Iterator[Place]:
    """Open the parent folder of a checked path for the length of the block.

    Raises InvalidField if a folder on the way is a symbolic link, PathInTheWay if one is missing,
    is no folder, or cannot be used, and for any OSError of the block.
    """
    *folders, name = _names(path)
    try:
        fd = os.open("/", _WALK)
        try:
            walked = ""
            for folder in folders:
                walked += f"/{folder}"
                fd = _enter(field, walked, folder.encode(), fd)
            yield Place(fd, name.encode(), path)
        finally:
            os.close(fd)
    except OSError as error:
        raise PathInTheWay(field, f"{quoted(path)} cannot be used: {_reason(error)}") from None


def is_link(found: os.stat_result) -> bool:
    """Tell whether a look found a symbolic link."""
    return stat.S_ISLNK(found.st_mode)


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def _enter(field: str, walked: str, folder: bytes, fd: int) -> int:
    """Open a folder in another one, which is closed then."""
    try:
        entered = os.open(folder, _WALK, dir_fd=fd)
    except FileNotFoundError:
        raise PathInTheWay(field, f"there is no folder {quoted(walked)}", missing=True) from None
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise PathInTheWay(
                field, f"the folder {quoted(walked)} cannot be used: {_reason(error)}"
            ) from None
        if is_link(os.stat(folder, dir_fd=fd, follow_symlinks=False)):
            raise InvalidField(
                field, f"{quoted(walked)} is a symbolic link; these are not followed"
            ) from None
        raise PathInTheWay(field, f"{quoted(walked)} is no folder", missing=True) from None
    os.close(fd)
    return entered


def _reason(error: OSError) -> str:
    return os.strerror(error.errno or errno.EIO)
