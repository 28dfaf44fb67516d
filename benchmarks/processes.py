"""The two servers as processes, and the moment at which they answer."""

from __future__ import annotations

import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import grpc

from csi_spec import csi_pb2, csi_pb2_grpc

NODE_ID = "i-worker-1"
START_TIMEOUT_SECONDS = 60.0
_POLL_SECONDS = 0.001

SERVERS = ("bare", "mockdriver")
"""What is compared; ratios are mockdriver's number over bare's."""


def command(server: str, path: Path) -> list[str]:
    """Return the command that starts a server on a socket."""
    if server == "bare":
        return [sys.executable, "-m", "benchmarks.bare_server", str(path)]
    return [sys.executable, "-m", "mockdriver", "serve", "--endpoint", str(path)]


@contextmanager
def running(server: str) -> Iterator[tuple[Path, float]]:
    """Run a server; yield its socket and the seconds from exec to the first answered call."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "csi.sock"
        with (Path(folder) / "log").open("wb") as log:
            started_at = time.perf_counter()
            process = subprocess.Popen(command(server, path), stdout=log, stderr=log)
            try:
                _wait_until_connectable(path, process)
                with channel(path) as first:
                    call(first)
                yield path, time.perf_counter() - started_at
            finally:
                process.terminate()
                process.wait()


def channel(path: Path) -> grpc.Channel:
    """Return a connection of its own to a socket."""
    return grpc.insecure_channel(f"unix:{path}", options=[("grpc.use_local_subchannel_pool", 1)])


def call(connection: grpc.Channel) -> None:
    """Make the one call that is measured."""
    csi_pb2_grpc.ControllerStub(connection).ControllerGetNodeInfo(
        csi_pb2.ControllerGetNodeInfoRequest(node_id=NODE_ID)
    )


def _wait_until_connectable(path: Path, process: subprocess.Popen[bytes]) -> None:
    give_up_at = time.perf_counter() + START_TIMEOUT_SECONDS
    while time.perf_counter() < give_up_at:
        if process.poll() is not None:
            break
        with socket.socket(socket.AF_UNIX) as probe:
            try:
                probe.connect(str(path))
            except OSError:
                time.sleep(_POLL_SECONDS)
            else:
                return
    raise RuntimeError(f"{process.args!r} does not listen on {path}")
