"""A composed YAML file: a tree of nodes that know their line and column."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from mockdriver.scenario.mistakes import Mistake, Path

Position = tuple[int, int]
"""Line and column, both from 1."""


@dataclass(slots=True)
class Node:
    """One value in the file: a scalar, a dict or a list, and where it stands.

    `value` is plain data, that of the children included. `size` and `height` are those of the
    tree below it, aliases followed. `broken` tells that a mistake about it is reported already.
    """

    value: Any
    position: Position
    children: dict[str, Node] | list[Node] | None = None
    keys: dict[str, Position] = field(default_factory=dict)
    size: int = 1
    height: int = 1
    broken: bool = False


@dataclass(frozen=True, slots=True)
class Tree:
    """A composed file, with the mistakes that did not stop the composing."""

    root: Node
    mistakes: tuple[Mistake, ...]

    def position(self, path: Path) -> Position:
        """Return where the value at `path` stands; of a value that is not there, what holds it."""
        return self._walk(path)[-1].position

    def key_position(self, path: Path) -> Position:
        """Return where the key stands that `path` ends with."""
        parent = self._walk(path[:-1])[-1]
        key = path[-1] if path else ""
        return parent.keys.get(key, parent.position) if isinstance(key, str) else parent.position

    def is_broken(self, path: Path) -> bool:
        """Tell whether the value at `path`, or one that holds it, is reported already."""
        return any(node.broken for node in self._walk(path))

    def find(self, path: Path) -> Node | None:
        """Return the node at `path`, None if there is none."""
        nodes = self._walk(path)
        return nodes[-1] if len(nodes) == len(path) + 1 else None

    def _walk(self, path: Path) -> list[Node]:
        nodes = [self.root]
        for element in path:
            child = _child(nodes[-1], element)
            if child is None:
                break
            nodes.append(child)
        return nodes


def _child(node: Node, element: str | int) -> Node | None:
    if isinstance(node.children, dict) and isinstance(element, str):
        return node.children.get(element)
    if isinstance(node.children, list) and isinstance(element, int):
        return node.children[element] if 0 <= element < len(node.children) else None
    return None
