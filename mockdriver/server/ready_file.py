"""The file of --ready-file: where a server that is ready is to be found, for any language."""

from __future__ import annotations

import contextlib
import json
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import mockdriver
from mockdriver.cloud.errors import quoted
from mockdriver.server.listening import ListeningPlan
from mockdriver.server.own_files import OwnFile, write_whole
from mockdriver.server.sockets import EndpointMistake

MAX_FORMER_BYTES = 1024 * 1024
"""A ready file has less than this, so what is larger is somebody else's."""


def contents(
    plan: ListeningPlan, *, driver_name: str, scenario: str, urls: Mapping[str, str | None]
) -> dict[str, Any]:
    """Return what a ready file says of a server that listens as planned.

    `urls` are those of its HTTP servers.
    """
    return {
        "pid": os.getpid(),
        "version": mockdriver.__version__,
        "driver_name": driver_name,
        "scenario": scenario,
        "endpoint": _url(plan.endpoint),
        "control_endpoint": _url(plan.control),
        "role": plan.role.value,
        "node_id": plan.node_id,
        "node_endpoints": {id: _url(path) for id, path in plan.node_sockets.items()},
        **urls,
    }


class ReadyFile:
    """The file from `open`, when all sockets answer, to `close`."""

    def __init__(self, path: Path, contents: Mapping[str, Any]) -> None:
        """Remove a file that an earlier server has left: who waits must not read the old one.

        Raises EndpointMistake.
        """
        # An absolute path: whoever removes it later may be in another folder.
        self._path = Path(os.path.abspath(path))  # noqa: PTH100 - Path.absolute() keeps `..`
        self._contents = contents
        self._file: OwnFile | None = None
        self._make_way()

    def __str__(self) -> str:
        return f"with the ready file {self._path}"

    def open(self) -> None:
        """Write the file, whole or not at all; raises EndpointMistake."""
        text = json.dumps(self._contents, indent=1)
        try:
            self._file = write_whole(self._path, text + "\n")
        except OSError as error:
            raise self._mistake(f"cannot be written: {error.strerror}") from None

    def look(self) -> None:
        """Do nothing: who has read the file may remove it."""

    def close(self) -> None:
        """Remove the file, unless another process has put its own in the place."""
        file, self._file = self._file, None
        if file is not None:
            with contextlib.suppress(OSError):
                file.remove()

    def remove_files(self) -> None:
        """Remove the file, for a process that ends at once."""
        self.close()

    def _make_way(self) -> None:
        folder = self._path.parent
        if not folder.is_dir():
            raise self._mistake(f"there is no folder {str(folder)!r}; make it first")
        if not os.access(folder, os.W_OK | os.X_OK):
            raise self._mistake(f"no permission to write to the folder {str(folder)!r}")
        try:
            former = _former(self._path)
            # That of a server which runs is let be until this one is ready: it may never be.
            if former is not None and not _runs(former):
                self._path.unlink(missing_ok=True)
        except _SomethingElse:
            raise self._mistake(
                "something that is no ready file is in the way; remove it or choose another path"
            ) from None
        except OSError as error:
            raise self._mistake(f"cannot be used: {error.strerror}") from None

    def _mistake(self, reason: str) -> EndpointMistake:
        return EndpointMistake(f"--ready-file {quoted(str(self._path))}: {reason}")


class _SomethingElse(Exception):
    """There is a file that no server has written."""


def _former(path: Path) -> Mapping[str, Any] | None:
    """Return what an earlier server has written there, or None if there is no file.

    An empty file, as `mktemp` makes it, says nothing. Raises _SomethingElse.
    """
    try:
        found = os.lstat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(found.st_mode) or found.st_size > MAX_FORMER_BYTES:
        raise _SomethingElse
    if found.st_size == 0:
        return {}
    try:
        former = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise _SomethingElse from None
    if not isinstance(former, dict) or not {"pid", "version", "driver_name"} <= former.keys():
        raise _SomethingElse
    return former


def _runs(former: Mapping[str, Any]) -> bool:
    """Tell whether another process with the file's pid runs."""
    pid = former.get("pid")
    if not isinstance(pid, int) or pid <= 0 or pid == os.getpid():
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True


def _url(path: Path | None) -> str | None:
    return None if path is None else f"unix://{path}"
