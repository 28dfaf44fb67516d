"""Faults in stories: those of the scenario, the verbs that change them, and the record of calls."""

from __future__ import annotations

import json
from textwrap import dedent

from mockdriver.play import play
from mockdriver.scenario.load import loads
from tests.play.stories import goes_well, mismatches, played

FLAKY = """
    scenario: flaky
    cloud: {instance_types: {t: {slots: 4}}, instances: [{id: i-1, type: t}]}
    faults: [{name: flaky, rpc: ControllerGetNodeInfo, times: 2, code: UNAVAILABLE}]
    story:
"""


def wrong_in(story: str) -> list[str]:
    text = dedent(FLAKY) + "\n".join(f"  {line}" for line in dedent(story).splitlines())
    return [mismatch for result in play(loads(text)) for mismatch in result.mismatches]


def test_the_faults_of_a_scenario_are_there_from_the_start() -> None:
    assert not wrong_in(
        """
        - refresh: {node: i-1}
          expect: {code: UNAVAILABLE}
        - refresh: {node: i-1}
          expect: {code: UNAVAILABLE}
        - refresh: {node: i-1}
        """
    )


def test_a_kubelet_registers_in_spite_of_a_fault_that_passes() -> None:
    assert not wrong_in("- {register: {node: i-1}, expect: {effective_limit: 4}}")


def test_faults_and_their_counters_outlive_the_driver_unless_the_state_is_lost() -> None:
    assert not wrong_in(
        """
        - refresh: {node: i-1}
          expect: {code: UNAVAILABLE}
        - restart_driver:
        - refresh: {node: i-1}
          expect: {code: UNAVAILABLE}
        - refresh: {node: i-1}
        - restart_driver: {state: lose}
        - refresh: {node: i-1}
          expect: {code: UNAVAILABLE}
        """
    )


def test_faults_are_added_in_their_order_and_cleared() -> None:
    goes_well(
        """
        - add_fault: {name: late, rpc: ControllerGetNodeInfo, code: ABORTED}
        - add_fault: {rpc: ControllerGetNodeInfo, times: 1, code: INTERNAL, before: late}
        - refresh: {node: i-1}
          expect: {code: INTERNAL}
        - refresh: {node: i-1}
          expect: {code: ABORTED}
        - clear_faults: {name: late}
        - refresh: {node: i-1}
        - add_fault: {rpc: ControllerGetNodeInfo, code: ABORTED}
        - clear_faults:
        - refresh: {node: i-1}
        """
    )


def test_what_cannot_be_done_with_faults_is_told() -> None:
    found = mismatches(
        """
        - add_fault: {name: a, rpc: Probe, code: ABORTED}
        - add_fault: {name: a, rpc: Probe, code: ABORTED}
        - add_fault: {rpc: Probe, code: ABORTED, before: x}
        - clear_faults: {name: x}
        - release: {barrier: x}
        """
    )
    assert found == {
        2: ["fault 'a' exists already; delete or update it"],
        3: ["no fault 'x', there are: 'a'"],
        4: ["no fault 'x', there are: 'a'"],
        5: ["no barrier 'x', there are: none"],
    }


def test_a_fault_after_the_work_and_then_the_idempotent_answer() -> None:
    goes_well(
        """
        - add_fault: {rpc: ControllerPublishVolume, when: after, times: 1, code: UNAVAILABLE}
        - create_volume: {name: v}
        - publish: {node: i-1, volume: v}
          expect: {code: UNAVAILABLE, cloud_calls: {attach: 1}}
        - refresh: {node: i-1}
          expect: {published_volume_ids: 2}
        - publish: {node: i-1, volume: v}
        """
    )


def test_a_delay_takes_no_real_time() -> None:
    goes_well(
        """
        - add_fault: {rpc: ControllerGetNodeInfo, delay: 8h}
        - refresh: {node: i-1}
        - add_fault: {cloud_api: attach, delay: 8h}
        - publish: {node: i-1, count: 2, concurrent: true}
        """
    )


