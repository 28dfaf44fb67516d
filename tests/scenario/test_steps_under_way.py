"""Mistakes about steps that are left under way: each is collected by one later step."""

from __future__ import annotations

import pytest

from mockdriver.scenario.load import loads
from mockdriver.scenario.story_model import Collect
from tests.scenario.samples import mistakes_of

CLOUD = """\
scenario: x
cloud: {instances: [{id: i-a}]}
story:
"""


def text_of(*lines: str) -> str:
    return CLOUD + "".join(f"  - {line}\n" for line in lines)


def steps(*lines: str) -> list[str]:
    return mistakes_of(text_of(*lines))


def test_a_step_goes_by_its_name_and_so_does_the_step_that_collects_it() -> None:
    story = loads(
        text_of(
            "refresh: {node: i-a, wait: false, as: one}",
            "refresh: {node: i-a, wait: false}",
            "collect: {step: one}",
            "collect:",
            "refresh: {node: i-a}",
        )
    ).story

    names = [step.under_way for step in story]
    assert names[0] == names[2] == "one"
    assert names[1] == names[3] != ""
    assert names[4] == ""
    assert story[3].arguments == Collect()


def test_a_step_that_nobody_collects_is_a_mistake() -> None:
    assert steps("refresh: {node: i-a, wait: false}") == [
        "4:32: story[0].refresh.wait: this leaves the step under way, and no later step collects it"
    ]


def test_collecting_what_is_not_under_way_is_a_mistake() -> None:
    assert steps("collect:") == [
        "4:5: story[0].collect: no step is under way, a step of the CO with wait: false leaves one"
    ]
    assert steps("refresh: {node: i-a, wait: false}", "collect:", "collect:") == [
        "6:5: story[2].collect: no step is under way, a step of the CO with wait: false leaves one"
    ]


def test_the_nearest_name_is_suggested() -> None:
    assert steps("refresh: {node: i-a, wait: false, as: lookup}", "collect: {step: lokup}") == [
        (
            '5:21: story[1].collect.step: unknown step under way "lokup", allowed: lookup, '
            'did you mean "lookup"?'
        )
    ]


def test_a_name_is_given_once_until_it_is_collected() -> None:
    begin, collect = "refresh: {node: i-a, wait: false, as: it}", "collect: {step: it}"

    assert steps(begin, collect, begin, collect) == []
    assert steps(begin, begin, collect) == [
        '5:43: story[1].refresh.as: "it" is under way already; a name is free once it is collected'
    ]


def test_only_what_is_left_under_way_has_a_name() -> None:
    assert steps("refresh: {node: i-a, as: it}") == [
        "4:14: story[0].refresh: as is not allowed here, it goes with wait: false"
    ]


def test_what_is_left_under_way_answers_nothing_yet() -> None:
    begin = "refresh: {node: i-a, wait: false}\n    expect: {code: OK}"

    assert steps(begin, "collect:") == [
        (
            "5:13: story[0].expect: refresh answers nothing yet, its calls are left under way; the "
            "step that collects it can expect"
        )
    ]


@pytest.mark.parametrize("expect", ["code: OK", "max_volumes_per_node: 3", "OK: 1"])
def test_collecting_answers_what_the_collected_step_does(expect: str) -> None:
    begin = "refresh: {node: i-a, wait: false}"

    assert steps(begin, f"collect:\n    expect: {{{expect}}}") == []


def test_collecting_answers_nothing_else() -> None:
    begin = "unpublish: {volume: v, wait: false}"

    [mistake] = steps(begin, "collect:\n    expect: {max_volumes_per_node: 3}")

    assert "story[1].expect.max_volumes_per_node: unpublish does not answer this" in mistake


@pytest.mark.parametrize("verb", ["attach: {instance: i-a, disk: d, as: x}", "advance: 1s"])
def test_only_verbs_of_the_co_can_be_named(verb: str) -> None:
    assert (steps(verb) != []) == verb.startswith("attach")
