"""Whatever path a peer names, nothing changes but what lies at the path of a successful call."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.driver.mounts.watched_tree import canaries, state_of
from tests.driver.small_driver import of
from tests.driver.small_node import BLOCK, SmallNode

ALLOWED = {
    "OK",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "ALREADY_EXISTS",
    "FAILED_PRECONDITION",
}
"""What the error tables of the node RPCs allow; UNKNOWN and INTERNAL are not among them."""

NAMES = st.sampled_from(
    [
        *("..", ".", "", "...", "~", "target", "new", "canaries", "full", "deep", "bird", "empty"),
        *("nothing-in-it", "to-the-full", "to-a-bird", "to-nowhere", "staging", "pods", "\0", "\n"),
        *("%s%n", "$(touch pwned)", "`id`", "\u202e", "\U0001f600", "x" * 255, "x" * 256, "a" * 40),
    ]
)
ROOTED = st.sampled_from(
    ["", "{}", "{}/canaries", "{}/pods", "{}/pods/..", "/{}", "{}//", "/", "."]
)
PATHS = st.builds(
    lambda root, names, end: "/".join([root, *names]) + end,
    ROOTED,
    st.lists(NAMES, max_size=6),
    st.sampled_from(["", "/", "/.", "/.."]),
)


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SmallNode]:
    """Return a node in a watched folder, with `vol-1` staged and `vol-block` staged for block."""
    node = SmallNode(tmp_path_factory.mktemp("watched"))
    of(node.stage())
    of(node.stage(node.attach("vol-block"), wanted=BLOCK))
    canaries(node.folder)
    yield node
    assert node.driver.keys_in_flight() == 0


def changed(node: SmallNode, before: object) -> list[str]:
    """Return the paths at which something has changed."""
    now = state_of(node.folder)
    assert isinstance(before, dict)
    return [path for path in {**before, **now} if before.get(path) != now.get(path)]


def is_inside(path: str, node: SmallNode) -> bool:
    """Tell whether an absolute path can only lead into the watched folder, if it leads anywhere.

    The tests send no path that could do harm elsewhere if the driver were wrong.
    """
    folder = str(node.folder)
    normal = os.path.normpath("/" + path)
    return not path.startswith("/") or normal.lstrip("/").startswith(folder.lstrip("/") + "/")


@settings(max_examples=400, deadline=None)
@example(template="{}/canaries/to-the-full/new", volume="vol-1")
@example(template="{}/canaries/to-the-full/deep/bird", volume="vol-block")
@example(template="{}/canaries/to-a-bird", volume="vol-block")
@example(template="{}/canaries/full", volume="vol-1")
@example(template="{}/canaries/bird", volume="vol-block")
@example(template="{}/pods/../canaries/new", volume="vol-1")
@example(template="{}/staging", volume="vol-1")
@given(template=PATHS, volume=st.sampled_from(["vol-1", "vol-block"]))
def test_publishing_changes_nothing_but_its_target(
    template: str, volume: str, watched: SmallNode
) -> None:
    path = template.replace("{}", str(watched.folder))
    if not is_inside(path, watched):
        return
    wanted = BLOCK if volume == "vol-block" else None
    before = state_of(watched.folder)
    published = watched.publish(volume, path, wanted=wanted)
    assert published.code in ALLOWED
    if published.ok:
        # What was empty and of the right kind has given way; nothing else has changed.
        assert changed(watched, before) == [os.path.normpath("/" + path.lstrip("/"))]
    else:
        assert changed(watched, before) == []
    assert watched.unpublish(volume, path).code in ALLOWED
    if published.ok:
        gone = Path(os.path.normpath("/" + path.lstrip("/")))
        assert not os.path.lexists(gone)
        if str(gone) in before:  # an empty folder or file of ours gave way: put it back
            gone.touch() if volume == "vol-block" else gone.mkdir()
    else:
        assert changed(watched, before) == []


@settings(max_examples=400, deadline=None)
@example(template="{}/canaries/to-the-full")
@example(template="{}/canaries/bird")
@example(template="{}")
@given(template=PATHS)
def test_no_other_call_changes_anything(template: str, watched: SmallNode) -> None:
    path = template.replace("{}", str(watched.folder))
    before = state_of(watched.folder)
    for answer in (
        watched.stage(path=path),
        watched.unpublish(path=path) if is_inside(path, watched) else watched.stage(path=path),
        watched.stats(path=path),
        watched.publish(path=watched.target, staging=path + "/no-such"),
        watched.unstage(path=path),
    ):
        assert answer.code in ALLOWED
    assert state_of(watched.folder) == before
    of(watched.stage())


@pytest.mark.parametrize(
    "path",
    [
        *("../../etc/passwd", "/../../etc/passwd", "etc/passwd", "//../etc/passwd"),
        *("\0/etc/passwd", "/etc\0/passwd", "/proc/self/root/tmp", "/proc/self/cwd/x"),
        *("/dev/stdin/x", "/dev/fd/0/x", "/", "//", "/.", "/..", "file:///etc", "C:\\x", " /etc"),
    ],
)
def test_paths_of_the_textbook_are_refused(path: str, watched: SmallNode) -> None:
    before = state_of(watched.folder)
    answer = watched.publish(path=path)
    assert answer.code in {"INVALID_ARGUMENT", "FAILED_PRECONDITION"}
    assert answer.message.startswith("target_path: ")
    assert state_of(watched.folder) == before