def test_a_throttled_cloud_is_asked_again() -> None:
    goes_well(
        """
        - add_fault: {cloud_api: describe_instances, error: Throttled, times: 2}
        - refresh: {node: i-1}
          expect: {cloud_calls: {describe_instances: 3}}
        """
    )


def test_a_fault_that_ends_the_process_ends_only_the_call_in_a_story() -> None:
    goes_well(
        """
        - add_fault: {rpc: ControllerGetNodeInfo, times: 1, exit: 1}
        - refresh: {node: i-1}
          expect: {code: UNAVAILABLE}
        - refresh: {node: i-1}
        """
    )


def test_release_ends_transitions_and_holds_or_one_of_both() -> None:
    held = """
        instance_types: {t: {slots: 4}}
        instances: [{id: i-1, type: t}]
        disks: [{id: vol-1}]
        transitions: {attach: held}
    """
    goes_well(
        """
        - attach: {instance: i-1, disk: vol-1, wait: false}
        - hold: {rpc: ControllerGetNodeInfo, barrier: gate, times: 1}
        - release: {barrier: gate}
        - detach: {instance: i-1, disk: vol-1, wait: false}
        - release:
        """,
        held,
    )


# ------------------------------------------------------------------------------ the record of calls


def test_calls_are_counted_by_what_they_were() -> None:
    goes_well(
        """
        - add_fault: {name: flaky, rpc: ControllerGetNodeInfo, times: 1, code: ABORTED}
        - refresh: {node: i-1}
          expect: {code: ABORTED}
        - refresh: {node: i-1}
        - publish: {node: i-1, count: 2}
        - calls: {rpc: ControllerGetNodeInfo}
          expect: {count: 2}
        - calls: {rpc: ControllerGetNodeInfo, code: OK}
          expect: {count: 1}
        - calls: {fault: flaky}
          expect: {count: 1}
        - calls: {rpc: "Controller*", code: "!OK", node_id: i-1}
          expect: {count: "== 1"}
        - calls: {rpc: ControllerPublishVolume, request: {readonly: false}}
          expect: {count: ">= 2"}
        - calls: {rpc: DeleteVolume}
          expect: {count: 0}
        - calls: {in_this_order: [{code: ABORTED}, {rpc: CreateVolume}, {rpc: "*Publish*"}]}
        """
    )


def test_another_count_and_another_order_are_mismatches() -> None:
    found = mismatches(
        """
        - refresh: {node: i-1}
        - calls: {rpc: ControllerGetNodeInfo}
          expect: {count: "> 1"}
        - calls: {in_this_order: [{rpc: ControllerGetNodeInfo}, {rpc: CreateVolume}]}
        """
    )
    assert found[2] == ["1 calls match, want > 1"]
    (order,) = found[3]
    assert order.startswith("expected, in place 2 of 2, a call with rpc=")


def test_waiting_for_calls_ends_at_once_when_they_are_there_and_at_the_timeout_else() -> None:
    found = mismatches(
        """
        - refresh: {node: i-1}
        - wait_for_calls: {rpc: ControllerGetNodeInfo}
        - wait_for_calls: {rpc: ControllerGetNodeInfo, count: 2, timeout: 1h}
        - hold: {rpc: ControllerGetNodeInfo, barrier: gate}
        - wait_for_calls: {barrier: gate, timeout: 1h}
        """
    )
    assert set(found) == {3, 5}
    assert found[3][0].startswith("3600 s passed, and 1 of 2 calls with rpc=")
    assert found[5] == ["0 of 1 calls are held at barrier 'gate' after 3600 s"]


def test_a_count_is_told_in_the_line_of_the_step() -> None:
    (result,) = played("- {calls: {rpc: DeleteVolume}, expect: {count: '<= 2'}}")
    assert result.outcome.summary(()) == "count: 0"
    assert json.dumps(result.outcome.fields) == '{"count": 0}'
