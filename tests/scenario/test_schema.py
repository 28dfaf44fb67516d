from __future__ import annotations

import json
import re
from typing import Any

import pytest

from mockdriver.scenario.composing import compose
from mockdriver.scenario.schema import DIALECT, json_schema
from mockdriver.scenario.shipped import shipped
from mockdriver.scenario.story_model import VERBS
from tests.scenario.samples import EVERY_VERB, WORKED_EXAMPLE

SCHEMA = json_schema()


def problems(value: Any, schema: dict[str, Any], at: str = "") -> list[str]:
    """Return where a value does not follow a schema, for the keywords that ours uses."""
    if "$ref" in schema:
        schema = {**SCHEMA["$defs"][schema["$ref"].removeprefix("#/$defs/")], **schema}
    found: list[str] = []
    for keyword, wanted in schema.items():
        check = KEYWORDS[keyword]
        if check is not None:
            found += [f"{at}: {text}" for text in check(value, wanted)]
    if isinstance(value, dict):
        named = schema.get("properties", {})
        others = schema.get("additionalProperties", {})
        for key, item in value.items():
            part = named.get(key, others)
            if part is False:
                found.append(f"{at}.{key}: no such key")
            else:
                found += problems(item, part, f"{at}.{key}")
    if isinstance(value, list):
        for index, item in enumerate(value):
            found += problems(item, schema.get("items", {}), f"{at}[{index}]")
    return found


