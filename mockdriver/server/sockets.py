"""Endpoints and the sockets behind them: which path, is it free, and cleaning up."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import stat
from pathlib import Path
from urllib.parse import quote

DEFAULT_ENDPOINT = "unix:///tmp/mockdriver.sock"

MAX_PATH_BYTES = 107
"""What fits into sockaddr_un on Linux, less the closing zero byte."""


class EndpointMistake(ValueError):
    """An endpoint that cannot be listened on, with the reason and what to do."""


def parse_endpoint(text: str) -> Path:
    """Return the absolute path of a Unix socket endpoint; raises EndpointMistake.

    Takes `unix:///path`, `unix:/path` and a plain path.
    """
    scheme, colon, rest = text.partition(":")
    if not colon or "/" in scheme:
        path = text
    elif scheme != "unix":
        raise EndpointMistake(f"endpoint {text!r}: only Unix sockets, as in unix:///run/csi.sock")
    else:
        path = rest.removeprefix("//")
        if not path.startswith("/"):
            raise EndpointMistake(
                f"endpoint {text!r}: the path after unix: must be absolute, as in "
                "unix:///run/csi.sock"
            )
    if not path:
        raise EndpointMistake("endpoint: is empty, want a path as in unix:///run/csi.sock")
    if "\0" in path:
        raise EndpointMistake(f"endpoint {text!r}: a path has no zero byte")
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - Path.absolute() keeps `..`
    require_short(absolute)
    return absolute


def require_short(path: Path) -> None:
    """Raise EndpointMistake if a socket's path cannot be that long."""
    size = len(os.fsencode(path))
    if size > MAX_PATH_BYTES:
        raise EndpointMistake(
            f"endpoint {str(path)!r}: has {size} bytes, a Unix socket's path has at most "
            f"{MAX_PATH_BYTES}; choose a shorter folder"
        )


def grpc_target(path: Path) -> str:
    """Return the path as gRPC's name for it, in which it must be encoded like a URL's."""
    return f"unix:{quote(os.fsencode(path))}"


def make_way(path: Path) -> None:
    """Make sure that a socket can be bound at `path`; raises EndpointMistake.

    A socket that nobody answers on is left from a killed process and removed. One that somebody
    answers on is in use; anything else in the way is not ours to remove.
    """
    _require_folder(path)
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISSOCK(mode):
        raise EndpointMistake(
            f"endpoint {str(path)!r}: something that is no socket is in the way; remove it or "
            "choose another path"
        )
    if _answers(path):
        raise EndpointMistake(
            f"endpoint {str(path)!r}: in use, another process answers there; stop it or choose "
            "another path"
        )
    with contextlib.suppress(FileNotFoundError):
        path.unlink()


def name_to_bind(path: Path) -> Path:
    """Return another name in the same folder, no longer than `path`, for gRPC to bind.

    When gRPC stops listening it removes whatever socket lies at the path that it was given, be it
    another process's. So it gets this name, and the socket is moved to `path` once it is bound.
    """
    first = "_" if path.name.startswith("~") else "~"
    return path.with_name(first + path.name[1:])


def _require_folder(path: Path) -> None:
    folder = path.parent
    try:
        mode = folder.stat().st_mode
    except FileNotFoundError:
        raise EndpointMistake(
            f"endpoint {str(path)!r}: there is no folder {str(folder)!r}; make it first"
        ) from None
    except OSError as error:
        raise EndpointMistake(
            f"endpoint {str(path)!r}: the folder {str(folder)!r} cannot be used: {error.strerror}"
        ) from None
    if not stat.S_ISDIR(mode):
        raise EndpointMistake(f"endpoint {str(path)!r}: {str(folder)!r} is no folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise EndpointMistake(
            f"endpoint {str(path)!r}: no permission to write to the folder {str(folder)!r}"
        )


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except (ConnectionRefusedError, FileNotFoundError):
            return False
        except (BlockingIOError, TimeoutError):
            # The listener's queue is full (EAGAIN on Linux, a wait elsewhere): it is alive.
            return True
        except OSError as error:
            reason = os.strerror(error.errno or errno.EIO)
            raise EndpointMistake(
                f"endpoint {str(path)!r}: cannot tell whether it is in use: {reason}"
            ) from None
        return True
