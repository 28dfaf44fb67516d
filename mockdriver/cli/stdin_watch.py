"""Ending with whoever started the server: it holds standard input open as long as it lives."""

from __future__ import annotations

import contextlib
import logging
import os
import signal

from mockdriver.runtime import Runtime

_STDIN = 0
_READ_BYTES = 65536

_log = logging.getLogger("mockdriver")


def stop_when_stdin_closes(runtime: Runtime) -> None:
    """Send this process SIGTERM, from another thread, at the end of standard input.

    What is written there is thrown away. The end comes too when the writer is killed, which no
    other signal of a parent's death tells on every system; Linux's own comes when the thread that
    started us ends.
    """

    def read_to_the_end() -> None:
        # Not sys.stdin: its lock, held by a thread that reads, would disturb Python's end.
        with contextlib.suppress(OSError):
            while os.read(_STDIN, _READ_BYTES):
                pass
        _log.info("standard input is closed")
        os.kill(os.getpid(), signal.SIGTERM)

    runtime.start(read_to_the_end, "stdin-watch")
