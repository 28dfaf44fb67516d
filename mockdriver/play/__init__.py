"""Stories: the steps in a scenario file, played against a private server, with their verdicts."""

from mockdriver.play.player import StepResult, play

__all__ = ["StepResult", "play"]
