"""The scenarios that come with the program: each has a story, and each story goes well."""

from __future__ import annotations

from pathlib import Path

import pytest

from mockdriver.play import play
from mockdriver.scenario.load import load

FILES = sorted((Path(__file__).resolve().parent.parent.parent / "scenarios").iterdir())
NAMES = [file.stem for file in FILES]


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_a_shipped_story_goes_well(file: Path) -> None:
    wrong = [result for result in play(load(str(file))) if not result.passed]

    assert [(item.step.line, item.step.verb, item.mismatches) for item in wrong] == []


@pytest.mark.parametrize("file", FILES, ids=NAMES)
def test_a_shipped_scenario_tells_what_it_is_about_and_has_its_files_name(file: Path) -> None:
    loaded = load(str(file))

    assert loaded.name == file.stem
    assert len(loaded.about) > 20
    assert len(loaded.story) >= 3
    assert file.suffix == ".yaml"
