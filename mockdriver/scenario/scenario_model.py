"""A whole scenario file as a model: the root of the format, and of its JSON Schema."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from mockdriver.scenario.base_model import Model
from mockdriver.scenario.cloud_model import CloudModel
from mockdriver.scenario.driver_model import DriverModel
from mockdriver.scenario.kinds import ListOf, Text, text_that
from mockdriver.scenario.story_model import StepModel

NAME = text_that("text that is not empty", bool, {"minLength": 1})


class ScenarioModel(Model):
    """A scenario of mockdriver: a driver, the cloud behind it, and a story about both."""

    scenario: Annotated[str, NAME] = Field(description="The scenario's name.")
    about: Text = Field(default="", description="What it shows, for people.")
    driver: DriverModel = Field(
        default_factory=DriverModel.model_construct, description="How the driver behaves."
    )
    cloud: CloudModel = Field(
        default_factory=CloudModel.model_construct,
        description="What there is when the story begins.",
    )
    story: ListOf[StepModel] = Field(
        default=(), description="The steps, one after the other, and what each must answer."
    )
