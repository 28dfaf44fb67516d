"""What the control API itself refuses, as typed errors; the cloud and the driver have their own."""

from __future__ import annotations

from collections.abc import Sequence

from mockdriver.cloud import Attachment
from mockdriver.cloud.errors import quoted
from mockdriver.scenario.mistakes import ScenarioMistakes


class ControlError(Exception):
    """Base of what the control API refuses."""


class InvalidRequest(ControlError):
    """Fields of a request that are not allowed: `problems` are pairs of a field and what is wrong.

    Where there are many the message tells the first ones.
    """

    def __init__(self, problems: Sequence[tuple[str, str]]) -> None:
        self.problems = tuple(problems)
        lines = [f"{field}: {problem}" for field, problem in self.problems[:_SHOWN_PROBLEMS]]
        more = len(self.problems) - _SHOWN_PROBLEMS
        super().__init__("; ".join(lines) + (f"; and {more} more" if more > 0 else ""))


_SHOWN_PROBLEMS = 5


class NoSuchRpc(ControlError):
    """The control API has no such service or RPC, or it is not served here."""


class AttachmentGone(ControlError):
    """Somebody detached the disk while this call waited for it."""

    def __init__(self, attachment: Attachment) -> None:
        self.attachment = attachment
        super().__init__(
            f"disk {quoted(attachment.disk)} was detached from instance "
            f"{quoted(attachment.instance)} while this call waited for it"
        )


class ScenarioRefused(ControlError):
    """A scenario with mistakes cannot be loaded; `mistakes` are all of them."""

    def __init__(self, mistakes: ScenarioMistakes) -> None:
        self.mistakes = mistakes
        super().__init__(str(mistakes))


class StateNotSayable(ControlError):
    """The state is more than a scenario file can say, or has what none can say."""

    def __init__(self, mistakes: ScenarioMistakes) -> None:
        self.mistakes = mistakes
        super().__init__(f"no scenario file can say the present state: {mistakes}")


class SnapshotNotFound(ControlError):
    """No snapshot has this name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"no snapshot has the name {quoted(name)}")


class TooManySnapshots(ControlError):
    """There are as many snapshots as there can be."""

    def __init__(self, most: int) -> None:
        super().__init__(f"there are {most} snapshots, which is all that is kept; delete some")
