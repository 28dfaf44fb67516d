"""Composing: YAML text to a tree of nodes that know their line and column.

Nodes, depth and what aliases stand for are counted while composing and have caps, so that no file
can take long or grow. Only plain data comes out: no tag but YAML's own basic ones is known. The
caps are such that the worst file takes about a second.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    CollectionStartEvent,
    DocumentStartEvent,
    Event,
    MappingStartEvent,
    ScalarEvent,
)
from ruamel.yaml.scanner import Scanner, ScannerError

from mockdriver.scenario.mistakes import (
    MAX_MISTAKES,
    SHOWN_CHARACTERS,
    Mistake,
    Path,
    ScenarioMistakes,
    path_text,
    printable,
    quoted,
)
from mockdriver.scenario.scalars import (
    PLAIN_TAGS,
    TAG_PREFIX,
    NotAScalar,
    plain_value,
    tagged_value,
)
from mockdriver.scenario.tree import Node, Position, Tree

MAX_NODES = 20_000
MAX_DEPTH = 40
MAX_TAG_CHARACTERS = 256
MAX_DIRECTIVES = 8

_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_ALLOWED_TAGS = f"allowed: {', '.join(f'!!{tag}' for tag in PLAIN_TAGS)}"


def compose(text: str, file: str) -> Tree:
    """Compose a text with one YAML document.

    Raises ScenarioMistakes where composing cannot go on: no YAML, too much of it, or another
    document. `file` is the name for messages.
    """
    return _Composer(file).compose(text)


class _CappedScanner(Scanner):
    """ruamel's scanner, without two things that take it many seconds and one that it trips over."""

    directives = 0

    def fetch_directive(self) -> None:
        self.directives += 1
        if self.directives > MAX_DIRECTIVES:
            raise _scanner_error(f"more than {MAX_DIRECTIVES} directives", self)
        super().fetch_directive()

    def scan_tag(self) -> Any:
        ahead = self.reader.prefix(MAX_TAG_CHARACTERS + 1)
        if len(ahead) > MAX_TAG_CHARACTERS and len(ahead.split(maxsplit=1)[0]) == len(ahead):
            raise _scanner_error(f"a tag of more than {MAX_TAG_CHARACTERS} characters", self)
        return super().scan_tag()

    def scan_flow_scalar(self, style: Any) -> Any:
        try:
            return super().scan_flow_scalar(style)
        except (ValueError, OverflowError):  # chr() of "\UFFFFFFFF"
            raise _scanner_error("an escape of no character", self) from None


def _scanner_error(problem: str, scanner: Scanner) -> ScannerError:
    return ScannerError(None, None, problem, scanner.reader.get_mark())


@dataclass(slots=True)
class _Open:
    """A collection whose end has not come yet."""

    node: Node
    nodes_before: int
    anchor: str | None
    key: str | None = None
    awaits_key: bool = True
    drops_value: bool = False

    def path_element(self) -> Path:
        """Return where in this collection the composer is."""
        if isinstance(self.node.children, list):
            return (len(self.node.children),)
        return () if self.key is None else (self.key,)


