"""The locks hold all that is installed, with hashes, and agree with pyproject.toml."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from mockdriver.server.http_servers import EXTRAS
from tests.packaging.locks import read_lock
from tests.packaging.tree import ROOT
from tools.lock import EXTRAS_OF_THE_SERVER

LOCKS = ["core", "run", "dev", "go"]


@pytest.fixture(scope="module")
def pyproject() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_hashes(name: str) -> None:
    packages = read_lock(name)

    assert packages
    assert [package for package, locked in packages.items() if not locked.hashes] == []


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_names_no_place_to_download_from(name: str) -> None:
    text = (ROOT / "requirements" / f"{name}.lock").read_text(encoding="utf-8")

    assert "://" not in text
    assert "--index" not in text
    assert "--find-links" not in text


def test_the_dev_lock_holds_all_of_the_run_lock() -> None:
    dev = read_lock("dev")

    assert {package: dev.get(package) for package in read_lock("run")} == read_lock("run")


def test_the_run_lock_holds_all_of_the_core_lock() -> None:
    run = read_lock("run")

    assert {package: run.get(package) for package in read_lock("core")} == read_lock("core")


def test_the_core_lock_holds_nothing_that_only_builds(pyproject: dict[str, Any]) -> None:
    builders = [Requirement(text).name for text in pyproject["build-system"]["requires"]]

    assert [name for name in builders if canonicalize_name(name) in read_lock("core")] == []


def test_the_run_lock_satisfies_what_running_and_building_need(pyproject: dict[str, Any]) -> None:
    needed = pyproject["project"]["dependencies"] + pyproject["build-system"]["requires"]

    assert _not_satisfied(needed, "run") == []


def test_the_core_lock_satisfies_what_running_needs(pyproject: dict[str, Any]) -> None:
    assert _not_satisfied(pyproject["project"]["dependencies"], "core") == []


@pytest.mark.parametrize("extra", EXTRAS_OF_THE_SERVER)
def test_the_core_lock_satisfies_what_page_and_metrics_need(
    extra: str, pyproject: dict[str, Any]
) -> None:
    assert _not_satisfied(pyproject["project"]["optional-dependencies"][extra], "core") == []


def test_the_extras_of_the_server_are_those_that_its_options_ask_for() -> None:
    assert set(EXTRAS_OF_THE_SERVER) == set(EXTRAS)


def test_the_dev_lock_satisfies_what_developing_needs(pyproject: dict[str, Any]) -> None:
    assert _not_satisfied(pyproject["dependency-groups"]["dev"], "dev") == []


def test_a_requirement_that_a_lock_lacks_is_noticed() -> None:
    assert _not_satisfied(["click>=1000", "no-such-package"], "run") == [
        "click>=1000",
        "no-such-package",
    ]


def test_what_the_build_needs_is_pinned_exactly(pyproject: dict[str, Any]) -> None:
    for text in pyproject["build-system"]["requires"]:
        assert [specifier.operator for specifier in Requirement(text).specifier] == ["=="], text


def _not_satisfied(requirements: list[str], lock: str) -> list[str]:
    packages = read_lock(lock)
    missing = []
    for text in requirements:
        requirement = Requirement(text)
        locked = packages.get(canonicalize_name(requirement.name))
        if locked is None or not requirement.specifier.contains(locked.version):
            missing.append(text)
    return missing
