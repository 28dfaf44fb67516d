"""Go programs are pinned by go.mod and go.sum, and these say which version a program is."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.go_programs import SOURCES, GoProgram, names, program


def test_grpcurl_is_pinned_to_the_release_that_the_documentation_names() -> None:
    grpcurl = GoProgram(SOURCES / "grpcurl")

    assert grpcurl.package == "github.com/fullstorydev/grpcurl/cmd/grpcurl"
    assert grpcurl.version == "v1.9.4"


def test_csi_sanity_is_pinned_to_the_release_that_the_documentation_names() -> None:
    csi_sanity = GoProgram(SOURCES / "csi-sanity")

    assert csi_sanity.package == "github.com/kubernetes-csi/csi-test/v5/cmd/csi-sanity"
    assert csi_sanity.version == "v5.6.0"


OURS = {"e2e-lines"}
"""Programs whose source is in this repository."""


def test_a_program_of_our_own_is_told_by_its_source(tmp_path: Path) -> None:
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "go.mod").write_text("module a.invalid/one\n\ngo 1.25\n\ntool a.invalid/one\n")
    (folder / "go.sum").write_text("")
    source = folder / "main.go"
    source.write_text("package main\n")
    before = GoProgram(folder)
    versions = {before.version}
    source.write_text("package main\n\nfunc main() {}\n")

    assert before.digest.startswith(before.version.removeprefix("v0-"))
    assert before.version not in versions


@pytest.mark.parametrize("name", sorted({*names()} - OURS))
def test_every_program_has_a_version_a_go_and_hashes(name: str) -> None:
    one = GoProgram(SOURCES / name)

    assert one.version.startswith("v")
    assert one.go_version >= (1, 24)  # the first that knows the `tool` line
    assert f"{one.version} h1:" in (one.folder / "go.sum").read_text(encoding="utf-8")


def test_an_unknown_program_is_refused_with_the_known_names() -> None:
    with pytest.raises(
        SystemExit, match="no program 'grpcurll'; known: csi-sanity, e2e-lines, grpcurl"
    ):
        program("grpcurll")
