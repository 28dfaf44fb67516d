"""Stories that are played against a server in another process, over its control API."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from mockdriver.client import ControlClient, ControlError
from mockdriver.play import StepResult, play
from mockdriver.play.remote_site import RemoteSite
from mockdriver.scenario import shipped
from mockdriver.scenario.load import LoadedScenario, load
from tests.play.stories import told
from tests.serving import Serving, serving


@pytest.fixture(scope="module")
def server() -> Iterator[Serving]:
    """Serve all nodes, of whatever scenario."""
    with serving("--node-socket-dir", "nodes") as server:
        yield server


def played_at(
    server: Serving, scenario: LoadedScenario, *, keep_state: bool = False
) -> list[StepResult]:
    """Play a story at a server; return all results."""
    site = RemoteSite(f"unix://{server.path}", scenario, keep_state=keep_state)
    return list(play(scenario, site))


def wrong_at(server: Serving, scenario: LoadedScenario, *, keep_state: bool = False) -> object:
    """Play a story at a server; return what does not go as it says."""
    results = played_at(server, scenario, keep_state=keep_state)
    return [(item.step.line, item.mismatches) for item in results if not item.passed]


@pytest.mark.slow
@pytest.mark.parametrize("name", shipped.names())
def test_a_shipped_story_goes_well_at_a_server_elsewhere(server: Serving, name: str) -> None:
    assert wrong_at(server, load(name)) == []


def test_the_race_of_the_kep_goes_well_at_a_server_elsewhere(server: Serving) -> None:
    assert wrong_at(server, load("race-attach-during-lookup")) == []


ROOM = """
    instance_types: {t: {slots: 4}}
    instances: [{id: i-room, type: t, attached: [vol-hand], published: 1}]
"""


def test_the_storys_scenario_is_loaded_first(server: Serving) -> None:
    story = told("- refresh: {node: i-room}\n  expect: {effective_limit: 3}", ROOM)

    # Whatever was there before is gone, what the last story left too.
    for _ in range(2):
        assert wrong_at(server, told("- publish: {node: i-room, count: 2}", ROOM)) == []
    assert wrong_at(server, story) == []


def test_a_server_keeps_its_state_if_it_is_told_to(server: Serving) -> None:
    assert wrong_at(server, told("- publish: {node: i-room, count: 1}", ROOM)) == []

    # The story knows the instance only; what is published, and by what names, the server tells.
    story = told(
        """
        - refresh: {node: i-room}
          expect: {max_volumes_per_node: 4, published_volume_ids: 3, effective_limit: 3}
        - publish: {node: i-room, count: 1}
        - refresh: {node: i-room}
          expect: {published_volume_ids: 4, effective_limit: 3}
        """,
        "instances: [{id: i-room}]",
    )
    assert wrong_at(server, story, keep_state=True) == []


def test_the_servers_clock_is_moved_and_its_driver_restarted(server: Serving) -> None:
    story = told(
        """
        - detach: {instance: i-room, disk: vol-hand, wait: false}
        - advance: 59m
        - refresh: {node: i-room}
          expect: {published_volume_ids: 2}
        - restart_driver: {}
        - advance: 1m
        - refresh: {node: i-room}
          expect: {published_volume_ids: 1, cloud_calls: {describe_instances: 1}}
        - restart_driver: {state: lose}
        - refresh: {node: i-room}
          expect: {published_volume_ids: 2, effective_limit: 3}
        """,
        f"{ROOM}    transitions: {{detach: after 1h}}",
    )

    assert wrong_at(server, story) == []


def test_a_step_is_left_under_way_there_too(server: Serving) -> None:
    story = told(
        """
        - hold: {rpc: ControllerGetNodeInfo, barrier: b}
        - refresh: {node: i-room, wait: false}
        - calls: {rpc: ControllerGetNodeInfo, code: RUNNING}
          expect: {count: 1}
        - wait_for_calls: {barrier: b}
        - publish: {node: i-room, count: 1}
        - release: {barrier: b}
        - collect:
          expect: {published_volume_ids: 3, effective_limit: 3}
        """,
        ROOM,
    )

    assert wrong_at(server, story) == []


def test_a_call_under_way_that_the_driver_ends_is_collected_with_its_code(
    server: Serving,
) -> None:
    story = told(
        """
        - hold: {rpc: ControllerGetNodeInfo, barrier: b}
        - refresh: {node: i-room, wait: false}
        - restart_driver: {}
        - collect:
          expect: {code: UNAVAILABLE}
        """,
        ROOM,
    )

    assert wrong_at(server, story) == []


def test_nodes_without_a_socket_of_their_own_are_asked_at_another_one() -> None:
    story = told(
        """
        - register: {node: i-1}
          expect: {node_id: i-1, effective_limit: 4}
        - register: {node: "knoten-ä %2"}
          expect: {node_id: "knoten-ä %2", effective_limit: null}
        - add_instance: {id: i-3, type: t}
        - node_info: {node: i-3}
          expect: {node_id: i-3, max_volumes_per_node: 4}
        - terminate_instance: {instance: i-3}
        - node_info: {node: i-3}
          expect: {code: NOT_FOUND}
        - calls: {rpc: "Node*", node_id: i-3}
          expect: {count: 2}
        """,
        """
        instance_types: {t: {slots: 4}}
        instances: [{id: i-1, type: t}, {id: "knoten-ä %2"}]
        """,
    )
    with serving() as server:
        assert wrong_at(server, story) == []


def test_without_any_node_service_the_story_says_so(tmp_path: Path) -> None:
    story = told("- node_info: {node: i-1}\n- refresh: {node: i-1}", "instances: [{id: i-1}]")
    with serving("--role", "controller") as server:
        results = played_at(server, story)

    [problem] = results[0].mismatches
    assert problem.endswith("serves no node")
    assert results[1].passed


def test_a_server_that_is_not_there_ends_the_story(tmp_path: Path) -> None:
    scenario = told("- refresh: {node: i-1}")
    site = RemoteSite(str(tmp_path / "none.sock"), scenario, keep_state=False)

    with pytest.raises(ControlError, match="nobody answers"):
        list(play(scenario, site))


def test_a_story_leaves_no_fault_of_another_one(server: Serving) -> None:
    with ControlClient(server.path) as control:
        control.faults.add(rpc="ControllerGetNodeInfo", code="INTERNAL")

    assert wrong_at(server, told("- refresh: {node: i-room}", ROOM)) == []
