"""Paths that a peer names: which are refused unread, and how the others are walked."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from mockdriver.driver.errors import InvalidField, PathInTheWay
from mockdriver.driver.mounts import safe_path
from mockdriver.driver.mounts.safe_path import checked, normal, opened

FIELD = "target_path"


def files_open() -> int:
    return len(os.listdir("/dev/fd"))  # noqa: PTH208 - a count is all that is wanted


def looked_at(path: Path | str) -> os.stat_result | None:
    with opened(FIELD, str(path)) as place:
        return place.look()


# ------------------------------------------------------------------------------ refused unread


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("", "must be an absolute path, got ''"),
        ("a/b", "must be an absolute path, got 'a/b'"),
        ("./a", "must be an absolute path, got './a'"),
        ("~/a", "must be an absolute path, got '~/a'"),
        ("\0/a", "must be an absolute path, got '\\x00/a'"),
        ("/a\0b", "must not contain a zero byte: '/a\\x00b'"),
        ("/..", "must not contain '..': '/..'"),
        ("/a/../b", "must not contain '..': '/a/../b'"),
        ("/a/..", "must not contain '..': '/a/..'"),
        ("/../../etc/passwd", "must not contain '..': '/../../etc/passwd'"),
        ("/", "must not be the root folder: '/'"),
        ("///", "must not be the root folder: '///'"),
        ("/./.", "must not be the root folder: '/./.'"),
        ("/a/" + "x" * 256, f"a name in a path has at most 255 bytes, got '{'x' * 100}…(256 char"),
        ("/" + "€" * 86 + "/b", "a name in a path has at most 255 bytes, got '€€"),
    ],
    ids=lambda value: value[:20] if value.startswith(("/", "\0")) else None,
)
def test_a_path_that_cannot_be_meant_is_refused(path: str, problem: str) -> None:
    with pytest.raises(InvalidField) as refused:
        checked(FIELD, path)
    assert str(refused.value).startswith(f"{FIELD}: {problem}")


@pytest.mark.parametrize(
    "path",
    [
        "/a",
        "/...",
        "/a..b/..c/d..",
        "/ ",
        "/\n\t\x7f",
        "/%s%n",
        "/$(id)/`id`/;id",
        "/\u202e\U0001f600",
        "/" + "x" * 255,
        "/" + "€" * 85,
    ],
    ids=ascii,
)
def test_any_other_path_is_taken_as_it_is(path: str) -> None:
    assert checked(FIELD, path) == path


@pytest.mark.parametrize("path", ["/a/b", "//a/b", "/a//b", "/a/b/", "/./a/./b/.", "/a/b//./"])
def test_what_means_nothing_is_left_out(path: str) -> None:
    assert checked(FIELD, path) == normal(path) == "/a/b"


def test_a_relative_path_is_no_absolute_one_when_it_is_made_normal() -> None:
    assert normal("a/./b/") == "a/./b/"


# ------------------------------------------------------------------------------------- the walk


def test_a_place_is_looked_at_in_its_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("content")
    found = looked_at(tmp_path / "file")
    assert found is not None
    assert found.st_size == 7
    assert looked_at(tmp_path / "nothing") is None


def test_the_root_s_own_folders_can_be_looked_at() -> None:
    assert looked_at("/dev") is not None


def test_a_link_at_the_end_is_seen_as_a_link(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    found = looked_at(tmp_path / "link")
    assert found is not None
    assert safe_path.is_link(found)


@pytest.mark.parametrize("target", [".", "/", "no-such", "link"])
def test_a_link_on_the_way_is_refused_wherever_it_points(target: str, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(target)
    with pytest.raises(InvalidField) as refused:
        looked_at(tmp_path / "link" / "a" / "b")
    assert str(refused.value) == (
        f"{FIELD}: '{tmp_path}/link' is a symbolic link; these are not followed"
    )


@pytest.mark.parametrize(
    ("path", "problem"),
    [
        ("no-such/a", "there is no folder '{}/no-such'"),
        ("no-such/b/c/a", "there is no folder '{}/no-such'"),
        ("file/a", "'{}/file' is no folder"),
        ("pipe/a/b", "'{}/pipe' is no folder"),
    ],
)
def test_a_folder_that_is_missing_or_none_is_named(path: str, problem: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(PathInTheWay) as refused:
        looked_at(tmp_path / path)
    assert str(refused.value) == f"{FIELD}: {problem.format(tmp_path)}"
    assert refused.value.missing


def test_a_path_of_4096_bytes_can_be_walked(tmp_path: Path) -> None:
    path, parent = str(tmp_path), os.open(tmp_path, os.O_RDONLY)
    while len(path) + 200 < 4096:
        name = "d" * min(200, 4096 - len(path) - 3)
        os.mkdir(name, dir_fd=parent)
        inner = os.open(name, os.O_RDONLY, dir_fd=parent)
        os.close(parent)
        path, parent = f"{path}/{name}", inner
    os.close(parent)
    assert looked_at(path) is not None
    assert looked_at(f"{path}/{'a' * (4095 - len(path))}") is None


def fail_to_open(monkeypatch: pytest.MonkeyPatch, name: bytes, number: int) -> None:
    """Let the folder `name` fail to open with an error."""
    real = os.open

    def failing(path: Any, *arguments: Any, **options: Any) -> int:
        if path == name:
            raise OSError(number, os.strerror(number))
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", failing)


@pytest.mark.parametrize("number", [errno.EACCES, errno.EIO, errno.ENAMETOOLONG, errno.EMFILE])
def test_a_folder_that_cannot_be_used_is_named_with_the_reason(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "odd").mkdir()
    fail_to_open(monkeypatch, b"odd", number)
    with pytest.raises(PathInTheWay) as refused:
        looked_at(tmp_path / "odd" / "a")
    assert str(refused.value) == (
        f"{FIELD}: the folder '{tmp_path}/odd' cannot be used: {os.strerror(number)}"
    )
    assert not refused.value.missing


def test_whatever_goes_wrong_in_the_block_is_about_the_path(tmp_path: Path) -> None:
    with pytest.raises(PathInTheWay) as refused, opened(FIELD, f"{tmp_path}/a"):
        raise PermissionError(errno.EPERM, "no")
    assert str(refused.value) == (
        f"{FIELD}: '{tmp_path}/a' cannot be used: Operation not permitted"
    )


def test_a_bug_in_the_block_stays_a_bug(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), opened(FIELD, f"{tmp_path}/a"):
        raise ZeroDivisionError


def test_a_walk_leaves_no_file_open(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path)
    before = files_open()
    looked_at(tmp_path / "a" / "b" / "c")
    for wrong in ("link/a", "no-such/a", "a/no-such/b"):
        with pytest.raises((InvalidField, PathInTheWay)):
            looked_at(tmp_path / wrong)
    with pytest.raises(PathInTheWay), opened(FIELD, f"{tmp_path}/a/b/c"):
        raise OSError
    assert files_open() == before


# --------------------------------------------------------------------------------- races with links


def test_a_folder_that_becomes_a_link_after_it_was_opened_is_still_that_folder(
    tmp_path: Path,
) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").touch()
    (tmp_path / "elsewhere").mkdir()
    with opened(FIELD, f"{tmp_path}/a/file") as place:
        (tmp_path / "a").rename(tmp_path / "moved")
        (tmp_path / "a").symlink_to(tmp_path / "elsewhere")
        found = place.look()
    assert found is not None
    assert found.st_ino == (tmp_path / "moved" / "file").stat().st_ino


def test_a_folder_that_becomes_a_link_during_the_walk_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "elsewhere" / "b").mkdir(parents=True)
    real = os.open

    def swapping(path: Any, *arguments: Any, **options: Any) -> int:
        if path == b"a":
            (tmp_path / "a").rename(tmp_path / "moved")
            (tmp_path / "a").symlink_to(tmp_path / "elsewhere")
        return real(path, *arguments, **options)

    monkeypatch.setattr(os, "open", swapping)
    with pytest.raises(InvalidField, match="is a symbolic link"):
        looked_at(tmp_path / "a" / "b" / "c")
