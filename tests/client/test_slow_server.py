"""A server on a busy machine takes its time to greet who connects; that is no reason to give up."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mockdriver.client import ControlClient
from tests.client.fake_control import fake_control
from tests.conftest import Serve

GREETING_SECONDS = 0.6
"""Longer than a client waits who takes the pause between attempts for their length."""


@contextmanager
def slow_way_to(path: Path) -> Iterator[Path]:
    """Serve a socket whose bytes reach the one at `path` late, and come back late."""
    folder = Path(tempfile.mkdtemp(prefix="mockdriver-test-"))
    over = threading.Event()
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(folder / "slow.sock"))
    listener.listen()

    def pump(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                target.sendall(data)
        except OSError:
            pass
        target.close()

    def accept() -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            over.wait(GREETING_SECONDS)
            far = socket.socket(socket.AF_UNIX)
            far.connect(str(path))
            for ends in ((near, far), (far, near)):
                threading.Thread(target=pump, args=ends, daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    try:
        yield folder / "slow.sock"
    finally:
        over.set()
        listener.close()
        shutil.rmtree(folder)


def test_a_client_waits_for_a_server_that_greets_late() -> None:
    with fake_control() as fake, slow_way_to(fake.path) as path:
        client = ControlClient(path)
        assert client.cloud.instances() == []
        client.close()


def test_wait_waits_for_a_server_that_greets_late(serve: Serve) -> None:
    with slow_way_to(serve().path) as path:
        command = [sys.executable, "-m", "mockdriver", "wait", "--endpoint", str(path)]
        assert subprocess.run([*command, "--timeout", "30s"], check=False).returncode == 0
