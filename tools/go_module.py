"""A Go module that pins programs: what its go.mod and go.sum say. Standard library only."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools.go_toolchain import numbers


@dataclass(frozen=True)
class GoModule:
    """The module in `folder`. Its `tool` lines name packages of other modules that it pins."""

    folder: Path

    @cached_property
    def text(self) -> str:
        """The text of go.mod."""
        return (self.folder / "go.mod").read_text(encoding="utf-8")

    @property
    def tools(self) -> list[str]:
        """The import paths that the `tool` lines name; raises SystemExit if there are none."""
        blocks = re.findall(r"^tool \(\n(.*?)^\)", self.text, re.MULTILINE | re.DOTALL)
        found = [line.strip() for block in blocks for line in block.splitlines() if line.strip()]
        found += re.findall(r"^tool ([^\s(]+)$", self.text, re.MULTILINE)
        if not found:
            raise SystemExit(f"go_module: {self.folder / 'go.mod'} has no `tool` line")
        return found

    @property
    def path(self) -> str:
        """The module's own import path."""
        return self._line(r"^module (\S+)$")

    @property
    def go_version(self) -> tuple[int, ...]:
        """The oldest Go that can build what it pins."""
        return numbers(self._line(r"^go (\S+)$"))

    def module_of(self, package: str) -> tuple[str, str]:
        """Return the path and the version of the pinned module that `package` lies in."""
        pinned = re.findall(r"^\s*(?:require )?(\S+) (v\S+)", self.text, re.MULTILINE)
        path, version = max(
            (module, version)
            for module, version in pinned
            if f"{package}/".startswith(f"{module}/")
        )
        return str(path), str(version)

    @property
    def digest(self) -> str:
        """What programs are built from, in one word: the pins, and Go files beside them."""
        sources = sorted([*self.folder.glob("*.go"), self.folder / "go.sum"])
        texts = [self.text, *(source.read_text(encoding="utf-8") for source in sources)]
        return hashlib.sha256("".join(texts).encode()).hexdigest()

    def _line(self, pattern: str) -> str:
        found = re.search(pattern, self.text, re.MULTILINE)
        if found is None:
            raise SystemExit(f"go_module: {self.folder / 'go.mod'} has no line {pattern}")
        return found.group(1)
