"""A whole scenario file as a model: the root of the format, and of its JSON Schema."""

from __future__ import annotations

from pydantic import Field

from mockdriver.scenario.head_model import HeadModel
from mockdriver.scenario.kinds import ListOf
from mockdriver.scenario.story_model import StepModel


class ScenarioModel(HeadModel):
    """A scenario of mockdriver: a driver, the cloud behind it, and a story about both."""

    story: ListOf[StepModel] = Field(
        default=(), description="The steps, one after the other, and what each must answer."
    )
