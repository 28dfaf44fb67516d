from __future__ import annotations

from pathlib import Path

import pytest

import mockdriver
from mockdriver.scenario import shipped
from mockdriver.scenario.load import load
from mockdriver.scenario.mistakes import ScenarioMistakes

CHECKOUT = Path(__file__).parents[2]


def test_a_checkout_has_its_scenarios_beside_the_package() -> None:
    assert shipped.folder() == CHECKOUT / "scenarios"


def test_an_installed_package_has_its_scenarios_inside(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside = tmp_path / "mockdriver" / "scenarios"
    inside.mkdir(parents=True)
    (inside / "b.yaml").write_text("scenario: b\nabout: B it is.\n")
    (inside / "a.yaml").write_text("scenario: a\n")
    (inside / "notes.txt").write_text("no scenario")
    monkeypatch.setattr(mockdriver, "__file__", str(inside.parent / "__init__.py"))
    assert shipped.shipped() == [
        shipped.ShippedScenario("a", "", inside / "a.yaml"),
        shipped.ShippedScenario("b", "B it is.", inside / "b.yaml"),
    ]
    assert load("b").about == "B it is."


def test_every_shipped_scenario_is_named_after_its_file_and_has_a_story() -> None:
    assert shipped.DEFAULT in shipped.names()
    for scenario in shipped.shipped():
        loaded = load(scenario.name)
        assert loaded.name == scenario.name
        assert loaded.file == f"scenarios/{scenario.name}.yaml"
        assert loaded.about == scenario.about != ""
        assert loaded.story


def test_what_looks_like_a_file_is_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("kep-6011-example.yaml", "./kep-6011-example", "x.yml"):
        with pytest.raises(ScenarioMistakes, match=r"there is no such file$"):
            load(name)


def test_a_file_that_is_there_goes_before_a_shipped_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("kep-6011-example").write_text("scenario: mine\n")
    assert load("kep-6011-example").name == "mine"


def test_an_unknown_name_has_the_nearest_known_one() -> None:
    with pytest.raises(ScenarioMistakes) as caught:
        load("kep-6011-exampel")
    (line,) = str(caught.value).splitlines()
    assert line.startswith(
        "kep-6011-exampel:1:1: file: there is no such file, and unknown shipped scenario "
        '"kep-6011-exampel", allowed: '
    )
    assert line.endswith('did you mean "kep-6011-example"?')


@pytest.mark.parametrize("name", ["", "a" * 5000, "a\0b", "-"])
def test_a_name_that_no_file_can_have_is_refused_in_one_line(name: str) -> None:
    with pytest.raises(ScenarioMistakes) as caught:
        load(name)
    (line,) = str(caught.value).splitlines()
    assert ":1:1: file: there is no such file" in line
