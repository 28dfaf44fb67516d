"""The documents, and the fenced blocks in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

_FENCE = re.compile(r"(?P<indent> *)(?P<ticks>`{3,}|~{3,}) *(?P<info>[^`]*)")


@dataclass(frozen=True)
class Block:
    """A fenced block. `line` is that of its opening fence, counted from 1.

    The first word after the fence is the language; what follows are attributes, each `name=value`
    or a bare `name`. Readers of the rendered page see neither.
    """

    document: str
    line: int
    language: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    lines: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"

    @property
    def text(self) -> str:
        """What is between the fences."""
        return "".join(f"{line}\n" for line in self.lines)


class UnclosedFence(ValueError):
    """A block that has no end."""


def documents() -> list[str]:
    """Return the paths of all documents, from the root of the project."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


@cache
def text_of(document: str) -> str:
    """Return the text of a document."""
    return (ROOT / document).read_text(encoding="utf-8")


def blocks_of(document: str) -> list[Block]:
    """Return the fenced blocks of a document."""
    return parse(text_of(document), document)


def all_blocks() -> list[Block]:
    """Return the fenced blocks of all documents."""
    return [block for document in documents() for block in blocks_of(document)]


def prose_of(document: str) -> list[tuple[int, str]]:
    """Return the lines of a document with their numbers; those of blocks are empty."""
    inside = {
        number
        for block in blocks_of(document)
        for number in range(block.line, block.line + len(block.lines) + 2)
    }
    lines = enumerate(text_of(document).splitlines(), start=1)
    return [(number, "" if number in inside else line) for number, line in lines]


def parse(text: str, document: str) -> list[Block]:
    """Return the fenced blocks of a text; raises UnclosedFence."""
    blocks = []
    lines = enumerate(text.splitlines(), start=1)
    for number, line in lines:
        opening = _FENCE.fullmatch(line)
        if opening is None:
            continue
        indent, ticks = len(opening["indent"]), opening["ticks"]
        content = []
        for _, inner in lines:
            if re.fullmatch(rf" *{ticks[0]}{{{len(ticks)},}} *", inner):
                break
            content.append(inner[min(indent, len(inner) - len(inner.lstrip(" "))) :])
        else:
            raise UnclosedFence(f"{document}:{number}: this block has no end")
        words = opening["info"].split() or [""]
        attributes = dict(word.partition("=")[::2] for word in words[1:])
        blocks.append(Block(document, number, words[0], attributes, tuple(content)))
    return blocks
