"""What publishing does to files: a folder or a file that appears at the target, and goes again.

No privileges are needed: nothing is mounted. What is made carries the volume's id as an extended
attribute, so that a driver that was killed knows its own again. Where a file system has no such
attributes, only the driver that has made a target removes it.
"""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from mockdriver.cloud.errors import quoted
from mockdriver.driver.errors import InvalidField, PathInTheWay
from mockdriver.driver.mounts.safe_path import Place, is_link, opened

MARK = "user.mockdriver.volume"
_COUNTED_ENTRIES = 10_000
"""A walk over a volume's files ends here: a peer can fill it with as many as it likes."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What the files of a volume use."""

    used_bytes: int = 0
    used_inodes: int = 0


Identity = tuple[int, int]
"""Device and inode: what tells a file from another one that has taken its place."""


class Files(Protocol):
    """The effect of node RPCs on the file system."""

    def require_folder(self, field: str, path: str) -> None:
        """Raise PathInTheWay unless there is a folder at `path`."""

    def publish(self, path: str, volume_id: str, *, block: bool, readonly: bool) -> Identity | None:
        """Make the target and return what it is; raises InvalidField, PathInTheWay."""

    def unpublish(self, path: str, volume_id: str, made: Identity | None) -> None:
        """Remove the target if it is what was made, or carries this volume's mark."""

    def usage(self, path: str) -> Usage:
        """Count what lies at a path."""


class NoFiles:
    """Touches nothing and finds nothing: for node RPCs that only have to be answered."""

    def require_folder(self, field: str, path: str) -> None:
        """Require nothing."""

    def publish(self, path: str, volume_id: str, *, block: bool, readonly: bool) -> None:
        """Make nothing."""

    def unpublish(self, path: str, volume_id: str, made: Identity | None) -> None:
        """Remove nothing."""

    def usage(self, path: str) -> Usage:
        """Find nothing."""
        return Usage()


class DirectoryFiles:
    """A published volume is a folder, or for block access a file."""

    def require_folder(self, field: str, path: str) -> None:
        """Raise PathInTheWay unless there is a folder at `path` (the CO makes it)."""
        with opened(field, path) as place:
            found = _look_at_no_link(field, place)
            if found is None or not stat.S_ISDIR(found.st_mode):
                what = "nothing is there" if found is None else "it is no folder"
                raise PathInTheWay(field, f"{quoted(path)} must be a folder, {what}")

    def publish(self, path: str, volume_id: str, *, block: bool, readonly: bool) -> Identity | None:
        """Make the target, or take an empty one that the CO has made."""
        field = "target_path"
        with opened(field, path) as place:
            found = _look_at_no_link(field, place)
            try:
                if found is None:
                    _make(place, block=block, readonly=readonly)
                else:
                    _require_empty(field, place, found, block=block)
                _mark(place, volume_id)
                made = place.look()
            except OSError as error:
                reason = os.strerror(error.errno or errno.EIO)
                raise PathInTheWay(field, f"{quoted(path)} cannot be made: {reason}") from None
        return None if made is None else (made.st_dev, made.st_ino)

    def unpublish(self, path: str, volume_id: str, made: Identity | None) -> None:
        """Remove the target with what is in it, if it is what was made or carries the mark.

        Links in it are removed, never followed. Anything else at the path is left alone.
        """
        field = "target_path"
        try:
            with opened(field, path) as place:
                found = place.look()
                if found is None or is_link(found):
                    return
                if (found.st_dev, found.st_ino) != made and _marked(place) != volume_id:
                    return
                if stat.S_ISDIR(found.st_mode):
                    shutil.rmtree(place.name, dir_fd=place.parent_fd)
                else:
                    os.unlink(place.name, dir_fd=place.parent_fd)
        except PathInTheWay:
            return  # a parent has gone, and the target with it
        except OSError as error:
            reason = os.strerror(error.errno or errno.EIO)
            raise PathInTheWay(field, f"{quoted(path)} cannot be removed: {reason}") from None

    def usage(self, path: str) -> Usage:
        """Count the bytes and the names below a path, without following links."""
        used_bytes = used_inodes = 0
        with suppress(PathInTheWay, InvalidField, OSError), opened("volume_path", path) as place:
            found = place.look()
            if found is None or is_link(found):
                return Usage()
            if not stat.S_ISDIR(found.st_mode):
                return Usage(found.st_size, 1)
            walk = os.fwalk(place.name, dir_fd=place.parent_fd, follow_symlinks=False)
            for _, folders, files, fd in walk:
                used_inodes += len(folders) + len(files)
                for name in files:
                    with suppress(OSError):
                        used_bytes += os.stat(name, dir_fd=fd, follow_symlinks=False).st_size
                if used_inodes > _COUNTED_ENTRIES:
                    break
        return Usage(used_bytes, used_inodes)


def _look_at_no_link(field: str, place: Place) -> os.stat_result | None:
    found = place.look()
    if found is not None and is_link(found):
        raise InvalidField(
            field, f"{quoted(place.path)} is a symbolic link; these are not followed"
        )
    return found


def _make(place: Place, *, block: bool, readonly: bool) -> None:
    if block:
        mode = 0o440 if readonly else 0o660
        flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW
        os.close(os.open(place.name, flags, mode, dir_fd=place.parent_fd))
    else:
        os.mkdir(place.name, 0o550 if readonly else 0o770, dir_fd=place.parent_fd)


def _require_empty(field: str, place: Place, found: os.stat_result, *, block: bool) -> None:
    """Raise PathInTheWay unless a target that exists is what would be made, and empty."""
    if block:
        fits = stat.S_ISREG(found.st_mode) and found.st_size == 0
    else:
        fits = stat.S_ISDIR(found.st_mode) and not _entries(place)
    if not fits:
        wanted = "file" if block else "folder"
        raise PathInTheWay(
            field, f"something that is no empty {wanted} is in the way at {quoted(place.path)}"
        )


def _entries(place: Place) -> list[str]:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    fd = os.open(place.name, flags, dir_fd=place.parent_fd)
    try:
        return os.listdir(fd)  # noqa: PTH208 - pathlib has no open folders
    finally:
        os.close(fd)


def _mark(place: Place, volume_id: str) -> None:
    fd = os.open(place.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place.parent_fd)
    try:
        with suppress(OSError, AttributeError):  # this file system or platform has none
            os.setxattr(fd, MARK, volume_id.encode())
    finally:
        os.close(fd)


def _marked(place: Place) -> str | None:
    try:
        fd = os.open(
            place.name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=place.parent_fd
        )
    except OSError:
        return None
    try:
        return os.getxattr(fd, MARK).decode()
    except (OSError, AttributeError, UnicodeDecodeError):
        return None
    finally:
        os.close(fd)
