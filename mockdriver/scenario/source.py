"""Reading a scenario file: what cannot be one is refused before anything looks into it."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path

from mockdriver.scenario.mistakes import Mistake, ScenarioMistakes, path_text, printable

MAX_BYTES = 1024 * 1024
MAX_LINES = 50_000
MAX_WORDS = 150_000
"""Lines and words have caps of their own: the YAML scanner takes its time over each of them."""

_UNPRINTABLE = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def read_text(path: str, shown: str | None = None) -> str:
    """Return the text of a file; raises ScenarioMistakes with the one reason why it cannot.

    `shown` is the file's name in messages, if that is not the path.
    """
    name = path if shown is None else shown
    return decode(read_bytes(path, name), name)


def read_bytes(path: str, shown: str) -> bytes:
    """Return the bytes of a regular file of at most 1 MiB; raises ScenarioMistakes."""
    try:
        # opening a pipe, or a terminal, must not wait for somebody at the other end
        descriptor = os.open(Path(path), os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            status = os.fstat(descriptor)
            if stat.S_ISDIR(status.st_mode):
                raise refusal(shown, "is a folder, a YAML file is needed")
            if not stat.S_ISREG(status.st_mode):
                raise refusal(shown, "is not a regular file, a YAML file is needed")
            if status.st_size > MAX_BYTES:
                raise refusal(shown, f"has {status.st_size} bytes, allowed: at most {MAX_BYTES}")
            with os.fdopen(descriptor, "rb", closefd=False) as file:
                return file.read(MAX_BYTES + 1)
        finally:
            os.close(descriptor)
    except FileNotFoundError:
        raise refusal(shown, "there is no such file") from None
    except PermissionError:
        raise refusal(shown, "cannot be read, permission denied") from None
    except OSError as error:
        raise refusal(shown, f"cannot be read: {error.strerror}") from None
    except ValueError:  # what os.open raises for it
        raise refusal(shown, "cannot be read: a NUL byte in its name") from None


def decode(content: bytes, file: str) -> str:
    """Return the text in `content`, which must be UTF-8 and of a size that can be parsed soon."""
    if len(content) > MAX_BYTES:
        raise refusal(file, f"has more than {MAX_BYTES} bytes, which is all that is allowed")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        before = content[: error.start].decode("utf-8-sig")
        byte = content[error.start]
        raise refusal(file, f"is not UTF-8 text: byte 0x{byte:02x}", before) from None
    found = _UNPRINTABLE.search(text)
    if found is not None:
        code = ord(found[0])
        reason = f"is not text: control character U+{code:04X}, YAML allows tabs and line breaks"
        raise refusal(file, reason, text[: found.start()])
    if text.count("\n") + text.count("\r") > MAX_LINES:
        raise refusal(file, f"has more than {MAX_LINES} lines, which is all that is allowed")
    if len(text.split()) > MAX_WORDS:
        raise refusal(file, f"has more than {MAX_WORDS} words, which is all that is allowed")
    return text


def refusal(file: str, text: str, before: str = "") -> ScenarioMistakes:
    """Return the one mistake of a file that is refused; `before` is the text that was good."""
    lines = before.split("\n")
    return ScenarioMistakes(
        [Mistake(printable(file), len(lines), len(lines[-1]) + 1, path_text(()), text)]
    )
