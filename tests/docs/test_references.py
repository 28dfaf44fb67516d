"""What documents point to exists: files, headings, tests."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.docs.blocks import ROOT, documents, prose_of, text_of
from tests.packaging.tree import files

LINK = re.compile(
    r"\[[^\]]*\]\((?P<target>[^)\s]+)\)|^\[[^\]]+\]: (?P<definition>\S+)", re.MULTILINE
)
CODE = re.compile(r"`([^`]+)`")
PATH = re.compile(r"[\w.-]+(/[\w.-]+)+(::\w+)?|[\w-]+\.(md|toml)")
NOT_IN_THE_TREE = (".venv", ".cache")
"""Folders that documents name although no clone has them."""


def _links(document: str) -> Iterator[tuple[str, str]]:
    """Yield the relative links of a document, each with where it stands."""
    prose = "\n".join(line for _, line in prose_of(document))
    for found in LINK.finditer(prose):
        target = found["target"] or found["definition"]
        if not re.match(r"[a-z]+:", target):
            line = prose[: found.end()].count("\n") + 1
            yield f"{document}:{line}", target


def _anchors(document: str) -> set[str]:
    """Return the anchors of a document's headings, as GitHub makes them."""
    headings = [line.lstrip("#").strip() for _, line in prose_of(document) if line.startswith("#")]
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def _paths(document: str) -> Iterator[tuple[str, str]]:
    """Yield what looks like a path in the inline code of a document, with where it stands."""
    for number, line in prose_of(document):
        for code in CODE.findall(line):
            if PATH.fullmatch(code) and not code.startswith(NOT_IN_THE_TREE):
                yield f"{document}:{number}", code


THERE = {str(place) for path in files() for place in (path, *path.parents)}
"""All files of the project and the folders that they are in: an empty folder is in no clone."""


def _missing_link(document: str, target: str) -> bool:
    path, _, anchor = target.partition("#")
    linked = os.path.normpath(Path(document).parent / path) if path else document
    return linked not in THERE or bool(anchor and anchor not in _anchors(linked))


def _missing_path(path: str) -> bool:
    """Tell whether there is no such file; after `::` comes the name of a test in it.

    Paths begin at the project's root, or in the package mockdriver.
    """
    file, _, test = path.partition("::")
    found = [name for name in (file, f"mockdriver/{file}") if name in THERE]
    return not found or bool(test and f"def {test}(" not in text_of(found[0]))


@pytest.mark.parametrize("document", documents())
def test_relative_links_lead_to_files_and_headings(document: str) -> None:
    missing = [
        f"{place}: {target}"
        for place, target in _links(document)
        if _missing_link(document, target)
    ]

    assert missing == []


@pytest.mark.parametrize("document", documents())
def test_files_and_tests_that_the_text_names_exist(document: str) -> None:
    assert [f"{at}: {path}" for at, path in _paths(document) if _missing_path(path)] == []


@pytest.mark.parametrize(
    "target", ["nowhere.md", "architecture.md#no-heading", "../LICENSE/x", "#no-heading"]
)
def test_a_link_that_leads_nowhere_is_found(target: str) -> None:
    assert _missing_link("docs/scenarios.md", target)


@pytest.mark.parametrize("path", ["driver/none.py", "tests/docs/blocks.py::test_none", "docs/none"])
def test_a_path_that_leads_nowhere_is_found(path: str) -> None:
    assert _missing_path(path)


def test_links_and_paths_are_found_at_all() -> None:
    assert {"LICENSE", "docs/scenarios.md#driver"} <= {target for _, target in _links("README.md")}
    assert "driver/rpcs.py" in {path for _, path in _paths("docs/architecture.md")}


def test_every_document_can_be_reached_from_the_readme() -> None:
    reached, new = set[str](), {"README.md"}
    while new:
        reached |= new
        targets = {
            os.path.normpath(Path(document).parent / target.partition("#")[0])
            for document in new
            for _, target in _links(document)
        }
        new = (targets & set(documents())) - reached

    assert set(documents()) - reached == set()


def test_every_decision_is_numbered_and_says_what_was_decided() -> None:
    records = sorted((ROOT / "docs" / "decisions").glob("[0-9]*.md"))

    numbers = [int(record.name[:4]) for record in records]
    assert numbers == list(range(1, len(records) + 1))
    for record in records:
        text = text_of(str(record.relative_to(ROOT)))
        assert text.startswith(f"# {record.name[:4]}: "), record.name
        assert "\n## Decision\n" in text, record.name
