"""Steps that are left under way: their calls stay in flight until a later step collects them."""

from __future__ import annotations

import pytest

from mockdriver.play import stage
from tests.play.stories import goes_well, mismatches, played


def slow(attach: str) -> str:
    """Return a cloud in which attaching takes this long."""
    return f"""
        instance_types: {{t: {{slots: 4}}}}
        instances: [{{id: i-1, type: t, boot_disk: vol-boot}}, {{id: i-2, type: t}}]
        disks: [{{id: vol-1}}, {{id: vol-2}}, {{id: vol-3}}]
        transitions: {{attach: {attach}}}
    """


def test_a_held_call_is_there_when_the_next_step_begins_and_answers_when_it_is_released() -> None:
    goes_well(
        """
        - hold: {rpc: ControllerGetNodeInfo, barrier: b}
        - refresh: {node: i-1, wait: false}
        - calls: {rpc: ControllerGetNodeInfo, code: RUNNING}
          expect: {count: 1}
        - release: {barrier: b}
        - collect:
          expect: {code: OK, max_volumes_per_node: 4, published_volume_ids: [vol-boot]}
        """
    )


def test_what_the_co_processes_meanwhile_counts_as_its_own() -> None:
    goes_well(
        """
        - hold: {rpc: ControllerGetNodeInfo, barrier: b}
        - refresh: {node: i-1, wait: false}
        - publish: {node: i-1, volume: vol-1}
        - attach: {instance: i-1, disk: vol-2}
        - release: {barrier: b}
        - collect:
          expect: {published_volume_ids: 3, effective_limit: 2}
        """,
        slow("immediately"),
    )


def test_the_clock_stands_still_until_a_step_waits() -> None:
    goes_well(
        """
        - publish: {node: i-1, volume: vol-1, wait: false}
        # The disk is on its way, whatever else happens.
        - refresh: {node: i-1}
          expect: {published_volume_ids: 2}
        - calls: {code: RUNNING}
          expect: {count: 1}
        - advance: 29s
        - calls: {code: RUNNING}
          expect: {count: 1}
        - advance: 1s
        - calls: {code: RUNNING}
          expect: {count: 0}
        - collect:
          expect: {code: OK}
        """,
        slow("after 30s"),
    )


def test_a_step_that_waits_lets_time_pass_for_what_is_under_way_too() -> None:
    goes_well(
        """
        - publish: {node: i-1, volume: vol-1, wait: false}
        - advance: 10s
        # This one takes 30 s, of which the other needs 20.
        - publish: {node: i-1, volume: vol-2}
        - calls: {rpc: ControllerPublishVolume, code: RUNNING}
          expect: {count: 0}
        - calls:
            in_this_order:
              - {request: {volume_id: vol-1}, code: OK}
              - {request: {volume_id: vol-2}, code: OK}
        - collect:
        """,
        slow("after 30s"),
    )


def test_collecting_waits_for_the_clock() -> None:
    results = played(
        """
        - publish: {node: i-1, volume: vol-1, wait: false}
        - collect:
        - calls: {rpc: ControllerPublishVolume, code: OK}
          expect: {count: 1}
        """,
        slow("after 1h"),
    )

    assert [result.mismatches for result in results] == [()] * 3


def test_steps_are_collected_by_name_in_any_order_and_without_one_the_oldest_first() -> None:
    goes_well(
        """
        - hold: {rpc: "Controller*lishVolume", barrier: b}
        - publish: {node: i-1, volume: vol-1, wait: false, as: first}
        - publish: {node: i-2, volume: vol-2, wait: false, as: second}
        - unpublish: {node: i-2, volume: vol-none, wait: false}
        - wait_for_calls: {barrier: b, count: 3}
        - release:
        - collect: {step: second}
        - collect:
        - collect:
          expect: {code: OK}
        """,
        slow("immediately"),
    )


