"""A driver on the seeded runtime: calls at once, in an order that a seed chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from mockdriver.cloud import IMMEDIATELY, Quota, Transition
from mockdriver.co.calling import Answer
from mockdriver.journal.log_lines import LogFormat, call_line
from mockdriver.runtime import SeededRuntime
from tests.cloud.small_region import SmallRegion
from tests.driver.small_driver import SmallDriver

Action = Callable[[], Answer | None]


class RacingDriver(SmallDriver):
    """A driver whose callers run at once; a caller that can never go on is a `Deadlock`."""

    def __init__(
        self,
        seed: int,
        *,
        attach: Transition = IMMEDIATELY,
        detach: Transition = IMMEDIATELY,
        quotas: Mapping[str, Quota] | None = None,
    ) -> None:
        self.seeded = SeededRuntime(seed)
        super().__init__(
            SmallRegion(runtime=self.seeded, attach=attach, detach=detach, quotas=quotas)
        )

    def run(self, *actions: Action) -> list[Answer | None]:
        """Do all actions at once; return their answers in the order given."""
        answers: list[Answer | None] = [None] * len(actions)

        def task(place: int, action: Action) -> Callable[[], None]:
            def act() -> None:
                answers[place] = action()

            return act

        self.seeded.run(*[task(place, action) for place, action in enumerate(actions)])
        return answers

    def run_for_codes(self, *actions: Action) -> list[str]:
        """Do all actions at once; return the codes of those that are calls, in the order given."""
        return [answer.code for answer in self.run(*actions) if answer is not None]

    def later(self, seconds: float, *actions: Action) -> Action:
        """Make an action of several, one after the other; it answers as the last one does."""

        def act() -> Answer | None:
            self.pause(seconds)
            answers = [action() for action in actions]
            return answers[-1]

        return act

    def silently(self, seconds: float, action: Callable[[], object]) -> Action:
        """Make an action, after a while, out of something that is no call."""

        def act() -> None:
            self.pause(seconds)
            action()

        return act

    def journal_text(self) -> str:
        """Return the whole journal as log lines."""
        epoch_seconds = self.runtime.epoch_seconds
        lines = [call_line(e, LogFormat.JSON, epoch_seconds) for e in self.journal.entries()]
        return "\n".join(lines)

    def assert_at_rest(self) -> None:
        """Assert that every call has ended and that none left anything behind."""
        assert "RUNNING" not in self.codes()
        assert self.keys_in_flight() == 0
        assert self.region.cloud.core._watchers == {}
        assert self.journal._in_flight == 0
