"""Where a mock listens: an endpoint as people write it, and gRPC's name for it."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from urllib.parse import quote

MAX_PATH_BYTES = 107
"""What fits into sockaddr_un on Linux, less the closing zero byte."""

_SHOWN_CHARACTERS = 100


class EndpointMistake(ValueError):
    """An endpoint that cannot be connected to, whoever listens; the message says why."""


def socket_path(endpoint: str | Path) -> Path:
    """Return the absolute path of an endpoint's Unix socket; raises EndpointMistake.

    Takes `unix:///path`, `unix:/path` and a plain path, as `mockdriver serve --endpoint` does.
    """
    text = str(endpoint)
    shown = repr(text[:_SHOWN_CHARACTERS])
    scheme, colon, rest = text.partition(":")
    if isinstance(endpoint, Path) or not colon or "/" in scheme:
        path = text
    elif scheme == "unix" and rest.startswith("/"):
        path = rest.removeprefix("//")
    else:
        raise EndpointMistake(f"endpoint {shown}: want a Unix socket, as in unix:///run/csi.sock")
    if not path:
        raise EndpointMistake(f"endpoint {shown}: has no path, want one as in unix:///run/csi.sock")
    absolute = Path(path).absolute()
    size = len(os.fsencode(absolute))
    if size > MAX_PATH_BYTES:
        raise EndpointMistake(
            f"endpoint {shown}: has {size} bytes, a Unix socket's path has at most {MAX_PATH_BYTES}"
        )
    return absolute


def temporary_place(most_bytes: int) -> str:
    """Return where to make a temporary folder for sockets: the usual place, if its name is short.

    A socket's path has 107 bytes, of which the place may take `most_bytes`; else it is /tmp.
    """
    usual = tempfile.gettempdir()
    if len(os.fsencode(usual)) <= most_bytes:
        return usual
    return "/tmp"  # noqa: S108 - the folder in it has a name of its own


def grpc_target(path: Path) -> str:
    """Return the path as gRPC's name for it, in which it must be encoded like a URL's."""
    return f"unix:{quote(os.fsencode(path))}"
