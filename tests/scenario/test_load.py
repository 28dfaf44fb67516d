from __future__ import annotations

from pathlib import Path

import pytest

from mockdriver.cloud import Quota, Transition
from mockdriver.scenario.load import load, loads
from mockdriver.scenario.mistakes import ScenarioMistakes
from tests.scenario.samples import EVERY_VERB, WORKED_EXAMPLE


def test_every_key_but_the_name_is_optional() -> None:
    loaded = loads("scenario: x\n")
    assert loaded.name == "x"
    assert (loaded.about, loaded.story, loaded.warnings) == ("", (), ())
    assert loaded.driver.name == "mock.csi.example.com"
    assert loaded.driver.node_info_reply == "omit"
    assert list(loaded.driver.capabilities.switches()) == []
    assert loaded.cloud.region == "region-1"
    assert loaded.plan.zones == ("region-1a",)
    assert (loaded.plan.instances, loaded.plan.disks) == ((), ())


@pytest.mark.parametrize("key", ["about", "driver", "cloud", "story"])
def test_a_key_without_a_value_counts_as_not_written(key: str) -> None:
    assert loads(f"scenario: x\n{key}:\n").plan == loads("scenario: x\n").plan


@pytest.mark.parametrize("key", ["type", "zone", "id", "boot_disk", "attached", "count"])
def test_a_key_of_an_instance_without_a_value_counts_as_not_written(key: str) -> None:
    with_key = loads(f"scenario: x\ncloud: {{instances: [{{{key}: }}]}}\n")
    assert with_key.plan == loads("scenario: x\ncloud: {instances: [{}]}\n").plan


def test_the_worked_example_is_understood() -> None:
    loaded = loads(WORKED_EXAMPLE)
    assert loaded.name == "kep-6011-worked-example"
    assert list(loaded.driver.capabilities.switches()) == [
        ("controller", "GET_NODE_INFO", True),
        ("node", "NODE_INFO_FROM_CONTROLLER", True),
    ]
    assert loaded.cloud.transitions.attach == Transition()
    assert loaded.cloud.transitions.detach == Transition(after_seconds=2.0)
    assert loaded.cloud.api.quotas() == {
        "describe_instances": Quota(burst=100, per_second=20, max_ids=1000, delay_seconds=0.05),
        "attach": Quota(burst=50, per_second=5),
    }


def test_the_sample_with_every_verb_is_understood() -> None:
    loaded = loads(EVERY_VERB)
    assert loaded.cloud.transitions.attach == Transition(held=True)
    assert loaded.cloud.transitions.detach == Transition(after_reads=3)
    assert loaded.cloud.api.quotas() == {
        "create_disk": Quota(max_ids=1),
        "delete_disk": Quota(delay_seconds=90.0),
    }


def test_a_capability_that_is_not_built_can_be_switched_off_without_effect() -> None:
    text = "scenario: x\ndriver: {capabilities: {controller: {LIST_SNAPSHOTS: false}}}\n"
    assert list(loads(text).driver.capabilities.switches()) == []


def test_a_file_is_named_in_messages_as_it_was_given(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("scenario: 5\n")
    with pytest.raises(ScenarioMistakes) as caught:
        load(str(path))
    assert str(caught.value).startswith(f"{path}:1:11: scenario: 5 is not allowed")


def test_the_name_of_a_file_cannot_break_the_line() -> None:
    with pytest.raises(ScenarioMistakes) as caught:
        loads("", "a\nb\x1b[2J")
    assert str(caught.value).startswith("a\\x0ab\\x1b[2J:1:1: file: an empty file")
    with pytest.raises(ScenarioMistakes) as caught:
        loads("scenario: !x y", "a\nb")
    assert str(caught.value).startswith("a\\x0ab:1:11: scenario: unknown tag")


def test_aliases_can_save_words() -> None:
    loaded = loads(
        "scenario: x\n"
        "cloud:\n"
        "  instance_types: {a: &type {slots: 3}, b: *type}\n"
        "  instances: [{id: i, type: a}, {id: j, type: b}]\n"
    )
    assert loaded.cloud.instance_types["a"] == loaded.cloud.instance_types["b"]


def test_a_type_can_be_named_by_a_number() -> None:
    loaded = loads("scenario: x\ncloud: {instance_types: {4: {}}, instances: [{type: '4'}]}\n")
    assert loaded.plan.instances[0].type == "4"
