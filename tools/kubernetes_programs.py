"""Build the Kubernetes programs of the end-to-end suite: `python -m tools.kubernetes_programs`.

All are pinned by one Go module, e2e/kubernetes: those of other modules by a `tool` line of its
go.mod, our own by a folder in its cmd. One module for all builds faster than one for each, since
they share most of their packages. To add one:

    cd e2e/kubernetes && go get -tool PACKAGE@VERSION && go mod tidy

The first build takes 8 to 15 minutes on 2 cores and leaves 5 GiB in Go's build cache and 3 GiB in
its module cache. It may be interrupted: the next one goes on. A program is built again when go.mod,
go.sum or the sources of our own programs have changed.

With --replace and --kubernetes, programs come from source trees of one's own. Standard library
only.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType

from tools.bare_machine import CACHE, ROOT
from tools.go_module import GoModule
from tools.go_toolchain import go, go_environment
from tools.kubernetes_forks import KUBERNETES, Forks, forks, version_of_tree
from tools.one_at_a_time import one_at_a_time

MODULE = GoModule(ROOT / "e2e" / "kubernetes")
BINARIES = CACHE / "kubernetes" / "bin"
MOD_FILES = CACHE / "kubernetes" / "forks"

_NAMES = {"go.etcd.io/etcd/server/v3": "etcd"}
"""The programs whose name is not the last part of their package's path."""

_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_REPORT_EVERY_SECONDS = 30
_KEPT_LINES = 40


@dataclass(frozen=True)
class KubernetesProgram:
    """One program. `package` is what Go is asked to build, `module` where that comes from."""

    name: str
    package: str
    module: str
    version: str

    @property
    def ours(self) -> bool:
        """Whether its source is in cmd."""
        return self.package.startswith("./")


@dataclass(frozen=True)
class Build:
    """Where programs come from, and where they go."""

    into: Path
    forks: Forks
    kubernetes: Path | None = None

    def version(self, wanted: KubernetesProgram) -> str:
        """Return the version that a program of this build reports."""
        if wanted.module not in self.forks:
            return wanted.version
        if wanted.module == KUBERNETES and self.kubernetes is not None:
            return version_of_tree(self.kubernetes, wanted.version)
        return f"{wanted.version}+fork"


def programs() -> list[KubernetesProgram]:
    """Return all programs: those of go.mod in its order, and then our own."""
    theirs = [_their_program(package) for package in MODULE.tools]
    folders = sorted(path.parent for path in MODULE.folder.glob("cmd/*/main.go"))
    _, version = MODULE.module_of(KUBERNETES)
    ours = [
        KubernetesProgram(folder.name, f"./cmd/{folder.name}", KUBERNETES, version)
        for folder in folders
    ]
    return theirs + ours


def install(wanted: list[KubernetesProgram], build: Build) -> None:
    """Build those of `wanted` that are not there as they should be; a line tells of each."""
    build.into.mkdir(parents=True, exist_ok=True)
    with one_at_a_time("kubernetes-programs"):
        missing = [program for program in wanted if not _is_there(program, build)]
        for number, program in enumerate(missing, start=1):
            version = build.version(program)
            _say(f"{number}/{len(missing)} {program.name} {version} …")
            began = time.monotonic()
            _build(program, build)
            size_mib = (build.into / program.name).stat().st_size >> 20
            _say(f"    {time.monotonic() - began:.0f} s, {size_mib} MiB")


def _their_program(package: str) -> KubernetesProgram:
    module, version = MODULE.module_of(package)
    name = _NAMES.get(package) or package.rpartition("/")[2]
    return KubernetesProgram(name, package, module, version)


def _digest(program: KubernetesProgram) -> str:
    """Return what a program is built from, in one word."""
    total = hashlib.sha256(MODULE.digest.encode())
    total.update(" ".join(_flags(program, program.version)).encode())
    if program.ours:
        for file in sorted((MODULE.folder / program.package).glob("**/*.go")):
            total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def _stamp(program: KubernetesProgram, build: Build) -> Path:
    return build.into / f"{program.name}.built-from"


def _is_there(program: KubernetesProgram, build: Build) -> bool:
    """Tell whether a program need not be built. What is built from a fork always is: Go knows."""
    stamp = _stamp(program, build)
    return (
        not build.forks
        and stamp.exists()
        and stamp.read_text(encoding="utf-8") == _digest(program)
        and os.access(build.into / program.name, os.X_OK)
    )


def _flags(program: KubernetesProgram, version: str) -> list[str]:
    """Return the flags that make it small, and tell it its version as its release does."""
    settings = {"main.version": version}
    if program.module == KUBERNETES:
        major, minor = re.findall(r"\d+", version)[:2]
        settings = {
            f"{package}.{name}": value
            for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
            for name, value in (
                ("gitVersion", version),
                ("gitMajor", major),
                ("gitMinor", minor),
            )
        }
    words = ["-s", "-w", *(f"-X {name}={value}" for name, value in settings.items())]
    return ["-trimpath", "-buildvcs=false", "-ldflags", " ".join(words)]


