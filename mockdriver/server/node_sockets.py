"""Many nodes in one process: a folder with a socket for each, and an index that tells which."""

from __future__ import annotations

import contextlib
import fnmatch
import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from mockdriver.cloud.errors import quoted
from mockdriver.server.own_files import write_whole
from mockdriver.server.sockets import EndpointMistake, require_short

MAX_NODES = 256
"""Each socket has a gRPC server with threads of its own."""

INDEX = "index.json"


class NodesMistake(ValueError):
    """Nodes that cannot be served together."""


def choose_nodes(ids: Sequence[str], patterns: Iterable[str]) -> list[str]:
    """Return the ids that one of the patterns matches, in the scenario's order; all without any.

    A pattern is an id, or one with `*`, `?` and `[…]` as shells have them. Raises NodesMistake
    for a pattern that matches nothing, and for more nodes than `MAX_NODES`.
    """
    wanted = dict.fromkeys(ids) if not (listed := list(patterns)) else {}
    known = frozenset(ids)
    for pattern in listed:
        matches = [pattern] if pattern in known else fnmatch.filter(ids, pattern)
        if not matches:
            raise NodesMistake(f"--nodes: the scenario has no instance {quoted(pattern)}")
        wanted |= dict.fromkeys(matches)
    chosen = [id for id in ids if id in wanted]
    if len(chosen) > MAX_NODES:
        raise NodesMistake(
            f"--nodes: {len(chosen)} nodes, one process serves at most {MAX_NODES}; name fewer"
        )
    return chosen


def socket_paths(folder: Path, node_ids: Sequence[str]) -> dict[str, Path]:
    """Return the socket of each node: its place among them, from 0, since an id can be any text.

    Raises EndpointMistake if the folder's name is too long for sockets in it.
    """
    paths = {id: folder / f"{place}.sock" for place, id in enumerate(node_ids)}
    longest = max(paths.values(), key=lambda path: len(path.name), default=folder / "0.sock")
    require_short(longest)
    return paths


def make_folder(folder: Path) -> None:
    """Make the folder unless it is there; raises EndpointMistake."""
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise EndpointMistake(
            f"--node-socket-dir {str(folder)!r}: cannot be made: {error.strerror}"
        ) from None


class Index:
    """The file that tells programs which socket is which node's."""

    def __init__(self, folder: Path, paths: Mapping[str, Path]) -> None:
        """Write the index, whole or not at all; raises EndpointMistake."""
        path = folder / INDEX
        text = json.dumps({id: str(path) for id, path in paths.items()}, indent=1)
        try:
            self._file = write_whole(path, text + "\n")
        except OSError as error:
            raise EndpointMistake(
                f"--node-socket-dir {str(folder)!r}: {INDEX} cannot be written: {error.strerror}"
            ) from None

    def remove(self) -> None:
        """Remove the index, unless another process has put its own in the place."""
        with contextlib.suppress(OSError):
            self._file.remove()
