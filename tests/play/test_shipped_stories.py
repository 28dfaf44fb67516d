"""The scenarios that come with the program: each has a story, and each story goes well."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from mockdriver.play import play
from mockdriver.scenario.load import load
from tests.play.stories import goes_well

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


def test_a_story_can_be_played_where_temporary_folders_have_long_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ("long" * 25)
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))

    goes_well("- register: {node: i-1}")
