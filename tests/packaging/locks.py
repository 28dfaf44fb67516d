"""Reading the locks in requirements/."""

from __future__ import annotations

import re
from dataclasses import dataclass

from packaging.utils import canonicalize_name

from tests.packaging.tree import ROOT


@dataclass(frozen=True)
class Locked:
    """One package of a lock."""

    version: str
    hashes: tuple[str, ...]


def read_lock(name: str) -> dict[str, Locked]:
    """Return the packages of requirements/<name>.lock by their normal names."""
    text = (ROOT / "requirements" / f"{name}.lock").read_text(encoding="utf-8")
    packages = {}
    for entry in re.split(r"\n(?=\S)", text):
        found = re.match(r"([\w.\-]+)==([^\s;]+)", entry)
        if found:
            hashes = tuple(re.findall(r"--hash=(\S+)", entry))
            packages[canonicalize_name(found.group(1))] = Locked(found.group(2), hashes)
    return {str(package): locked for package, locked in packages.items()}
