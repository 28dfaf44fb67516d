"""What the repository must not hold: generated code, and traces of one machine."""

from __future__ import annotations

import re

import pytest

from hatch_build import GENERATED
from tests.packaging.tree import ROOT, files

# In two parts each, so that this file does not hold what it forbids.
REGISTRY_HOSTS = [
    "pypi." + "org",
    "pythonhosted." + "org",
    "proxy.golang." + "org",
    "sum.golang." + "org",
    "npmjs." + "org",
    "crates." + "io",
    "maven." + "org",
    "maven.apache." + "org",
    "deb.debian." + "org",
]
MACHINE_FOLDERS = ["/" + "work", "/" + "root"]
# A folder at the root of the file system, not one below another, nor the start of a longer name.
FORBIDDEN = re.compile(
    "|".join(map(re.escape, REGISTRY_HOSTS))
    + "|"
    + "|".join(rf"(?<![\w.\-}}*>]){re.escape(folder)}(?![\w\-])" for folder in MACHINE_FOLDERS)
)


def test_no_generated_module_is_part_of_the_tree() -> None:
    assert [path for path in files() if str(path) in GENERATED] == []


def test_no_file_names_a_package_registry_or_a_folder_of_one_machine() -> None:
    found = []
    for path in files():
        text = (ROOT / path).read_text(encoding="utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            found += [f"{path}:{number}: {hit.group()}" for hit in FORBIDDEN.finditer(line)]

    assert found == []


@pytest.mark.parametrize(
    "line",
    [
        f"see https://{REGISTRY_HOSTS[0]}/simple",
        f"--find-links={MACHINE_FOLDERS[0]}/wheels",
        f"({MACHINE_FOLDERS[1]})",
    ],
)
def test_a_planted_trace_is_found(line: str) -> None:
    assert FORBIDDEN.search(line)


@pytest.mark.parametrize("line", ["net/workers", "a/rootfs", "frame/root", "/rooted", "a /works b"])
def test_words_that_only_look_like_a_trace_are_not_found(line: str) -> None:
    assert not FORBIDDEN.search(line)
