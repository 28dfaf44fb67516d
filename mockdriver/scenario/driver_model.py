"""The `driver` part of a scenario file: how the storage provider behaves."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from mockdriver.scenario.base_model import Model
from mockdriver.scenario.capability_names import BUILT, KNOWN
from mockdriver.scenario.kinds import FLAG, Kind, Problem, mistake, mistakes_at, name_of, text_that
from mockdriver.scenario.mistakes import not_allowed, not_among

DEFAULT_NAME = "mock.csi.example.com"
MAX_NAME_CHARACTERS = 63

_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?")

PLUGIN_NAME = text_that(
    f"a CSI plugin name: at most {MAX_NAME_CHARACTERS} letters, digits, `-`, `_` and `.`, with a "
    "letter or a digit at both ends",
    lambda text: len(text) <= MAX_NAME_CHARACTERS and _NAME.fullmatch(text) is not None,
    {"pattern": f"^{_NAME.pattern}$", "maxLength": MAX_NAME_CHARACTERS},
)
"""CSI spec, GetPluginInfoResponse.name."""


def _switches(service: str) -> Kind:
    known, built = KNOWN[service], BUILT[service]

    def check(value: object) -> dict[str, bool]:
        if not isinstance(value, dict):
            raise mistake(not_allowed(value, f"a mapping with {', '.join(built)}"))
        problems: list[Problem] = []
        for name, switch in value.items():
            if name not in known:
                problems.append(((name,), not_among("capability", name, built)))
            elif not isinstance(switch, bool | None):
                problems.append(((name,), not_allowed(switch, "true or false")))
            elif switch and name not in built:
                listed = ", ".join(built) or "none"
                problems.append(((name,), f"{name} is not built yet, built are: {listed}"))
        if problems:
            raise mistakes_at(problems)
        return {name: switch for name, switch in value.items() if switch is not None}

    properties = {name: dict(FLAG.schema) if name in built else {"const": False} for name in known}
    return Kind(check, {"type": "object", "properties": properties, "additionalProperties": False})


class CapabilitiesModel(Model):
    """Switches: what is off is as if it had never been written."""

    plugin: Annotated[dict[str, bool], _switches("plugin")] = Field(
        default_factory=dict, description="Of GetPluginCapabilities."
    )
    controller: Annotated[dict[str, bool], _switches("controller")] = Field(
        default_factory=dict, description="Of ControllerGetCapabilities."
    )
    node: Annotated[dict[str, bool], _switches("node")] = Field(
        default_factory=dict, description="Of NodeGetCapabilities."
    )
    group_controller: Annotated[dict[str, bool], _switches("group_controller")] = Field(
        default_factory=dict, description="Of GroupControllerGetCapabilities."
    )

    def switches(self) -> Iterator[tuple[str, str, bool]]:
        """Yield the switches that are given, of built capabilities: service, name, on."""
        for service, built in BUILT.items():
            for name, on in getattr(self, service).items():
                if name in built:
                    yield service, name, on


LATER_MAPPINGS = ("aws", "alibaba", "gcp", "azure")


def _check_mapping(value: object) -> str:
    if value == "spec":
        return "spec"
    if isinstance(value, str):
        if value in LATER_MAPPINGS:
            raise mistake(f"error mapping {value} is not built yet, allowed: spec")
        raise mistake(not_among("error mapping", value, ("spec",)))
    raise mistake(not_allowed(value, "spec"))


class DriverModel(Model):
    """The driver."""

    name: Annotated[str, PLUGIN_NAME] = Field(
        default=DEFAULT_NAME, description="The CSI plugin name, also part of topology keys."
    )
    capabilities: CapabilitiesModel = Field(
        default_factory=CapabilitiesModel.model_construct,
        description="Capabilities by service: NAME: true or false.",
    )
    node_info_reply: Annotated[str, name_of("reply", ("omit", "full", "misleading"))] = Field(
        default="omit", description="What a NodeGetInfo with controller_get_node_info answers."
    )
    error_mapping: Annotated[str, Kind(_check_mapping, {"const": "spec"})] = Field(
        default="spec", description="Which gRPC codes the cloud's errors become."
    )