def test_a_name_is_free_again_once_it_was_collected() -> None:
    goes_well(
        """
        - refresh: {node: i-1, wait: false, as: it}
        - collect: {step: it}
          expect: {max_volumes_per_node: 4}
        - refresh: {node: i-none, wait: false, as: it}
        - collect: {step: it}
          expect: {code: NOT_FOUND}
        """
    )


def test_every_verb_of_the_co_can_be_left_under_way() -> None:
    goes_well(
        """
        - register: {node: i-1, wait: false}
        - collect:
          expect: {node_id: i-1, effective_limit: 3}
        - node_info: {node: i-1, wait: false}
        - collect:
          expect: {max_volumes_per_node: 3}
        - create_volume: {name: data, wait: false}
        - collect:
          expect: {volume_id: vol-00000001}
        - publish: {node: i-1, volume: data, wait: false}
        - collect:
        - unpublish: {node: i-1, volume: data, wait: false}
        - collect:
        - delete_volume: {volume: data, wait: false}
        - collect:
        """
    )


def test_a_registration_under_way_retries_as_the_clock_allows() -> None:
    goes_well(
        """
        - add_fault: {rpc: ControllerGetNodeInfo, code: UNAVAILABLE, times: 2}
        - register: {node: i-1, wait: false}
        - calls: {rpc: ControllerGetNodeInfo}
          expect: {count: 1}
        - advance: 1s
        - calls: {rpc: ControllerGetNodeInfo}
          expect: {count: 2}
        - advance: 2s
        - calls: {rpc: ControllerGetNodeInfo}
          expect: {count: 3}
        - collect:
          expect: {effective_limit: 3}
        """
    )


def test_many_calls_at_once_can_be_left_under_way() -> None:
    goes_well(
        """
        - hold: {rpc: ControllerPublishVolume, barrier: b}
        - publish: {node: i-2, count: 5, concurrent: true, wait: false}
        - wait_for_calls: {barrier: b, count: 5, timeout: 1ms}
        - release: {barrier: b, calls: 2}
        - calls: {rpc: ControllerPublishVolume, code: OK}
          expect: {count: 2}
        - release: {barrier: b}
        - collect:
          expect: {OK: 4, RESOURCE_EXHAUSTED: 1}
        """,
        slow("immediately"),
    )


def test_a_second_call_on_the_same_volume_is_aborted_meanwhile() -> None:
    goes_well(
        """
        - hold: {rpc: ControllerPublishVolume, barrier: b}
        - publish: {node: i-1, volume: vol-1, wait: false}
        - publish: {node: i-1, volume: vol-1}
          expect: {code: ABORTED}
        - release: {barrier: b}
        - collect:
        """,
        slow("immediately"),
    )


def test_what_a_step_came_to_is_compared_where_it_is_collected() -> None:
    assert mismatches(
        """
        - refresh: {node: i-1, wait: false}
        - collect:
          expect: {max_volumes_per_node: 5}
        """
    ) == {2: ["max_volumes_per_node is 4, want 5"]}


def test_a_call_that_is_held_ends_at_its_deadline_while_others_are_under_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stage, "DEADLINE_SECONDS", 0.3)

    goes_well(
        """
        - hold: {rpc: ControllerGetNodeInfo, barrier: b}
        - refresh: {node: i-1, wait: false}
        - refresh: {node: i-2}
          expect: {code: DEADLINE_EXCEEDED}
        - collect:
          expect: {code: DEADLINE_EXCEEDED}
        - calls: {code: RUNNING}
          expect: {count: 0}
        - publish: {node: i-1, volume: vol-1, wait: false}
        - calls: {code: RUNNING}
          expect: {count: 1}
        - advance: 1h
        - collect:
        """,
        slow("after 1h"),
    )


def test_a_step_under_way_prints_that_it_is() -> None:
    [begun, _] = played("- refresh: {node: i-1, wait: false}\n- collect:")

    assert begun.outcome.summary(set()) == "under way"
    assert begun.passed