class _Composer:
    def __init__(self, file: str) -> None:
        self._file = printable(file)
        self._mistakes: list[Mistake] = []
        self._open: list[_Open] = []
        self._anchors: dict[str, Node | None] = {}
        self._nodes = 0
        self._root: Node | None = None
        self._documents = 0
        self._reached: Position = (1, 1)

    def compose(self, text: str) -> Tree:
        for event in self._events(text):
            match event:
                case DocumentStartEvent():
                    self._documents += 1
                    if self._documents > 1:
                        raise self._stop(_start(event), "a second document, allowed: one in a file")
                case AliasEvent():
                    self._alias(event)
                case ScalarEvent():
                    self._scalar(event)
                case CollectionStartEvent():
                    self._begin(event)
                case CollectionEndEvent():
                    self._end()
        root = self._root or Node(None, (1, 1))
        return Tree(root, tuple(self._mistakes))

    def _events(self, text: str) -> Iterator[Any]:
        yaml = YAML(typ="safe", pure=True)
        yaml.Scanner = _CappedScanner
        try:
            for event in yaml.parse(text):
                self._reached = _start(event)
                yield event
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            position = (mark.line + 1, mark.column + 1) if mark else (1, 1)
            raise self._stop(position, _syntax_text(error)) from None
        except Exception:
            # Nothing is known to get here. But thousands of lines that read hostile text are not
            # ours, and no text may end in a traceback.
            raise self._stop(self._reached, "not readable as YAML") from None

    def _alias(self, event: AliasEvent) -> None:
        position = _start(event)
        self._count(position)
        name = str(event.anchor)
        target = self._anchors.get(name)
        if target is None:
            what = "stands for itself" if name in self._anchors else "has no anchor before it"
            self._place_broken(position, f"the alias {quoted('*' + name)} {what}")
            return
        if self._expects_key():
            self._refuse_key(position, "an alias as a key, allowed: text")
            return
        self._count(position, target.size - 1)
        self._check_depth(position, target.height)
        self._place(
            Node(
                value=target.value,
                position=position,
                children=target.children,
                keys=target.keys,
                size=target.size,
                height=target.height,
                broken=target.broken,
            )
        )

    def _scalar(self, event: ScalarEvent) -> None:
        position = _start(event)
        self._count(position)
        tag = None if event.tag is None else str(event.tag)
        if self._expects_key():
            self._key(event, tag, position)
            return
        if event.start_mark.index == event.end_mark.index:
            position = self._position_of_nothing(position)
        if _HALF_CHARACTER.search(event.value):
            self._place_broken(position, "half a character (\\ud800 to \\udfff) cannot be used")
            return
        try:
            value = self._value(event, tag)
        except NotAScalar as error:
            self._place_broken(position, str(error), event.anchor)
            return
        self._place(Node(value, position), event.anchor)

    def _position_of_nothing(self, position: Position) -> Position:
        """Return the position of a value that is not written: its key's, where it has one."""
        frame = self._open[-1] if self._open else None
        if frame is None or frame.key is None:
            return position  # of the next thing in the file
        return frame.node.keys.get(frame.key, position)

    def _value(self, event: ScalarEvent, tag: str | None) -> Any:
        if tag is None:
            return plain_value(event.value) if event.implicit[0] else event.value
        if tag == "!":
            return event.value
        if not _is_plain_tag(tag):
            raise NotAScalar(f"unknown tag {_tag_text(tag)}, {_ALLOWED_TAGS}")
        return tagged_value(tag, event.value)

    def _key(self, event: ScalarEvent, tag: str | None, position: Position) -> None:
        """Take a key. Keys are text as it is written: `25:` is the key "25"."""
        key, frame = event.value, self._open[-1]
        if tag not in (None, "!", f"{TAG_PREFIX}str"):
            self._refuse_key(position, f"a key with the tag {_tag_text(str(tag))}, allowed: text")
        elif key == "" and event.implicit[0]:
            self._refuse_key(position, "an empty key, allowed: text")
        elif key == "<<" and event.implicit[0]:
            self._refuse_key(position, "merge keys (<<) are not known, allowed: keys written out")
        elif _HALF_CHARACTER.search(key):
            self._refuse_key(position, "half a character (\\ud800 to \\udfff) cannot be used")
        elif key in frame.node.keys:
            line, column = frame.node.keys[key]
            frame.key = key
            self._report(
                position, f"this key is there already, at {line}:{column}; once is allowed"
            )
            self._skip_value(frame)
        else:
            frame.node.keys[key] = position
            frame.key = key
            frame.awaits_key = False

    def _begin(self, event: CollectionStartEvent) -> None:
        position = _start(event)
        self._count(position)
        self._check_depth(position, 1)
        if self._expects_key():
            self._refuse_key(position, "a list or a mapping as a key, allowed: text")
            self._open[-1].awaits_key = True  # what follows is still the key: see _end
        is_mapping = isinstance(event, MappingStartEvent)
        node = Node({}, position, children={}) if is_mapping else Node([], position, children=[])
        tag = None if event.tag is None else str(event.tag)
        if tag not in (None, "!", f"{TAG_PREFIX}{'map' if is_mapping else 'seq'}"):
            node.broken = True
            if _is_plain_tag(str(tag)):
                self._report(position, f"the tag {_tag_text(str(tag))} does not fit this value")
            else:
                self._report(position, f"unknown tag {_tag_text(str(tag))}, {_ALLOWED_TAGS}")
        if event.anchor is not None:
            self._anchors[event.anchor] = None
        self._open.append(_Open(node, self._nodes - 1, event.anchor))

    def _end(self) -> None:
        frame = self._open.pop()
        frame.node.size = self._nodes - frame.nodes_before
        if self._expects_key():  # it was a key, and is refused already
            self._skip_value(self._open[-1])
            return
        self._place(frame.node, frame.anchor)

    def _place(self, node: Node, anchor: str | None = None) -> None:
        """Put a finished node where it belongs."""
        if anchor is not None:
            self._anchors[anchor] = node
        if not self._open:
            self._root = node
            return
        frame = self._open[-1]
        parent = frame.node
        if isinstance(parent.children, list):
            parent.children.append(node)
            parent.value.append(node.value)
        elif not frame.drops_value and isinstance(parent.children, dict) and frame.key is not None:
            parent.children[frame.key] = node
            parent.value[frame.key] = node.value
        parent.height = max(parent.height, node.height + 1)
        frame.key, frame.awaits_key, frame.drops_value = None, True, False

    def _place_broken(self, position: Position, text: str, anchor: str | None = None) -> None:
        """Report a value, and put nothing in its place that anybody else would complain about."""
        if self._expects_key():
            self._refuse_key(position, text)
            return
        self._report(position, text)
        self._place(Node(None, position, broken=True), anchor)

    def _refuse_key(self, position: Position, text: str) -> None:
        self._report(position, text)
        self._skip_value(self._open[-1])

    def _skip_value(self, frame: _Open) -> None:
        frame.awaits_key, frame.drops_value = False, True

    def _expects_key(self) -> bool:
        if not self._open:
            return False
        frame = self._open[-1]
        return isinstance(frame.node.children, dict) and frame.awaits_key

    def _count(self, position: Position, nodes: int = 1) -> None:
        self._nodes += nodes
        if self._nodes > MAX_NODES:
            text = f"too many values, allowed: at most {MAX_NODES}, aliases as what they stand for"
            raise self._stop(position, text)

    def _check_depth(self, position: Position, height: int) -> None:
        if len(self._open) + height > MAX_DEPTH:
            raise self._stop(position, f"nested too deep, allowed: at most {MAX_DEPTH} levels")

    def _path(self) -> Path:
        path: Path = ()
        for frame in self._open:
            path += frame.path_element()
        return path

    def _report(self, position: Position, text: str) -> None:
        line, column = position
        self._mistakes.append(Mistake(self._file, line, column, path_text(self._path()), text))
        if len(self._mistakes) >= MAX_MISTAKES:
            raise ScenarioMistakes(self._mistakes)

    def _stop(self, position: Position, text: str) -> ScenarioMistakes:
        self._report(position, text)
        return ScenarioMistakes(self._mistakes)


def _start(event: Event) -> Position:
    return event.start_mark.line + 1, event.start_mark.column + 1


def _is_plain_tag(tag: str) -> bool:
    return tag.startswith(TAG_PREFIX) and tag.removeprefix(TAG_PREFIX) in PLAIN_TAGS


def _tag_text(tag: str) -> str:
    if tag.startswith(TAG_PREFIX):
        tag = f"!!{tag.removeprefix(TAG_PREFIX)}"
    return quoted(tag)


def _syntax_text(error: MarkedYAMLError) -> str:
    problem = str(error.problem or "no reason given")
    if "'\\t' that cannot start any token" in problem:
        return "a tab where YAML allows spaces only"
    text = problem if error.context is None else f"{problem}, {error.context}"
    return f"not readable as YAML: {printable(text[: 2 * SHOWN_CHARACTERS])}"
