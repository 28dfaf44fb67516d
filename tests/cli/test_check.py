"""`mockdriver check`: right or wrong, and all that is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from mockdriver.cli import main

RIGHT = "{scenario: right, story: [{advance: 1s}, {advance: 2s}]}\n"

WRONG = """\
scenario: wrong
clod: {}
cloud:
  provider: azure
  instance_types: {small: {slots: -1}}
  instances: [{id: i-1, type: smal}]
story:
  - register: {node: i-2}
    expect: {max_volumes: 3}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a right and a wrong file."""
    (tmp_path / "right.yaml").write_text(RIGHT)
    (tmp_path / "wrong.yaml").write_text(WRONG)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def check(*files: str) -> tuple[int, list[str], list[str]]:
    """Run the command; return exit code, and the lines of standard output and error."""
    result = CliRunner().invoke(main, ["check", *files])
    return result.exit_code, result.stdout.splitlines(), result.stderr.splitlines()


def test_a_right_file_is_ok(folder: Path) -> None:
    assert check("right.yaml") == (0, ["right.yaml: ok, 2 steps"], [])


def test_a_shipped_scenario_is_checked_by_its_name() -> None:
    code, out, err = check("kep-6011-example")

    assert (code, err) == (0, [])
    assert re.fullmatch(r"scenarios/kep-6011-example\.yaml: ok, \d+ steps", out[0])


def test_all_mistakes_of_a_file_are_listed_with_their_positions_in_order(folder: Path) -> None:
    code, out, err = check("wrong.yaml")

    assert code == 1
    assert out == []
    found = [re.fullmatch(r"wrong\.yaml:(\d+):(\d+): (\S+): (.+)", line) for line in err]
    assert [match and match.group(1, 2, 3) for match in found] == [
        ("2", "1", "clod"),
        ("4", "13", "cloud.provider"),
        ("5", "35", "cloud.instance_types.small.slots"),
        ("6", "31", "cloud.instances[0].type"),
        ("8", "22", "story[0].register.node"),
        ("9", "14", "story[0].expect.max_volumes"),
    ]


def test_a_mistake_tells_what_is_allowed_and_what_was_meant(folder: Path) -> None:
    _, _, err = check("wrong.yaml")

    assert 'did you mean "cloud"?' in err[0]
    assert "provider azure is not built yet, allowed: generic" in err[1]
    assert "-1 is not allowed" in err[2]
    assert 'unknown instance type "smal", allowed: small, did you mean "small"?' in err[3]
    assert 'unknown instance "i-2", allowed: i-1' in err[4]
    assert 'did you mean "max_volumes_per_node"?' in err[5]


def test_every_file_is_checked_and_one_wrong_one_is_enough(folder: Path) -> None:
    code, out, err = check("wrong.yaml", "right.yaml", "no-such.yaml")

    assert code == 1
    assert out == ["right.yaml: ok, 2 steps"]
    assert err[-1] == "no-such.yaml:1:1: file: there is no such file"
    assert len(err) == 7


def test_what_is_no_yaml_is_one_mistake(folder: Path) -> None:
    (folder / "broken.yaml").write_text("scenario: [\n")

    code, _, err = check("broken.yaml")

    assert code == 1
    assert len(err) == 1
    assert err[0].startswith("broken.yaml:")


def test_a_file_has_to_be_named() -> None:
    code, _, err = check()

    assert code == 2
    assert any("FILE|NAME..." in line for line in err)
