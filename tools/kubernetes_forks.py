"""Building Kubernetes programs from source trees of one's own instead of pinned modules.

The committed go.mod stays as it is: a second one, with other `replace` lines, goes to the cache,
and Go is told to use that one (`-modfile`). Standard library only.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tools.go_module import GoModule
from tools.go_toolchain import go, go_environment

KUBERNETES = "k8s.io/kubernetes"
STAGING = Path("staging") / "src" / "k8s.io"
"""Where a Kubernetes tree has the modules that are published as k8s.io/NAME."""


@dataclass(frozen=True)
class Forks:
    """Modules by path, each with the folder to take it from. None at all is the usual case."""

    folders: dict[str, Path]

    def __bool__(self) -> bool:
        return bool(self.folders)

    def __contains__(self, module: str) -> bool:
        return module in self.folders

    def mod_file(self, module: GoModule, cache: Path) -> Path:
        """Write `module`'s go.mod with these replacements, and its go.sum, into `cache`.

        Return the path of the first. Raises SystemExit if Go refuses a replacement.
        """
        digest = hashlib.sha256(repr(sorted(self.folders.items())).encode()).hexdigest()[:12]
        cache.mkdir(parents=True, exist_ok=True)
        file = cache / f"{digest}.mod"
        file.write_text(module.text, encoding="utf-8")
        shutil.copyfile(module.folder / "go.sum", file.with_suffix(".sum"))
        replacements = [f"-replace={path}={folder}" for path, folder in self.folders.items()]
        command = [str(go(module.go_version)), "mod", "edit", *replacements, str(file)]
        if subprocess.run(command, env=go_environment(), check=False).returncode != 0:
            raise SystemExit("kubernetes_forks: Go does not take these replacements")
        return file


def forks(replacements: list[str], kubernetes: Path | None) -> Forks:
    """Read MODULE=FOLDER texts, and the folder of a whole Kubernetes tree.

    Raises SystemExit, with a line that says why, for a folder that is not what it should be.
    """
    found: dict[str, Path] = {}
    if kubernetes is not None:
        found |= _kubernetes_tree(kubernetes.resolve())
    for text in replacements:
        module, equals, folder = text.partition("=")
        if not (module and equals and folder):
            raise SystemExit(f"kubernetes_forks: --replace {text!r}: must be MODULE=FOLDER")
        found[module] = _module_folder(Path(folder).resolve(), module)
    return Forks(found)


def version_of_tree(kubernetes: Path, otherwise: str) -> str:
    """Return the version that programs of a Kubernetes tree report: its own, marked as a fork's.

    Features are gated by it, so it has to be that of the source and not that of our pins.
    """
    base = kubernetes / STAGING / "component-base" / "version" / "base.go"
    text = base.read_text(encoding="utf-8") if base.is_file() else ""
    found = re.search(r'DefaultKubeBinaryVersion\s*=\s*"(\d+\.\d+)"', text)
    pinned = otherwise.removeprefix("v")
    if found is None or pinned.startswith(f"{found.group(1)}."):
        return f"v{pinned}+fork"
    return f"v{found.group(1)}.0+fork"


def _kubernetes_tree(folder: Path) -> dict[str, Path]:
    staged = sorted(file.parent for file in (folder / STAGING).glob("*/go.mod"))
    if not staged:
        raise SystemExit(f"kubernetes_forks: {folder} is no Kubernetes tree: it has no {STAGING}")
    return {
        KUBERNETES: _module_folder(folder, KUBERNETES),
        **{f"k8s.io/{part.name}": part for part in staged},
    }


def _module_folder(folder: Path, module: str) -> Path:
    go_mod = folder / "go.mod"
    text = go_mod.read_text(encoding="utf-8") if go_mod.is_file() else ""
    named = re.search(r"^module (\S+)", text, re.MULTILINE)
    if named is None:
        raise SystemExit(f"kubernetes_forks: {folder} holds no Go module, {module} is wanted")
    if named.group(1) != module:
        raise SystemExit(
            f"kubernetes_forks: {folder} holds the module {named.group(1)}, {module} is wanted"
        )
    return folder
