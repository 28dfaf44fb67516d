"""A composed file to a model: pydantic decides what is wrong, this module says where and how.

So that one report names all mistakes, what is wrong is cut out and the rest is validated again:
the result is a model of all that is right, which the checks across the file can look at.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from mockdriver.scenario.head_model import HeadModel
from mockdriver.scenario.kinds import MISTAKE, Problem
from mockdriver.scenario.mistakes import (
    MAX_MISTAKES,
    Mistake,
    Path,
    ScenarioMistakes,
    UnknownName,
    path_text,
    printable,
    shown,
)
from mockdriver.scenario.tree import Node, Tree

_ROUNDS = 12  # cutting goes from a value to what holds it, and the format is not deep
_MOST_EFFORT = 1_000_000  # in pairs of characters: a hundred suggestions, or under a second
_KEY = "[key]"  # pydantic's last place of an error about a key
_STAND_IN = {"scenario": "unnamed"}


class Report:
    """Collects the mistakes of one file."""

    def __init__(self, file: str, tree: Tree, model: type[HeadModel]) -> None:
        """Begin with the mistakes of the tree; `model` is what the file has to follow."""
        self.file = printable(file)
        self.tree = tree
        self.model = model
        self.mistakes = list(tree.mistakes)
        self._effort_left = _MOST_EFFORT

    def add(self, path: Path, text: str | UnknownName, *, at_key: bool = False) -> None:
        """Add a mistake about the value at `path`, or about its key.

        Raises `failure()` when there are so many that nobody goes on looking.
        """
        if isinstance(text, UnknownName):
            self._effort_left -= text.effort()
            text = str(text) if self._effort_left >= 0 else text.text
        self.mistakes.append(self.line_about(path, text, at_key=at_key))
        if len(self.mistakes) >= MAX_MISTAKES:
            raise self.failure()

    def line_about(self, path: Path, text: str, *, at_key: bool = False) -> Mistake:
        """Return the line that says `text` about the value at `path`, or about its key."""
        tree = self.tree
        line, column = tree.key_position(path) if at_key else tree.position(path)
        return Mistake(self.file, line, column, path_text(path), text)

    def failure(self) -> ScenarioMistakes:
        """Return the exception with all that was found."""
        return ScenarioMistakes(self.mistakes)


@dataclass
class Validated:
    """What is right in a file. `cut` are the paths of what is wrong and was cut out."""

    model: HeadModel
    data: Any
    cut: frozenset[Path] = frozenset()
    moved: Mapping[Path, Path] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._above_cut = {path[:end] for path in self.cut for end in range(len(path) + 1)}

    def path(self, *place: str | int) -> Path:
        """Return where in the file a place in the model is."""
        return _path_in_file(place, self.data, self.moved)

    def is_whole(self, *places: Path) -> bool:
        """Tell whether nothing was cut out at, below or above these places in the file."""
        return not any(
            place in self._above_cut
            or any(place[:end] in self.cut for end in range(len(place) + 1))
            for place in places
        )


def validate(report: Report) -> Validated | None:
    """Report all that is wrong with a file by itself; return what is right, None if nothing is."""
    root = report.tree.root
    if not isinstance(root.value, dict):
        if not root.broken:
            given = "an empty file" if root.value is None else shown(root.value)
            report.add((), f"{given} is not a scenario, {_keys(report.model)}")
        return None
    cut = set(_broken_paths(root))
    for attempt in range(_ROUNDS):
        moved: dict[Path, Path] = {}
        data = _without(root.value, cut, moved)
        try:
            wanted = data if attempt == 0 else {**_STAND_IN, **data}
            return Validated(report.model.model_validate(wanted), data, frozenset(cut), moved)
        except ValidationError as error:
            details = error.errors(include_url=False)
        holes = {path[:-1] for path in cut}
        to_cut: list[Path] = []
        for detail in details:
            finding = _Finding(report.model, detail, data, moved)
            if attempt == 0:
                finding.report(report, cut, holes)
            to_cut.extend(finding.to_cut(cut))
        cut.update(to_cut)
        if () in cut:
            return None
    return None


class _Finding:
    """One error of pydantic's."""

    def __init__(
        self,
        root: type[HeadModel],
        detail: ErrorDetails,
        data: Any,
        moved: Mapping[Path, Path],
    ) -> None:
        self._root = root
        self._detail = detail
        self._kind = detail["type"]
        self._is_missing = self._kind == "missing"
        place = detail["loc"][:-1] if self._is_missing else detail["loc"]
        self._path = _path_in_file(place, data, moved)
        if self._is_missing:
            self._path = (*self._path, detail["loc"][-1])

    def report(self, report: Report, cut: set[Path], holes: set[Path]) -> None:
        """Say it in our words, unless it only follows from what is reported already.

        `holes` are the places out of which something was cut.
        """
        if self._is_missing:
            if self._path not in cut:
                report.add(self._path, self._missing_text())
            return
        if self._kind != MISTAKE:
            at_key = self._kind == "extra_forbidden"
            report.add(self._path, self._structure_text(), at_key=at_key)
            return
        if self._path in holes:
            return
        for inside, text in self._problems():
            at_key = self._detail["loc"][-1:] == (_KEY,) or isinstance((0, *inside)[-1], str)
            report.add(self._path + inside, text, at_key=at_key)

    def to_cut(self, cut: set[Path]) -> Iterable[Path]:
        """Return the smallest part of the file without which this is no error."""
        if self._is_missing:
            # what the file itself must have is stood in for
            return [] if len(self._path) == 1 else [self._path[:-1]]
        if self._kind == MISTAKE:
            paths = [self._path + inside for inside, _ in self._problems()]
        else:
            paths = [self._path]
        # cut already, and still wrong: then it is what holds it
        return [path[:-1] if path in cut else path for path in paths]

    def _problems(self) -> list[Problem]:
        problems: list[Problem] = self._detail["ctx"]["problems"]
        return problems

    def _missing_text(self) -> str:
        model = _model_at(self._root, self._detail["loc"][:-1])
        for name, key in _keys_by_field(model).items() if model else ():
            if key == self._detail["loc"][-1]:
                return f"this key is missing, needed: {model_field_text(model, name)}"
        return "this key is missing"

    def _structure_text(self) -> str | UnknownName:
        place, value = self._detail["loc"], self._detail["input"]
        if self._kind == "extra_forbidden":
            key = str(place[-1])
            model = _model_at(self._root, place[:-1])
            known = list(_keys_by_field(model).values()) if model else []
            return UnknownName(f"unknown key, allowed: {', '.join(known)}", key, tuple(known))
        if self._kind == "tuple_type":
            return f"{shown(value)} is not allowed, allowed: a list"
        if self._kind == "dict_type":
            return f"{shown(value)} is not allowed, allowed: a mapping"
        model = _model_at(self._root, place)
        return f"{shown(value)} is not allowed, {_keys(model) if model else 'allowed: a mapping'}"


