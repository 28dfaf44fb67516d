"""Ending the process for a fault, as a crash would."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable

from mockdriver.runtime import Runtime

_PATIENCE_SECONDS = 2.0
"""How long the last words may take: a reader that has stalled must not keep a process alive."""

_log = logging.getLogger("mockdriver")


def crash_with(runtime: Runtime, *last_words: Callable[[], object]) -> Callable[[str, int], None]:
    """Return what ends the process for a fault, by its name, with an exit code.

    Nothing is stopped, no call is answered, and sockets stay behind: the next start takes them
    over. But there is no mock any more that could be asked what happened, so `last_words`, which
    write what is left of the log and of the record of calls, are run first.
    """

    def end(fault: str, exit_code: int) -> None:
        _log.error("fault %s ends the process with exit code %d", fault, exit_code)
        written = runtime.event()

        def write() -> None:
            for last_word in last_words:
                last_word()
            written.set()

        runtime.start(write, "last-words")
        runtime.wait(written, runtime.now() + _PATIENCE_SECONDS)
        os._exit(exit_code)

    return end