def _build(program: KubernetesProgram, build: Build) -> None:
    target = build.into / program.name
    unfinished = target.with_suffix(".unfinished")
    command = [str(go(MODULE.go_version)), "build", "-v", *_flags(program, build.version(program))]
    if build.forks:
        # A fork may need modules that our go.mod does not know.
        command += [f"-modfile={build.forks.mod_file(MODULE, MOD_FILES)}", "-mod=mod"]
    command += ["-o", str(unfinished), program.package]
    try:
        _run(command, program.name)
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
    if build.forks:
        _stamp(program, build).unlink(missing_ok=True)
    else:
        _stamp(program, build).write_text(_digest(program), encoding="utf-8")


def _run(command: list[str], name: str) -> None:
    """Run `go build -v`, which names each package that it compiles, and tell how it gets on."""
    began = reported = time.monotonic()
    lines: list[str] = []
    compiled = 0
    with _process(command) as process:
        assert process.stderr is not None
        for line in process.stderr:
            lines = [*lines[-_KEPT_LINES:], line]
            compiled += not line.startswith(("go: ", "#"))
            if time.monotonic() - reported > _REPORT_EVERY_SECONDS:
                reported = time.monotonic()
                _say(f"    {compiled} packages compiled, {reported - began:.0f} s")
    if process.returncode != 0:
        print("".join(lines), file=sys.stderr, end="")
        raise SystemExit(f"kubernetes_programs: {name} could not be built")


@contextmanager
def _process(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Run `command` in the module's folder; it has ended when the block is left, come what may."""
    process = None
    try:
        with _signals_come_after():
            process = subprocess.Popen(
                command,
                cwd=MODULE.folder,
                env=go_environment(),
                stdin=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                errors="replace",
            )
        yield process
    except BaseException:
        if process is not None:
            process.terminate()
        raise
    finally:
        if process is not None:
            process.communicate()


@contextmanager
def _signals_come_after() -> Iterator[None]:
    """Let signals that end us come when the block has ended: they find a process, or none yet."""
    came: list[int] = []

    def remember(number: int, frame: FrameType | None) -> None:
        came.append(number)

    before = [signal.signal(number, remember) for number in _ENDING]
    try:
        yield
    finally:
        for number, handler in zip(_ENDING, before, strict=True):
            signal.signal(number, handler)
        if came:
            signal.raise_signal(came[0])


def _say(text: str) -> None:
    print(f"kubernetes_programs: {text}", flush=True)


def _chosen(names: list[str], build: Build) -> list[KubernetesProgram]:
    known = {program.name: program for program in programs()}
    if unknown := [name for name in names if name not in known]:
        raise SystemExit(
            f"kubernetes_programs: no program {unknown[0]!r}; known: {', '.join(sorted(known))}"
        )
    if names:
        return [known[name] for name in names]
    if build.forks:
        return [program for program in known.values() if program.module in build.forks]
    return list(known.values())


def main(arguments: list[str]) -> None:
    """Build what `arguments` ask for; raises SystemExit for a mistake in them."""
    parser = argparse.ArgumentParser(
        prog="python -m tools.kubernetes_programs",
        description="Build the Kubernetes programs of the end-to-end suite.",
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="which ones; all if none is named")
    parser.add_argument("--into", type=Path, metavar="FOLDER", help=f"where to; {BINARIES} if not")
    parser.add_argument(
        "--replace",
        action="append",
        default=[],
        metavar="MODULE=FOLDER",
        help="build with the module in FOLDER instead of the pinned one; may be given several "
        "times. Without names only the programs of these modules are built",
    )
    parser.add_argument(
        "--kubernetes",
        type=Path,
        metavar="FOLDER",
        help="the same with a whole Kubernetes source tree",
    )
    given = parser.parse_args(arguments)
    chosen_forks = forks(given.replace, given.kubernetes)
    if chosen_forks and given.into is None:
        parser.error("--replace and --kubernetes need --into, so that pinned programs stay pinned")
    into = (given.into or BINARIES).resolve()
    if chosen_forks and into == BINARIES:
        parser.error(f"--into {into}: this is where the pinned programs are")
    build = Build(into, chosen_forks, given.kubernetes)
    for number in _ENDING:
        if number is not signal.SIGHUP or signal.getsignal(number) is not signal.SIG_IGN:  # nohup
            signal.signal(number, signal.default_int_handler)  # Go is to end with us
    try:
        install(_chosen(given.names, build), build)
    except KeyboardInterrupt:
        raise SystemExit("kubernetes_programs: interrupted; the next build goes on here") from None


if __name__ == "__main__":
    main(sys.argv[1:])
