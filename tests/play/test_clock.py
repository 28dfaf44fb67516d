"""The story's clock: it jumps when every call in flight waits for it, and never before."""

from __future__ import annotations

import pytest

from mockdriver.play import co_verbs, stage
from mockdriver.play.private_site import PrivateSite
from mockdriver.play.stage import Stage
from mockdriver.scenario.story_model import Publish
from tests.play.stories import goes_well, told


def cloud(attach: str, more: str = "") -> str:
    """Return a cloud in which attaching takes this long."""
    return f"""
        instances: [{{id: i-1}}]
        disks: [{{id: vol-1}}, {{id: vol-2}}]
        transitions: {{attach: {attach}}}
        {more}
    """


def test_50_slow_publishes_at_once_need_no_real_time() -> None:
    # A call's deadline is a minute of real time: no call that waited for an hour would be OK.
    goes_well(
        """
        - publish: {node: i-1, count: 50, concurrent: true}
          expect: {OK: 50}
        - publish: {node: i-1, count: 10}
          expect: {OK: 10}
        """,
        cloud("after 1h"),
    )


def seconds_taken(attach: str, arguments: Publish, more: str = "") -> float:
    """Publish; return how far the clock has gone."""
    scenario = told("- advance: 1s", cloud(attach, more))
    with Stage(PrivateSite(scenario), scenario) as played_on:
        made = co_verbs.made_volumes(played_on, arguments)
        before = played_on.runtime.now()
        outcome = co_verbs.publish(played_on, arguments, made)
        assert dict(outcome.codes) == {"OK": arguments.count}
        return played_on.runtime.now() - before


def test_calls_that_are_made_at_once_wait_together() -> None:
    assert seconds_taken("after 30s", Publish(node="i-1", count=50, concurrent=True)) == 30


def test_calls_that_are_made_one_after_the_other_wait_one_after_the_other() -> None:
    assert seconds_taken("after 30s", Publish(node="i-1", count=3)) == 90


def test_the_delay_of_a_cloud_api_is_waited_for_too() -> None:
    delays = "api: {attach: {delay: 10m}, describe_disks: {delay: 1m}}"

    # attach, look, wait, look: 10 + 1 minutes, then what is left of the transition, and 1 minute
    assert seconds_taken("after 2h", Publish(node="i-1", count=5, concurrent=True), delays) == (
        (10 + 120 + 1) * 60
    )


def test_what_needs_no_time_takes_none() -> None:
    assert seconds_taken("immediately", Publish(node="i-1", count=20, concurrent=True)) == 0


def test_the_clock_is_moved_by_advance_alone_when_nothing_waits() -> None:
    goes_well(
        """
        - detach: {instance: i-2, disk: vol-3, wait: false}
        - refresh: {node: i-2}
          expect: {published_volume_ids: 1}
        - advance: 29m59s
        - refresh: {node: i-2}
          expect: {published_volume_ids: 1}
        - advance: 1s
        - refresh: {node: i-2}
          expect: {published_volume_ids: 0}
        """,
        "{instances: [{id: i-2, attached: [vol-3]}], transitions: {detach: after 30m}}",
    )


def test_a_call_that_is_held_ends_at_its_deadline_and_can_be_made_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stage, "DEADLINE_SECONDS", 0.3)

    goes_well(
        """
        - publish: {node: i-1, volume: vol-1}
          expect: {code: DEADLINE_EXCEEDED}
        - refresh: {node: i-1}
          expect: {published_volume_ids: [vol-1]}
        - release: {disk: vol-1}
        - publish: {node: i-1, volume: vol-1}
          expect: {code: OK}
        """,
        cloud("held"),
    )


def test_a_call_that_is_held_does_not_keep_others_from_moving_the_clock(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stage, "DEADLINE_SECONDS", 0.3)

    goes_well(
        """
        - publish: {node: i-1, count: 3, concurrent: true}
          expect: {DEADLINE_EXCEEDED: 3}
        - unpublish: {node: i-1, count: 3, concurrent: true}
          expect: {OK: 3}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 0}
        """,
        """
        instances: [{id: i-1}]
        transitions: {attach: held, detach: after 1h}
        """,
    )


@pytest.mark.slow
def test_more_calls_than_the_server_has_threads_end_well() -> None:
    goes_well(
        """
        - publish: {node: i-1, count: 1100, concurrent: true}
          expect: {OK: 1100}
        """,
        cloud("after 1h"),
    )
