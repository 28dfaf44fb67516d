"""The JSON Schema of scenario files, for editors that complete and check while one writes."""

from __future__ import annotations

from typing import Any

from mockdriver.scenario.cloud_model import InstanceTypeModel
from mockdriver.scenario.scenario_model import ScenarioModel
from mockdriver.scenario.story_model import VERBS, EditInstanceType, Expect

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_NULLS = {model.__name__: model.nulls for model in (InstanceTypeModel, EditInstanceType, Expect)}


def json_schema() -> dict[str, Any]:
    """Return the schema. It knows keys, kinds of values and descriptions, not the cross checks."""
    schema = ScenarioModel.model_json_schema(mode="validation")
    for name, definition in {"": schema, **schema["$defs"]}.items():
        definition.pop("title", None)
        for key, part in definition.get("properties", {}).items():
            part.pop("title", None)
            if key not in _NULLS.get(name, ()):
                _leave_out_null(part)
    for verb in VERBS:
        _allow_bare(schema, schema["$defs"]["StepModel"]["properties"][verb])
    schema["$defs"]["StepModel"]["oneOf"] = [{"required": [verb]} for verb in VERBS]
    return {"$schema": DIALECT, "title": "mockdriver scenario", **schema}


def _leave_out_null(part: dict[str, Any]) -> None:
    """Drop `null` from what a key can be: it is taken for no key at all, and helps nobody write."""
    if part.get("default", 0) is None:
        del part["default"]
    choices = [choice for choice in part.get("anyOf", ()) if choice != {"type": "null"}]
    if len(choices) == 1:
        del part["anyOf"]
        part.update({**choices[0], **part})
    elif choices:
        part["anyOf"] = choices


def _allow_bare(schema: dict[str, Any], part: dict[str, Any]) -> None:
    """Let a verb stand alone, as in `- release:`, if none of its arguments is needed."""
    reference = part.get("$ref", "")
    definition = schema["$defs"].get(reference.rpartition("/")[2], {"required": True})
    if not definition.get("required"):
        del part["$ref"]
        part["anyOf"] = [{"$ref": reference}, {"type": "null"}]
