"""A TCP port of the loopback address that nobody else gets before its server listens on it."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

LOOPBACK = "127.0.0.1"


@contextmanager
def held_port() -> Iterator[int]:
    """Hold a free port while the block runs, for one server that sets SO_REUSEPORT.

    The socket here never listens, so all connections are the server's.
    """
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind((LOOPBACK, 0))
        yield held.getsockname()[1]
