"""Console blocks: commands, what they print, and running the one to compare it with the other.

The console blocks of one document are one session in one shell: variables, functions and files
last from block to block. With `server=SCENARIO` they find a server of that scenario where
`make serve` puts one. So that nobody's real server is in the way, it listens in a folder of its
own; the default socket is replaced by that one in what is run, and back in what is printed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from pathlib import Path

from mockdriver.server.sockets import DEFAULT_ENDPOINT
from tests.docs.blocks import Block
from tests.serving import environment, serving
from tools.go_programs import BINARIES, names, program

DEFAULT_SOCKET = DEFAULT_ENDPOINT.removeprefix("unix://")
PROMPT, CONTINUATION = "$ ", "> "
SESSION_TIMEOUT_SECONDS = 300  # a guard against a command that never ends, not a measure
_END_OF_COMMAND = "--- end of command, status"


@dataclass(frozen=True)
class Command:
    """One command of a console block, and the output that the document shows for it."""

    document: str
    line: int
    text: str
    output: str


class NotATranscript(ValueError):
    """A console block that does not begin with a command."""


def commands_of(block: Block) -> list[Command]:
    """Return the commands of a console block; raises NotATranscript."""
    commands: list[tuple[int, list[str], list[str]]] = []
    for number, line in enumerate(block.lines, start=block.line + 1):
        if line.startswith(PROMPT):
            commands.append((number, [line.removeprefix(PROMPT)], []))
        elif not commands:
            raise NotATranscript(f"{block.document}:{number}: want a line that begins with `$ `")
        elif line.startswith(CONTINUATION) and not commands[-1][2]:
            commands[-1][1].append(line.removeprefix(CONTINUATION))
        else:
            commands[-1][2].append(line)
    return [
        Command(block.document, number, "\n".join(text), "\n".join(output))
        for number, text, output in commands
    ]


def programs_needed(commands: Sequence[Command]) -> list[str]:
    """Return the names of the Go programs that a session calls."""
    return [name for name in names() if any(name in command.text for command in commands)]


def mismatches(
    commands: Sequence[Command],
    *,
    scenario: str | None = None,
    files: Sequence[Block] = (),
    before: str = "",
) -> list[str]:
    """Run a session; return in words each command that did not print what the document shows.

    `scenario` is that of the server. `files` are blocks that lie in the session's folder, under the
    name in their attribute `file`. `before` are commands that the shell runs first.
    """
    for name in programs_needed(commands):
        program(name)
    # Not pytest's tmp_path: sessions put sockets there, and a socket's path has to be short.
    with (
        tempfile.TemporaryDirectory(prefix="mockdriver-docs-") as name,
        nullcontext() if scenario is None else serving("--scenario", scenario) as server,
    ):
        folder = Path(name)
        for block in files:
            (folder / block.attributes["file"]).write_text(block.text, encoding="utf-8")
        socket = DEFAULT_SOCKET if server is None else str(server.path)
        ends = _run(commands, folder, socket, before)
    found = []
    for command, (output, status) in zip(commands, ends, strict=True):
        where = f"{command.document}:{command.line}: $ {command.text}"
        if output != command.output:
            found.append(f"{where}\nthe document shows:\n{command.output}\nit prints:\n{output}")
        elif status != 0 and not output:
            found.append(f"{where}\nfails without a word, with status {status}")
    return found


def _run(
    commands: Sequence[Command], folder: Path, socket: str, before: str
) -> list[tuple[str, int]]:
    """Run the commands in one shell; return the output and exit status of each."""
    script = f"{before}\n" + "".join(
        f"{{\n{command.text.replace(DEFAULT_SOCKET, socket)}\n}} 2>&1\n"
        # The next command sees $? as if nothing had come in between.
        f"__status=$?; printf '\\n%s %s\\n' '{_END_OF_COMMAND}' $__status; (exit $__status)\n"
        for command in commands
    )
    transcript = folder / "transcript.log"
    with transcript.open("wb") as output:
        shell = subprocess.Popen(
            ["bash", "--noprofile", "--norc", "-c", script],
            cwd=folder,
            env=_environment(folder),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            shell.wait(SESSION_TIMEOUT_SECONDS)
        finally:
            _end_group(shell)
    printed = transcript.read_text(encoding="utf-8").replace(socket, DEFAULT_SOCKET)
    return _ends(printed, len(commands))


def _ends(printed: str, count: int) -> list[tuple[str, int]]:
    ends, rest = [], printed
    for _ in range(count):
        output, mark, rest = rest.partition(f"\n{_END_OF_COMMAND} ")
        assert mark, f"the shell ended early, its last words: {output}"
        status, _, rest = rest.partition("\n")
        ends.append((output.removesuffix("\n"), int(status)))
    return ends


def _end_group(shell: subprocess.Popen[bytes]) -> None:
    """End what the session has left in the background; the shell leads a group of its own."""
    with suppress(ProcessLookupError):
        os.killpg(shell.pid, signal.SIGKILL)
    shell.wait()


def _environment(folder: Path) -> dict[str, str]:
    path = [str(Path(sys.executable).parent), str(BINARIES), os.environ.get("PATH", os.defpath)]
    return environment({"HOME": str(folder), "LC_ALL": "C.UTF-8", "PATH": os.pathsep.join(path)})
