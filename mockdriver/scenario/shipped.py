"""The scenarios that come with the program, by name: the file's name without .yaml."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import mockdriver
from mockdriver.scenario.composing import compose
from mockdriver.scenario.mistakes import unknown_name
from mockdriver.scenario.source import read_text, refusal

DEFAULT = "kep-6011-example"
"""The scenario of a server that is told none."""

_SUFFIX = ".yaml"
_FILE_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class ShippedScenario:
    """One shipped scenario, and what it says about itself."""

    name: str
    about: str
    path: Path


def folder() -> Path:
    """Return the folder of the shipped scenarios: in an installed package, or in a checkout."""
    package = Path(mockdriver.__file__).parent
    inside = package / "scenarios"
    return inside if inside.is_dir() else package.parent / "scenarios"


def names() -> list[str]:
    """Return the names of all shipped scenarios, in the order of the alphabet."""
    return sorted(path.stem for path in folder().glob(f"*{_SUFFIX}"))


def shipped() -> list[ShippedScenario]:
    """Return all shipped scenarios. Raises ScenarioMistakes for one that is no YAML at all."""
    found = []
    for name in names():
        path = folder() / f"{name}{_SUFFIX}"
        data = compose(read_text(str(path)), str(path)).root.value
        about = data.get("about") if isinstance(data, dict) else None
        found.append(ShippedScenario(name, str(about or ""), path))
    return found


def resolve_name(name: str) -> tuple[str, str]:
    """Return the path of a shipped scenario, and its name for messages.

    Raises ScenarioMistakes for any other name: it is never taken for that of a file.
    """
    known = names()
    if name not in known:
        raise refusal("name", unknown_name("shipped scenario", name, known))
    file = f"{name}{_SUFFIX}"
    return str(folder() / file), f"scenarios/{file}"


def resolve(file_or_name: str) -> tuple[str, str]:
    """Return the path of the file that is meant, and its name for messages.

    Raises ScenarioMistakes if it is neither a file nor the name of a shipped scenario.
    """
    looks_like_a_file = "/" in file_or_name or file_or_name.endswith(_FILE_ENDINGS)
    if looks_like_a_file or _is_there(file_or_name):
        return file_or_name, file_or_name
    known = names()
    if file_or_name in known:
        return resolve_name(file_or_name)
    problem = unknown_name("shipped scenario", file_or_name, known)
    raise refusal(file_or_name, f"there is no such file, and {problem}")


def _is_there(path: str) -> bool:
    try:
        return path != "" and Path(path).exists()
    except (OSError, ValueError):  # too long, or with a NUL byte: no name of a file
        return False
