"""Where a scenario comes from: a name, a file, or what stands in the test itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

Scenario = str | Path | Mapping[str, object]
"""The name of a shipped scenario, the path of a file, the text of one, or the same as a dict."""

DEFAULT_SCENARIO = "kep-6011-example"
"""That of `mockdriver serve` too."""

_FILE_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class ScenarioSource:
    """One of three: the name of a shipped scenario, a file, or the text of one."""

    name: str = ""
    file: Path | None = None
    text: str = ""

    def __str__(self) -> str:
        return self.name or (str(self.file) if self.file else "inline")

    @property
    def yaml(self) -> str:
        """The text, be it in a file; empty for a shipped scenario. Raises OSError."""
        return self.file.read_text(encoding="utf-8") if self.file else self.text

    @property
    def content(self) -> str:
        """What tells whether it is the same scenario as another time. Raises OSError."""
        return self.yaml or self.name


def scenario_source(scenario: Scenario, folder: Path | None = None) -> ScenarioSource:
    """Return what is meant by `scenario`; paths of files are relative to `folder`.

    A text is a scenario if it has several lines or begins with a bracket, a file if it has a slash
    or ends with .yaml or .yml, else a name.
    """
    if isinstance(scenario, Mapping):
        # JSON is YAML, but for the pairs of \\u that it would make of an emoji.
        return ScenarioSource(text=json.dumps(scenario, ensure_ascii=False, default=dict))
    if isinstance(scenario, str):
        if "\n" in scenario or scenario.lstrip().startswith(("{", "scenario:")):
            return ScenarioSource(text=scenario)
        if "/" not in scenario and not scenario.endswith(_FILE_ENDINGS):
            return ScenarioSource(name=scenario)
    return ScenarioSource(file=((folder or Path.cwd()) / scenario).absolute())
