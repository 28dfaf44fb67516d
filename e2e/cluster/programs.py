"""Where the programs are: built from our pins, unless a folder of one's own has them too."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from tools.kubernetes_programs import BINARIES

VARIABLE = "MOCKDRIVER_E2E_PROGRAMS"
"""Names folders, separated by `:`, the programs in which win over the pinned ones."""


class NoSuchProgram(FileNotFoundError):
    """A program that was never built."""


@dataclass(frozen=True)
class Programs:
    """Folders to look for programs in, the first one wins.

    A file NAME.flags beside a program, or alone, holds flags for it, one a line: feature gates of
    a fork, a log level.
    """

    folders: tuple[Path, ...]

    @classmethod
    def from_environment(cls) -> Programs:
        """Return the folders that the environment names, and that of the pinned programs."""
        named = os.environ.get(VARIABLE, "").split(os.pathsep)
        return cls((*(Path(name).resolve() for name in named if name), BINARIES))

    def command(self, name: str, *flags: str) -> list[str]:
        """Return the command line of a program; raises NoSuchProgram."""
        return [str(self._find(name)), *flags, *self._own_flags(name)]

    def _find(self, name: str) -> Path:
        for folder in self.folders:
            if os.access(folder / name, os.X_OK):
                return folder / name
        raise NoSuchProgram(
            f"no program {name} in {', '.join(map(str, self.folders))}; "
            "`python -m tools.kubernetes_programs` builds all"
        )

    def _own_flags(self, name: str) -> list[str]:
        files = [folder / f"{name}.flags" for folder in self.folders]
        texts = [file.read_text(encoding="utf-8") for file in files if file.is_file()]
        return [line.strip() for text in texts for line in text.splitlines() if line.strip()]
