"""`mockdriver schema` and `mockdriver scenarios`."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from mockdriver.cli import main
from mockdriver.scenario.story_model import VERBS

SCENARIOS = Path(__file__).resolve().parent.parent.parent / "scenarios"


def run(command: str) -> str:
    """Run a command that succeeds; return its standard output."""
    result = CliRunner().invoke(main, [command])
    assert result.exit_code == 0
    assert result.stderr == ""
    return result.stdout


def schema() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(run("schema"))
    return found


def test_the_schema_is_a_json_schema_of_a_mapping() -> None:
    found = schema()

    assert found["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert found["type"] == "object"
    assert found["required"] == ["scenario"]
    assert found["additionalProperties"] is False
    assert set(found["properties"]) == {
        "scenario",
        "about",
        "driver",
        "cloud",
        "faults",
        "story",
    }


def references(part: object) -> Iterator[str]:
    """Yield what all `$ref` inside a part of the schema point at."""
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for inner in part.values():
            yield from references(inner)
    elif isinstance(part, list):
        for inner in part:
            yield from references(inner)


def test_every_reference_in_the_schema_points_at_a_definition() -> None:
    found = schema()

    wanted = set(references(found))
    assert len(wanted) > 10
    assert wanted <= {f"#/$defs/{name}" for name in found["$defs"]}


def test_every_key_of_the_schema_is_described() -> None:
    found = schema()
    models = {"scenario": found, **found["$defs"]}

    def description(part: dict[str, Any]) -> str:
        name = part.get("$ref", "").removeprefix("#/$defs/")
        return str(part.get("description") or found["$defs"].get(name, {}).get("description", ""))

    undescribed = [
        f"{model}.{key}"
        for model, definition in models.items()
        for key, part in definition["properties"].items()
        if len(description(part)) < 8
    ]
    assert undescribed == []


def test_every_verb_is_in_the_schema() -> None:
    step = schema()["$defs"]["StepModel"]

    assert set(step["properties"]) == {*VERBS, "expect"}


def test_every_shipped_file_is_listed_with_what_it_is_about() -> None:
    lines = [line.split(maxsplit=1) for line in run("scenarios").splitlines()]

    assert [name for name, _ in lines] == sorted(path.stem for path in SCENARIOS.iterdir())
    assert all(len(about) > 20 for _, about in lines)


def test_the_scenarios_that_were_promised_are_there() -> None:
    assert {line.split()[0] for line in run("scenarios").splitlines()} >= {
        "kep-6011-example",
        "resource-exhausted",
        "out-of-band-attach",
        "network-interface-added",
        "boot-disk-outside-budget",
        "dedicated-slots",
        "three-zones",
        "misleading-node-reply",
    }
