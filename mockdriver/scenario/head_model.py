"""A scenario file without its story: all that a server needs."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field

from mockdriver.scenario.base_model import Model
from mockdriver.scenario.cloud_model import CloudModel
from mockdriver.scenario.driver_model import DriverModel
from mockdriver.scenario.fault_model import FaultModel
from mockdriver.scenario.kinds import ListOf, Text, text_that

NAME = text_that("text that is not empty", bool, {"minLength": 1})


class HeadModel(Model):
    """A scenario whose story is taken as it is, unread.

    The models of stories are half of all models, and making them takes longer than reading a
    file: a server that plays no story starts without them.
    """

    scenario: Annotated[str, NAME] = Field(description="The scenario's name.")
    about: Text = Field(default="", description="What it shows, for people.")
    driver: DriverModel = Field(
        default_factory=DriverModel.model_construct, description="How the driver behaves."
    )
    cloud: CloudModel = Field(
        default_factory=CloudModel.model_construct,
        description="What there is when the story begins.",
    )
    faults: ListOf[FaultModel] = Field(
        default=(), description="What goes wrong from the start; the first that matches acts."
    )
    story: Any = Field(default=(), description="What happens, not read here.")
