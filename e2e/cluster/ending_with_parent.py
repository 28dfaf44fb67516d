"""Become another program, one that the kernel kills when our parent ends.

    python -I -S ending_with_parent.py PARENT PROGRAM ARGUMENT...

A program of its own, since the alternative, code between fork and exec, is unsafe beside threads.
Linux only.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(parent: int, command: list[str]) -> None:
    """Ask the kernel, and run `command` in our place."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() == parent:  # else it ended before we asked, and nobody needs us
        os.execv(command[0], command)  # noqa: S606  (no shell is wanted)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2:])
