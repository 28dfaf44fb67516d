"""What publishing does to files: a folder or a file that appears at the target, and goes again.

No privileges are needed: nothing is mounted. What is made carries the volume's id as an extended
attribute, so that a driver that was killed knows its own again. Where a file system has no such
attributes, only the driver that has made a target removes it, and knows it by its inode.
"""

from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from mockdriver.cloud.errors import quoted
from mockdriver.driver.errors import InvalidField, PathInTheWay
from mockdriver.driver.mounts.mount_group import give_to_group
from mockdriver.driver.mounts.removal import remove_folder
from mockdriver.driver.mounts.safe_path import Place, is_link, opened

MARK = "user.mockdriver.volume"
_COUNTED_ENTRIES = 10_000
_COUNTED_DEPTH = 50
"""A walk over a volume's files ends here: a workload can make as many as it likes, and as deep."""

_NO_MARK = {errno.ENODATA, errno.ENOTSUP, getattr(errno, "ENOATTR", errno.ENODATA)}


@dataclass(frozen=True, slots=True)
class Usage:
    """What the files of a volume use."""

    used_bytes: int = 0
    used_inodes: int = 0


Identity = tuple[int, int]
"""Device and inode. A later file can get them again, so they are the second choice to a mark."""


class Files(Protocol):
    """The effect of node RPCs on the file system."""

    def require_folder(self, field: str, path: str) -> None:
        """Raise PathInTheWay unless there is a folder at `path`."""

    def publish(
        self, path: str, volume_id: str, *, block: bool, readonly: bool, mount_group: str = ""
    ) -> Identity | None:
        """Make the target, for a group if one is named; raises InvalidField, PathInTheWay.

        Returns what it is, or None if it carries a mark that tells more.
        """

    def unpublish(self, path: str, volume_id: str, made: Identity | None) -> bool:
        """Remove the target if it carries this volume's mark, or no mark and is what was made.

        Returns whether there was something to remove.
        """

    def usage(self, path: str) -> Usage:
        """Count what lies at a path."""


class NoFiles:
    """Touches nothing and finds nothing: for node RPCs that only have to be answered."""

    def require_folder(self, field: str, path: str) -> None:
        """Require nothing."""

    def publish(
        self, path: str, volume_id: str, *, block: bool, readonly: bool, mount_group: str = ""
    ) -> None:
        """Make nothing."""

    def unpublish(self, path: str, volume_id: str, made: Identity | None) -> bool:
        """Remove nothing."""
        return False

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

    def publish(
        self, path: str, volume_id: str, *, block: bool, readonly: bool, mount_group: str = ""
    ) -> Identity | None:
        """Make the target. An empty one that the CO has made gives way to it."""
        field = "target_path"
        with opened(field, path) as place:
            found = _look_at_no_link(field, place)
            if found is not None:
                if _is_kind(found, block) and _mark_of(place) == volume_id:
                    return None  # made by this driver before it was started again
                _clear(field, place, found, block)
            fd = _make(place, block)
            try:
                marked = _mark(fd, volume_id)
                if readonly:  # only now: a mark needs the permission to write
                    os.fchmod(fd, 0o440 if block else 0o550)
                if mount_group and not block:
                    give_to_group(fd, mount_group, readonly=readonly)
                made = os.fstat(fd)
            finally:
                os.close(fd)
        return None if marked else (made.st_dev, made.st_ino)

    def unpublish(self, path: str, volume_id: str, made: Identity | None) -> bool:
        """Remove the target with what is in it; links in it are removed, never followed.

        What is not this volume's is left alone, without a word.
        """
        try:
            with opened("target_path", path) as place:
                found = place.look()
                if found is None or not (_is_kind(found, False) or _is_kind(found, True)):
                    return False
                if not _is_own(place, found, volume_id, made):
                    return False
                if stat.S_ISDIR(found.st_mode):
                    remove_folder(place.name, parent_fd=place.parent_fd)
                else:
                    os.unlink(place.name, dir_fd=place.parent_fd)
                return True
        except PathInTheWay as problem:
            if problem.missing:
                return False  # a parent has gone, and the target with it
            raise

    def usage(self, path: str) -> Usage:
        """Count the bytes and the names below a path, without following links."""
        used_bytes = used_inodes = 0
        with suppress(PathInTheWay, InvalidField), opened("volume_path", path) as place:
            found = place.look()
            if found is None or is_link(found):
                return Usage()
            if not stat.S_ISDIR(found.st_mode):
                return Usage(found.st_size, 1)
            walk = os.fwalk(place.name, dir_fd=place.parent_fd, follow_symlinks=False)
            for folder, folders, files, fd in walk:
                used_inodes += len(folders) + len(files)
                for name in files:
                    with suppress(OSError):
                        used_bytes += os.stat(name, dir_fd=fd, follow_symlinks=False).st_size
                if used_inodes > _COUNTED_ENTRIES:
                    break
                if folder.count(b"/") >= _COUNTED_DEPTH:
                    folders.clear()
        return Usage(used_bytes, used_inodes)


def _look_at_no_link(field: str, place: Place) -> os.stat_result | None:
    found = place.look()
    if found is not None and is_link(found):
        raise InvalidField(
            field, f"{quoted(place.path)} is a symbolic link; these are not followed"
        )
    return found


def _is_kind(found: os.stat_result, block: bool) -> bool:
    """Tell whether what was found is a file, for block access, or a folder."""
    return stat.S_ISREG(found.st_mode) if block else stat.S_ISDIR(found.st_mode)


def _clear(field: str, place: Place, found: os.stat_result, block: bool) -> None:
    """Remove an empty target of the right kind; raises PathInTheWay for anything else.

    It is made anew rather than taken: what cannot be removed now could not be removed when the
    volume is unpublished (a mount point, a file of /proc).
    """
    try:
        if _is_kind(found, block):
            if not block:
                os.rmdir(place.name, dir_fd=place.parent_fd)
                return
            if found.st_size == 0:
                os.unlink(place.name, dir_fd=place.parent_fd)
                return
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
    wanted = "file" if block else "folder"
    raise PathInTheWay(
        field, f"something that is no empty {wanted} is in the way at {quoted(place.path)}"
    )


def _make(place: Place, block: bool) -> int:
    """Make the target where nothing is, and return it opened."""
    if block:
        flags = os.O_CREAT | os.O_EXCL | os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.open(place.name, flags, 0o660, dir_fd=place.parent_fd)
    os.mkdir(place.name, 0o770, dir_fd=place.parent_fd)
    return _open(place)


def _open(place: Place) -> int:
    """Open a folder or a file to look at it. It cannot be a link, nor block."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.open(place.name, flags, dir_fd=place.parent_fd)


def _is_own(place: Place, found: os.stat_result, volume_id: str, made: Identity | None) -> bool:
    mark = _mark_of(place)
    if mark is None:
        return (found.st_dev, found.st_ino) == made
    return mark == volume_id


def _mark(fd: int, volume_id: str) -> bool:
    """Put the volume's id on what was made; False where there are no extended attributes."""
    try:
        os.setxattr(fd, MARK, volume_id.encode())
    except (OSError, AttributeError):
        return False
    return True


def _mark_of(place: Place) -> str | None:
    """Return the id of the volume that a folder or a file was made for, None without a mark."""
    fd = _open(place)
    try:
        return os.getxattr(fd, MARK).decode(errors="replace")
    except AttributeError:  # this platform has no extended attributes
        return None
    except OSError as error:
        if error.errno in _NO_MARK:
            return None
        raise
    finally:
        os.close(fd)
