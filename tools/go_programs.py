"""Install the Go programs that the tests run against: `python -m tools.go_programs [NAME...]`.

Each program is a folder tools/go/NAME. Its go.mod names the program's package (`tool`) and pins
every module; its go.sum holds their hashes. One folder each, so that no program changes what
another is built from. To add one:

    mkdir tools/go/NAME && cd tools/go/NAME && go mod init mockdriver.invalid/NAME
    go get -tool PACKAGE@VERSION

A program may be our own: then its source lies in the folder, and `tool` names the module itself.

Programs are built with the Go on PATH, or with the one of requirements/go.lock where there is none
or an older one than a go.mod asks for. Standard library only.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools.bare_machine import CACHE, ROOT
from tools.go_module import GoModule
from tools.go_toolchain import go, go_environment
from tools.one_at_a_time import one_at_a_time

SOURCES = ROOT / "tools" / "go"
BINARIES = CACHE / "go" / "bin"


@dataclass(frozen=True)
class GoProgram:
    """One program: a folder with the go.mod and go.sum that pin it."""

    folder: Path

    @property
    def name(self) -> str:
        """The folder's name, which is the program's."""
        return self.folder.name

    @property
    def path(self) -> Path:
        """Where the built program lies, or will lie."""
        return BINARIES / self.name

    @cached_property
    def module(self) -> GoModule:
        """What pins it."""
        return GoModule(self.folder)

    @property
    def package(self) -> str:
        """The import path that go.mod's `tool` line names."""
        (package,) = self.module.tools
        return package

    @property
    def go_version(self) -> tuple[int, ...]:
        """The oldest Go that can build it."""
        return self.module.go_version

    @property
    def version(self) -> str:
        """The version of the module that `package` lies in; our own have none, so their digest."""
        if self.package == self.module.path:
            return f"v0-{self.digest[:12]}"
        return self.module.module_of(self.package)[1]

    @property
    def digest(self) -> str:
        """What the program is built from, in one word."""
        return self.module.digest


def program(name: str) -> Path:
    """Return the path of the program called `name`, built from its pins, installing it if absent.

    Raises SystemExit, with a line that says why, when there is no such program or no way to it.
    """
    wanted = GoProgram(SOURCES / name)
    if not wanted.folder.is_dir():
        raise SystemExit(f"go_programs: no program {name!r}; known: {', '.join(names())}")
    stamp = BINARIES / f"{name}.built-from"
    with one_at_a_time("go-programs"):
        built_from = stamp.read_text(encoding="utf-8") if stamp.exists() else None
        if built_from != wanted.digest or not os.access(wanted.path, os.X_OK):
            _build(wanted)
            stamp.write_text(wanted.digest, encoding="utf-8")
    return wanted.path


def names() -> list[str]:
    """Return the names of all programs."""
    return sorted(folder.parent.name for folder in SOURCES.glob("*/go.mod"))


def _build(wanted: GoProgram) -> None:
    print(f"go_programs: building {wanted.name} {wanted.version}", file=sys.stderr, flush=True)
    BINARIES.mkdir(parents=True, exist_ok=True)
    unfinished = wanted.path.with_suffix(".unfinished")
    command = [
        *(str(go(wanted.go_version)), "build", "-trimpath"),
        # Programs print their own version from here, as their releases do.
        *("-ldflags", f"-X main.version={wanted.version}"),
        *("-o", str(unfinished), wanted.package),
    ]
    done = subprocess.run(command, cwd=wanted.folder, env=go_environment(), check=False)
    if done.returncode != 0:
        raise SystemExit(f"go_programs: {wanted.name} {wanted.version} could not be built")
    unfinished.replace(wanted.path)


def main(wanted: list[str]) -> None:
    """Install the programs called `wanted`, or all of them, and print a line for each."""
    for name in wanted or names():
        path = program(name)
        print(f"{name} {GoProgram(SOURCES / name).version} {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
