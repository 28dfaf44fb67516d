"""With --until-stdin-closes a server does not outlive whoever started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.serving import environment
from tests.waiting import PATIENCE_SECONDS, wait_until

STARTER = """
import subprocess, sys, threading
def start():
    global server
    server = subprocess.Popen(
        [sys.executable, "-m", "mockdriver", "serve", "--until-stdin-closes", *sys.argv[1:]],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
thread = threading.Thread(target=start)
thread.start()
thread.join()
server.stdout.readline()
print(server.pid, flush=True)
threading.Event().wait()
"""
"""A program that starts a server, on a thread that ends, and tells its number once it is ready."""


@contextmanager
def started(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Start a server whose standard input the test holds."""
    process = subprocess.Popen(
        [
            *(sys.executable, "-m", "mockdriver", "serve", "--until-stdin-closes"),
            *("--endpoint", str(folder / "csi.sock")),
        ],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdin
    assert process.stdout
    try:
        assert b"is ready" in process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def test_a_server_ends_well_when_standard_input_is_closed(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        _, log = process.communicate(timeout=PATIENCE_SECONDS)  # closes standard input

    assert process.returncode == 0
    assert b"standard input is closed" in log
    assert list(tmp_path.iterdir()) == []


def test_what_is_written_there_ends_nothing(tmp_path: Path) -> None:
    with started(tmp_path) as process:
        assert process.stdin
        process.stdin.write(b"x" * 200_000)
        process.stdin.flush()  # a pipe holds less than that: it has been read

        assert process.poll() is None


def test_a_server_ends_when_its_starter_is_killed_and_not_with_a_thread_of_it(
    tmp_path: Path,
) -> None:
    path = tmp_path / "csi.sock"
    starter = subprocess.Popen(
        [sys.executable, "-c", STARTER, "--endpoint", str(path)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    assert starter.stdout
    number = int(starter.stdout.readline())
    os.kill(number, 0)
    assert path.is_socket()

    starter.send_signal(signal.SIGKILL)
    starter.communicate()

    # Its process is nobody's child here; the socket is the last thing that it removes.
    wait_until(lambda: not path.exists(), "the end of the server")
