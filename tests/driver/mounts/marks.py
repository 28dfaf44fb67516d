"""Extended attributes, on any machine: where the file system has none they are kept here."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from mockdriver.driver.mounts.files import MARK

Attributes = dict[tuple[int, int, str], bytes]


def provide(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """See to it that files in `folder` can have attributes."""
    probe = folder / "attribute-probe"
    probe.mkdir()
    try:
        os.setxattr(probe, MARK, b"x")
    except (OSError, AttributeError):
        _emulate(monkeypatch)
    finally:
        probe.rmdir()


def take_away(monkeypatch: pytest.MonkeyPatch, number: int = errno.ENOTSUP) -> None:
    """Answer as a file system without attributes does."""

    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    for name in ("setxattr", "getxattr"):
        monkeypatch.setattr(os, name, refuse, raising=False)


def remove_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a platform whose Python knows no attributes."""
    for name in ("setxattr", "getxattr"):
        monkeypatch.delattr(os, name, raising=False)


def _emulate(monkeypatch: pytest.MonkeyPatch) -> None:
    attributes: Attributes = {}

    def key(fd: int, name: str) -> tuple[int, int, str]:
        status = os.fstat(fd)
        return status.st_dev, status.st_ino, name

    def setxattr(fd: int, name: str, value: bytes) -> None:
        attributes[key(fd, name)] = value

    def getxattr(fd: int, name: str) -> bytes:
        try:
            return attributes[key(fd, name)]
        except KeyError:
            raise OSError(errno.ENODATA, os.strerror(errno.ENODATA)) from None

    monkeypatch.setattr(os, "setxattr", setxattr, raising=False)
    monkeypatch.setattr(os, "getxattr", getxattr, raising=False)