def model_field_text(model: type[BaseModel] | None, name: str) -> str:
    """Return a field's description as part of a sentence."""
    text = (model.model_fields[name].description or name) if model else name
    return f"{text[0].lower()}{text[1:].rstrip('.')}"


def _keys(model: type[BaseModel]) -> str:
    return f"allowed: a mapping with {', '.join(_keys_by_field(model).values())}"


def _keys_by_field(model: type[BaseModel]) -> dict[str, str]:
    return {name: info.alias or name for name, info in model.model_fields.items()}


def _model_at(root: type[BaseModel], place: Iterable[str | int]) -> type[BaseModel] | None:
    """Return the model that a mapping at this place has to follow, None if it has none."""
    wanted: Any = root
    for element in place:
        if isinstance(wanted, type) and issubclass(wanted, BaseModel):
            fields = {key: name for name, key in _keys_by_field(wanted).items()}
            name = fields.get(str(element))
            wanted = None if name is None else wanted.model_fields[name].annotation
        else:
            parts = get_args(wanted)  # of a dict the last one counts, of a tuple the first
            wanted = parts[-1 if get_origin(wanted) is dict else 0] if parts else None
        wanted = _bare(wanted)
    return wanted if isinstance(wanted, type) and issubclass(wanted, BaseModel) else None


def _bare(annotation: Any) -> Any:
    """Return a type without Annotated and without `| None`."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
            continue
        choices = [item for item in get_args(annotation) if item is not type(None)]
        if len(choices) == len(get_args(annotation)) or len(choices) != 1:
            return annotation
        annotation = choices[0]


def _path_in_file(place: Iterable[str | int], data: Any, moved: Mapping[Path, Path]) -> Path:
    """Return the path in the file of a place in the validated data.

    Elements that the data does not have are pydantic's own (`[key]`, the 0 of a list that was
    made of one mapping), or keys that are not there; both are left out.
    """
    seen: Path = ()
    path: Path = ()
    for element in place:
        present = (isinstance(data, dict) and element in data) or (
            isinstance(data, list) and isinstance(element, int) and element < len(data)
        )
        if present:
            data = data[element]
            seen = (*seen, element)
            path = moved.get(seen, (*path, element))
    return path


def _without(
    value: Any, cut: set[Path], moved: dict[Path, Path], path: Path = (), seen: Path = ()
) -> Any:
    """Return plain data without what is cut; `moved` learns which list items change places."""
    if isinstance(value, dict):
        return {
            key: _without(item, cut, moved, (*path, key), (*seen, key))
            for key, item in value.items()
            if (*path, key) not in cut
        }
    if not isinstance(value, list):
        return value
    kept: list[Any] = []
    for index, item in enumerate(value):
        if (*path, index) not in cut:
            place = (*seen, len(kept))
            if index != len(kept):
                moved[place] = (*path, index)
            kept.append(_without(item, cut, moved, (*path, index), place))
    return kept


def _broken_paths(root: Node) -> Iterable[Path]:
    """Yield the paths of what could not be read."""
    waiting: list[tuple[Path, Node]] = [((), root)]
    while waiting:
        path, node = waiting.pop()
        if node.broken:
            yield path
        elif isinstance(node.children, dict):
            waiting.extend(((*path, key), child) for key, child in node.children.items())
        elif isinstance(node.children, list):
            waiting.extend(((*path, index), child) for index, child in enumerate(node.children))
