"""Removing a folder with all that is in it: whatever a workload, or somebody hostile, put there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count

_OPEN = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def remove_folder(name: bytes, *, parent_fd: int) -> None:
    """Remove a folder from its opened parent, and its content; raises OSError.

    Links are removed, never followed, and nothing is removed from another file system that is
    mounted inside. What lies in a folder is moved up before that folder goes, so that a depth of
    thousands needs neither a deep stack nor an open file for each level.
    """
    fd = os.open(name, _OPEN, dir_fd=parent_fd)
    try:
        free_names = (b".removed-%d" % number for number in count())
        while entries := os.listdir(fd):  # noqa: PTH208 - pathlib has no open folders
            for entry in entries:
                _remove(os.fsencode(entry), fd, free_names)
    finally:
        os.close(fd)
    os.rmdir(name, dir_fd=parent_fd)


def _remove(name: bytes, fd: int, free_names: Iterator[bytes]) -> None:
    """Remove a file or a link, or a folder whose content moves to the folder `fd` first."""
    try:
        os.unlink(name, dir_fd=fd)
    except (IsADirectoryError, PermissionError) as refused:  # Linux' answer, and that of POSIX
        try:
            inner_fd = os.open(name, _OPEN, dir_fd=fd)
        except NotADirectoryError:
            raise refused from None
        try:
            for entry in os.listdir(inner_fd):  # noqa: PTH208 - pathlib has no open folders
                _move_up(os.fsencode(entry), inner_fd, fd, free_names)
        finally:
            os.close(inner_fd)
        os.rmdir(name, dir_fd=fd)


def _move_up(name: bytes, from_fd: int, to_fd: int, free_names: Iterator[bytes]) -> None:
    for free in free_names:
        try:
            os.stat(free, dir_fd=to_fd, follow_symlinks=False)
        except FileNotFoundError:
            os.rename(name, free, src_dir_fd=from_fd, dst_dir_fd=to_fd)
            return
