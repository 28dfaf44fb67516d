"""The present state as a scenario file that can be loaded again."""

from __future__ import annotations

from typing import Any

import mockdriver
from mockdriver.control.errors import StateNotSayable
from mockdriver.control.world import Present
from mockdriver.driver.attachment_tags import PUBLISHED_AT_START
from mockdriver.driver.capabilities import BUILT
from mockdriver.driver.context import DriverConfig
from mockdriver.scenario.cloud_data import cloud_data
from mockdriver.scenario.codec import short_data
from mockdriver.scenario.driver_model import DriverModel
from mockdriver.scenario.durations import format_duration
from mockdriver.scenario.fault_model import data_of
from mockdriver.scenario.load import loads
from mockdriver.scenario.mistakes import ScenarioMistakes
from mockdriver.scenario.writing import file_text


def export(present: Present, name: str) -> str:
    """Return a file that says the present state, under a new name.

    Comments at its head tell what it cannot say. Raises StateNotSayable for a state that is too
    large for a file, or that no file can say.
    """
    notes: list[str] = []
    cloud = cloud_data(present.snapshot.cloud, PUBLISHED_AT_START, notes)
    data = {
        "scenario": name,
        "about": present.loaded.about,
        "driver": _driver(present.config, notes),
        "cloud": cloud,
        "faults": _faults(present, notes),
    }
    if present.mounted:
        notes.append(f"{present.mounted} volumes that are staged or published on nodes")
    comments = [
        f"Exported by mockdriver {mockdriver.__version__} from {present.loaded.name}.",
        "Not kept: the numbers of attachments, counters and buckets of the cloud's APIs, the",
        "record of calls, snapshots and the clock.",
        *(f"Not kept: {note}." for note in notes),
    ]
    text = file_text(
        {key: value for key, value in data.items() if value not in ("", {}, [])}, comments
    )
    try:
        loads(text, "export", story=False)
    except ScenarioMistakes as mistakes:
        raise StateNotSayable(mistakes) from None
    return text


def _driver(config: DriverConfig, notes: list[str]) -> dict[str, Any]:
    data = short_data(config, DriverModel)
    data.pop("capabilities", None)
    if "node_info_reply" in data:
        data["node_info_reply"] = str(config.node_info_reply)
    switched_off: dict[str, dict[str, bool]] = {}
    for capability in BUILT:
        if capability not in config.capabilities:
            switched_off.setdefault(capability.service, {})[capability.name] = False
    if switched_off:
        data["capabilities"] = switched_off
    if config.capabilities.overridden_numbers:
        notes.append("the numbers that --capability-number gave to capabilities")
    return data


def _faults(present: Present, notes: list[str]) -> list[dict[str, Any]]:
    found = []
    for state, seconds_left in present.snapshot.faults.faults:
        data = data_of(state.fault)
        if seconds_left is not None:
            data["lifetime"] = format_duration(max(1e-9, seconds_left))
        if state.matched or state.acted:
            notes.append(
                f"that fault {state.fault.name} has matched {state.matched} calls and acted on "
                f"{state.acted}"
            )
        found.append(data)
    return found