TYPES: dict[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def is_type(value: Any, name: str) -> bool:
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def one_of(value: Any, schemas: list[dict[str, Any]], *, most: int) -> list[str]:
    fitting = sum(not problems(value, schema) for schema in schemas)
    return [] if 1 <= fitting <= most else [f"{fitting} alternatives fit {value!r}"]


def failing(holds: bool, text: str) -> list[str]:
    return [] if holds else [text]


KEYWORDS: dict[str, Any] = {
    "$schema": None,
    "$defs": None,
    "$ref": None,
    "title": None,
    "description": None,
    "default": None,
    "properties": None,
    "additionalProperties": None,
    "items": None,
    "propertyNames": lambda value, part: [text for key in value for text in problems(key, part)],
    "type": lambda value, name: failing(is_type(value, name), f"{value!r} is no {name}"),
    "enum": lambda value, names: failing(value in names, f"{value!r} is none of {names}"),
    "const": lambda value, only: failing(
        value == only and type(value) is type(only), f"{value!r} is not {only!r}"
    ),
    "anyOf": lambda value, schemas: one_of(value, schemas, most=len(schemas)),
    "oneOf": lambda value, schemas: one_of(value, schemas, most=1),
    "required": lambda value, keys: [f"{key} is missing" for key in keys if key not in value],
    "minimum": lambda value, least: failing(
        not is_type(value, "number") or value >= least, f"{value} < {least}"
    ),
    "exclusiveMinimum": lambda value, least: failing(
        not is_type(value, "number") or value > least, f"{value} <= {least}"
    ),
    "maximum": lambda value, most: failing(
        not is_type(value, "number") or value <= most, f"{value} > {most}"
    ),
    "minLength": lambda value, least: failing(len(value) >= least, "too short"),
    "maxLength": lambda value, most: failing(len(value) <= most, "too long"),
    "uniqueItems": lambda value, _: failing(
        not isinstance(value, list) or len(value) == len(set(value)), "repeats itself"
    ),
    "pattern": lambda value, pattern: failing(
        not isinstance(value, str) or re.search(pattern, value) is not None,
        f"{value!r} is not like {pattern}",
    ),
}


def data_of(text: str) -> Any:
    """Return the plain data of a text, as an editor sees it, without keys that have no value."""

    def written(value: Any) -> Any:
        if isinstance(value, dict):
            kept = {"effective_limit", "slots"}
            return {
                key: {} if item is None else written(item)
                for key, item in value.items()
                if item is not None or key not in kept
            }
        return [written(item) for item in value] if isinstance(value, list) else value

    return written(compose(text, "f").root.value)


def test_the_schema_says_what_it_is() -> None:
    assert SCHEMA["$schema"] == DIALECT == "https://json-schema.org/draft/2020-12/schema"
    assert SCHEMA["title"] == "mockdriver scenario"
    assert SCHEMA["required"] == ["scenario"]
    assert json.loads(json.dumps(SCHEMA)) == SCHEMA


def test_every_key_is_described() -> None:
    for definition in (SCHEMA, *SCHEMA["$defs"].values()):
        for name, part in definition.get("properties", {}).items():
            assert len(part["description"]) > 3, name


def test_every_reference_leads_somewhere() -> None:
    names = set(re.findall(r'"#/\$defs/([A-Za-z]+)"', json.dumps(SCHEMA)))
    assert names == set(SCHEMA["$defs"])


def test_every_verb_is_an_alternative_of_a_step() -> None:
    step = SCHEMA["$defs"]["StepModel"]
    assert [part["required"] for part in step["oneOf"]] == [[verb] for verb in VERBS]
    assert set(step["properties"]) == {*VERBS, "expect"}


def test_null_is_offered_only_where_it_is_a_value_of_its_own() -> None:
    found = [
        (name, key)
        for name, definition in SCHEMA["$defs"].items()
        for key, part in definition.get("properties", {}).items()
        if {"type": "null"} in part.get("anyOf", ()) and key not in VERBS
    ]
    assert found == [
        ("EditInstanceType", "slots"),
        ("Expect", "effective_limit"),
        ("InstanceTypeModel", "slots"),
    ]


@pytest.mark.parametrize("text", [WORKED_EXAMPLE, EVERY_VERB], ids=["worked example", "every verb"])
def test_the_samples_follow_the_schema(text: str) -> None:
    assert problems(data_of(text), SCHEMA) == []


def test_the_shipped_scenarios_follow_the_schema() -> None:
    for scenario in shipped():
        text = scenario.path.read_text(encoding="utf-8")
        assert (scenario.name, problems(data_of(text), SCHEMA)) == (scenario.name, [])


@pytest.mark.parametrize(
    "text",
    [
        "about: x",
        "scenario: x\nstories: []",
        "scenario: x\ndriver: {name: -a}",
        "scenario: x\ndriver: {capabilities: {node: {NODE_INFO: true}}}",
        "scenario: x\ndriver: {capabilities: {controller: {LIST_SNAPSHOTS: true}}}",
        "scenario: x\ncloud: {provider: aws}",
        "scenario: x\ncloud: {instance_types: {a: {slots: -1}}}",
        "scenario: x\ncloud: {instances: [{attached: x}]}",
        "scenario: x\ncloud: {instances: {cnt: 5}}",
        "scenario: x\ncloud: {transitions: {attach: after 2}}",
        "scenario: x\ncloud: {api: {attach: {delay: 5}}}",
        "scenario: x\nfaults: {}",
        "scenario: x\nfaults: [{code: NOPE}]",
        "scenario: x\nfaults: [{when: later}]",
        "scenario: x\nfaults: [{times: 0}]",
        "scenario: x\nfaults: [{probability: 0}]",
        "scenario: x\nfaults: [{calls: 0}]",
        "scenario: x\nfaults: [{calls: second}]",
        "scenario: x\nfaults: [{request: {volume_id: [a]}}]",
        "scenario: x\nfaults: [{exit: 256}]",
        "scenario: x\nfaults: [{details: [{reason: a}]}]",
        "scenario: x\nfaults: [{delay: 5}]",
        "scenario: x\nstory: [{hold: {barrier: a}}]",
        "scenario: x\nstory: [{calls: {code: NOPE}}]",
        "scenario: x\nstory: [{}]",
        "scenario: x\nstory: [{release: {}, advance: 1s}]",
        "scenario: x\nstory: [{publish: {volume: a}}]",
        "scenario: x\nstory: [{release: {}, expect: {OKAY: 1}}]",
        "scenario: x\nstory: [{release: {}, expect: {cloud_calls: {attach: about 5}}}]",
    ],
)
def test_a_mistake_that_a_schema_can_know_is_one_for_editors_too(text: str) -> None:
    assert problems(data_of(text), SCHEMA) != []


def test_a_verb_may_stand_alone_where_no_argument_is_needed() -> None:
    verbs = SCHEMA["$defs"]["StepModel"]["properties"]
    bare = {verb for verb in VERBS if {"type": "null"} in verbs[verb].get("anyOf", ())}
    assert {"release", "restart_driver"} <= bare
    assert not bare & {"register", "refresh", "publish", "attach", "terminate_instance"}
