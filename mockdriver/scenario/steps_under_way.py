"""Checks of steps that are left under way: each is collected by one later step."""

from __future__ import annotations

from mockdriver.scenario.mistakes import Path, not_among, quoted
from mockdriver.scenario.story_model import Arguments, Collect, OfTheCo
from mockdriver.scenario.validation import Report, Validated


class StepsUnderWay:
    """Goes along with the steps of a story, and knows which are under way."""

    def __init__(self, report: Report, found: Validated) -> None:
        self._report = report
        self._found = found
        self._under_way: dict[str, _Left] = {}

    def look_at(self, verb: str, arguments: Arguments, place: Path) -> tuple[str, str]:
        """Report a mistake; return the name that the step goes by, and whose answers it has.

        The name is empty for a step that neither is left under way nor collects one. The verb of
        the answers is empty for one that has none.
        """
        if isinstance(arguments, OfTheCo) and not arguments.wait:
            return self._left(verb, arguments, place), ""
        if isinstance(arguments, Collect):
            return self._collected(arguments, place)
        return "", verb

    def finish(self) -> None:
        """Report the steps that no one has collected."""
        for left in self._under_way.values():
            text = "this leaves the step under way, and no later step collects it"
            self._report.add(self._found.path(*left.place, "wait"), text)

    def _left(self, verb: str, arguments: OfTheCo, place: Path) -> str:
        name = arguments.as_ if arguments.as_ is not None else f"step {place[1]}"
        if name in self._under_way:
            text = f"{quoted(name)} is under way already; a name is free once it is collected"
            self._report.add(self._found.path(*place, "as"), text)
        self._under_way.setdefault(name, _Left(verb, place))
        return name

    def _collected(self, arguments: Collect, place: Path) -> tuple[str, str]:
        names = list(self._under_way)
        if not names:
            text = "no step is under way, a step of the CO with wait: false leaves one"
            self._report.add(self._found.path(*place), text)
            return "", "collect"
        name = names[0] if arguments.step is None else arguments.step
        if name not in self._under_way:
            unknown = not_among("step under way", name, names)
            self._report.add(self._found.path(*place, "step"), unknown)
            name = names[0]
        return name, self._under_way.pop(name).verb


class _Left:
    """A step under way: its verb, and where it stands in the file."""

    def __init__(self, verb: str, place: Path) -> None:
        self.verb = verb
        self.place = place
