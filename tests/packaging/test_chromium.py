"""Finding the browser of the page's tests, and what is said where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.tree import ROOT
from tools import chromium


@pytest.fixture
def bare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a PATH on which there is nothing; return its only folder."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv(chromium.VARIABLE, raising=False)
    monkeypatch.setattr(chromium, "OF_MACOS", ())
    return tmp_path


def script(path: Path, text: str = "") -> Path:
    """Write a program."""
    path.write_text(f"#!/bin/sh\n{text}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", chromium.NAMES)
def test_a_browser_on_the_path_is_taken(name: str, bare: Path) -> None:
    there = script(bare / name)

    assert chromium.program() == there


def test_the_variable_names_another_one(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    script(bare / "chromium")
    mine = script(bare / "mine")
    monkeypatch.setenv(chromium.VARIABLE, str(mine))

    assert chromium.program() == mine


def test_a_variable_that_names_nothing_is_told(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(chromium.VARIABLE, "/no/such/program")

    with pytest.raises(SystemExit, match="MOCKDRIVER_CHROMIUM='/no/such/program' is no program"):
        chromium.program()


def test_where_it_can_be_installed_it_is(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    # The first try finds no lists of packages, as on a new machine.
    script(
        bare / "apt-get",
        f'case "$1" in\nupdate) : >"{bare}/lists" ;;\n'
        f'install) [ -e "{bare}/lists" ] || exit 100; : >"{bare}/chromium"; '
        f'/bin/chmod +x "{bare}/chromium" ;;\nesac',
    )

    assert chromium.program() == bare / "chromium"


def test_where_installing_fails_it_is_told_what_to_do(
    bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    script(bare / "apt-get", "exit 100")

    with pytest.raises(SystemExit, match="apt-get could not install it: install one"):
        chromium.program()


@pytest.mark.parametrize("user", [0, 1000])
def test_where_nothing_can_be_installed_it_is_told_what_to_do(
    user: int, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: user)
    if user:
        script(bare / "apt-get", "exit 1")

    with pytest.raises(SystemExit, match=r"there is none: install one .*apt-get install chromium"):
        chromium.program()


@pytest.mark.browser
def test_the_command_prints_where_the_browser_is() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tools.chromium"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )

    assert Path(done.stdout.strip()).is_file()
