"""The `faults` of scenario files, and the verbs of stories that are about faults and calls."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mockdriver.faults import Fault
from mockdriver.faults.compiling import flaws_of
from mockdriver.scenario.durations import format_duration, parse_duration
from mockdriver.scenario.fault_model import FaultMistakes, checked, data_of
from mockdriver.scenario.load import loads
from mockdriver.scenario.story_model import (
    AddFault,
    Calls,
    ClearFaults,
    Comparison,
    Hold,
    Release,
    WaitForCalls,
)
from tests.scenario.samples import EVERY_VERB, WORKED_EXAMPLE, mistakes_of
from tests.scenario.test_story_model import step_of


def faults_of(*lines: str) -> tuple[Fault, ...]:
    return loads("scenario: x\nfaults:\n" + "".join(f"  - {line}\n" for line in lines)).faults


def mistakes(*lines: str) -> list[str]:
    return mistakes_of("scenario: x\nfaults:\n" + "".join(f"  - {line}\n" for line in lines))


# ------------------------------------------------------------------------------------ what is read


def test_the_example_of_the_format_is_read() -> None:
    assert loads(WORKED_EXAMPLE).faults == (
        Fault(
            name="flaky",
            rpc="ControllerGetNodeInfo",
            node_id="i-worker-1",
            times=2,
            code="UNAVAILABLE",
        ),
    )


def test_a_scenario_without_faults_has_none() -> None:
    assert loads("scenario: x\n").faults == ()
    assert loads("scenario: x\nfaults:\n").faults == ()


def test_a_server_that_plays_no_story_reads_the_faults_too() -> None:
    assert loads(WORKED_EXAMPLE, story=False).faults == loads(WORKED_EXAMPLE).faults


def test_every_key_is_read() -> None:
    (fault,) = faults_of(
        "{name: a, rpc: CreateVolume, request: {capacity_range.limit_bytes: 5, "
        'volume_capabilities.0.mount.fs_type: "ext?"}, calls: 2-3, times: 1, probability: 0.5, '
        "seed: -7, when: after, code: ABORTED, message: m, details: [{'@type': google.rpc.Help}], "
        "delay: 1m30s, hold: gate, lifetime: 1h, enabled: false}"
    )
    assert fault == Fault(
        name="a",
        rpc="CreateVolume",
        request={
            "capacity_range.limit_bytes": "5",
            "volume_capabilities.0.mount.fs_type": "ext?",
        },
        calls="2-3",
        times=1,
        probability=0.5,
        seed=-7,
        when="after",
        code="ABORTED",
        message="m",
        details=({"@type": "google.rpc.Help"},),
        delay_seconds=90.0,
        hold="gate",
        lifetime_seconds=3600.0,
        enabled=False,
    )


def test_numbers_and_flags_of_a_request_are_compared_as_text() -> None:
    (fault,) = faults_of("{rpc: NodePublishVolume, request: {readonly: true}, exit: 3, calls: 4}")
    assert (fault.request, fault.exit, fault.calls) == ({"readonly": "true"}, 3, "4")


def test_values_of_a_reply_are_data() -> None:
    (fault,) = faults_of(
        "{rpc: ControllerGetNodeInfo, reply: {max_volumes_per_node: 0, published_volume_ids: [a], "
        "accessible_topology: null}}"
    )
    assert fault.reply == {
        "max_volumes_per_node": 0,
        "published_volume_ids": ["a"],
        "accessible_topology": None,
    }


@pytest.mark.parametrize("text", [WORKED_EXAMPLE, EVERY_VERB])
def test_a_fault_is_written_as_it_is_read(text: str) -> None:
    faults = loads(text).faults
    written = json.dumps({"scenario": "x", "faults": [data_of(fault) for fault in faults]})
    assert loads(written).faults == faults


_texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=5)
_faults = st.builds(
    Fault,
    name=st.just("a"),
    rpc=st.just("ControllerGetNodeInfo"),
    node_id=_texts,
    request=st.dictionaries(st.just("node_id"), _texts),
    calls=st.sampled_from(["", "3", "3-5", "first 2", "from 2", "every 2"]),
    times=st.none() | st.integers(1, 10),
    probability=st.none() | st.floats(0, 1, exclude_min=True),
    when=st.sampled_from(["", "before", "after"]),
    delay_seconds=st.floats(1e-9, 1e6),
    hold=st.sampled_from(["", "gate"]),
    reply=st.dictionaries(st.just("max_volumes_per_node"), st.none() | st.integers(0, 10)),
    lifetime_seconds=st.none() | st.floats(1e-9, 1e6),
    enabled=st.booleans(),
)


@given(_faults)
def test_whatever_a_fault_says_it_comes_back_from_plain_data(fault: Fault) -> None:
    assert not flaws_of(fault)
    written = json.loads(json.dumps(data_of(fault)))
    again = checked(written)
    close = {"delay_seconds", "lifetime_seconds"}
    for key, value in vars(fault).items():
        if key not in close or value is None:
            assert vars(again)[key] == value
        else:
            # a duration is rounded to nanoseconds
            assert vars(again)[key] == pytest.approx(value, abs=1e-9)


@given(st.floats(0, 8760 * 3600).map(lambda seconds: round(seconds, 9)))
def test_a_duration_is_written_as_it_is_read(seconds: float) -> None:
    assert parse_duration(format_duration(seconds)) == seconds


def test_plain_data_with_mistakes_tells_all_of_them() -> None:
    data: dict[str, Any] = {"rpc": "ControllerGetNodeInfo", "times": "x", "request": {"node": "a"}}
    with pytest.raises(FaultMistakes) as caught:
        checked(data)
    assert [place for place, _ in caught.value.problems] == ["times", "request.node"]


# --------------------------------------------------------------------------------------- mistakes


def test_a_field_that_there_is_not_is_told_at_its_key_with_the_nearest_one() -> None:
    assert mistakes("{rpc: DeleteVolume, request: {volume: v}, code: ABORTED}") == [
        (
            '3:35: faults[0].request.volume: unknown field of DeleteVolumeRequest "volume", '
            'allowed: volume_id, secrets, did you mean "volume_id"?'
        )
    ]


def test_a_value_that_cannot_be_is_told_at_the_value() -> None:
    assert mistakes("{rpc: NodePublishVolume, request: {readonly: yes}, code: ABORTED}") == [
        '3:50: faults[0].request.readonly: "yes" is not allowed, allowed: true or false'
    ]


def test_a_name_is_given_once() -> None:
    assert mistakes(
        "{name: a, rpc: Probe, code: ABORTED}", "{name: a, rpc: Probe, code: ABORTED}"
    ) == ['4:12: faults[1].name: fault "a" is there already, at 3:5; names are given once']


def test_there_is_a_most_of_faults() -> None:
    many = ", ".join(["{rpc: Probe, code: ABORTED}"] * 1_001)
    assert mistakes_of(f"scenario: x\nfaults: [{many}]\n") == [
        "2:1: faults: 1001 faults, allowed: at most 1000"
    ]


def test_what_is_wrong_in_one_fault_hides_nothing_in_another_nor_in_itself() -> None:
    lines = mistakes(
        "{rpc: Prob, times: 0, code: ABORTED}",
        "7",
        "{rpc: Probe, cod: ABORTED}",
        "{rpc: Probe}",
        "{rpc: ControllerGetNodeInfo, reply: {max_volumes_per_node: x}, delay: 5}",
    )
    assert [line.split(": ")[0:2] for line in lines] == [
        ["3:11", "faults[0].rpc"],
        ["3:24", "faults[0].times"],
        ["4:5", "faults[1]"],
        ["5:18", "faults[2].cod"],
        ["6:5", "faults[3]"],
        ["7:64", "faults[4].reply.max_volumes_per_node"],
        ["7:75", "faults[4].delay"],
    ]


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("{code: ABORTED}", "neither is given, exactly one of rpc and cloud_api is needed"),
        ("{rpc: Probe, code: ABORTED, no_answer: true}", "code and no_answer are given, at most"),
        ("{rpc: Probe, message: 5, code: ABORTED}", "5 is not allowed, allowed: text"),
        ("{rpc: Probe, no_answer: yes}", '"yes" is not allowed, allowed: true or false'),
        ("{rpc: Probe, hold: ''}", '"" is not allowed, allowed: text of 1 to 256 bytes'),
        ("{rpc: Probe, code: ABORTED, calls: 0}", "0 is not allowed, allowed: which calls"),
        ("{rpc: Probe, code: ABORTED, calls: [1]}", "a list is not allowed, allowed: which calls"),
        ("{rpc: Probe, code: ABORTED, request: [a]}", "a list is not allowed, allowed: a mapping"),
        ("{rpc: Probe, code: ABORTED, request: {a: [b]}}", "a list is not allowed, allowed: a te"),
        ("{rpc: Probe, reply: [a]}", "a list is not allowed, allowed: a mapping"),
        ("{rpc: Probe, code: ABORTED, details: {}}", "a mapping is not allowed, allowed: a list"),
        ("{cloud_api: attach, error: ZoneFull}", 'unknown error of attach "ZoneFull", allowed: I'),
        ("{cloud_api: attach, error: Zonefull}", 'did you mean "ZoneFull"?'),
    ],
)
def test_a_mistake_says_what_is_allowed(line: str, text: str) -> None:
    (found,) = mistakes(line)
    assert text in found


# ----------------------------------------------------------------------------------- story verbs


@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        ("release: {barrier: gate, calls: 2}", Release(barrier="gate", calls=2)),
        ("clear_faults:", ClearFaults()),
        ("clear_faults: {name: a}", ClearFaults(name="a")),
        ("wait_for_calls: {rpc: Probe, count: 3}", WaitForCalls(rpc="Probe", count=3)),
        (
            "wait_for_calls: {code: RUNNING, arrived: true}",
            WaitForCalls(code="RUNNING", arrived=True),
        ),
        ("wait_for_calls: {barrier: gate}", WaitForCalls(barrier="gate")),
        ("calls:", Calls()),
        ("calls: {code: '!OK', fault: flaky}", Calls(code="!OK", fault="flaky")),
    ],
)
def test_verbs_of_faults_and_calls(text: str, arguments: object) -> None:
    assert step_of(text).arguments == arguments


def test_waiting_has_a_duration() -> None:
    arguments = step_of("wait_for_calls: {timeout: 1m30s}").arguments
    assert isinstance(arguments, WaitForCalls)
    assert arguments.timeout_seconds == 90
    assert WaitForCalls().timeout_seconds is None


def test_a_fault_is_added_with_the_keys_of_one_at_the_start() -> None:
    arguments = step_of("add_fault: {rpc: Probe, delay: 1s, before: a}").arguments
    assert isinstance(arguments, AddFault)
    assert arguments.before == "a"
    assert arguments.fault() == Fault(rpc="Probe", delay_seconds=1)


def test_hold_is_a_fault_that_holds_at_a_barrier() -> None:
    arguments = step_of("hold: {rpc: DeleteVolume, request: {volume_id: v}, times: 2}").arguments
    assert isinstance(arguments, Hold)
    assert arguments.fault().fault() == Fault(
        rpc="DeleteVolume",
        request={"volume_id": "v"},
        times=2,
        when="before",
        hold="DeleteVolume",
    )
    arguments = step_of("hold: {rpc: Probe, name: a, barrier: gate, when: after}").arguments
    assert isinstance(arguments, Hold)
    assert arguments.fault().fault() == Fault(name="a", rpc="Probe", when="after", hold="gate")


def test_calls_are_counted_and_their_order_looked_at() -> None:
    step = step_of("{calls: {in_this_order: [{rpc: Create*}, {}]}, expect: {count: '>= 2'}}")
    assert isinstance(step.arguments, Calls)
    assert [item.rpc for item in step.arguments.in_this_order] == ["Create*", None]
    assert step.expect.count == Comparison(">=", 2)


@pytest.mark.parametrize(
    ("step", "line"),
    [
        (
            "release: {calls: 2}",
            "3:14: story[0].release: barrier is missing, calls needs it",
        ),
        (
            "release: {barrier: a, disk: b}",
            (
                "3:14: story[0].release: barrier is not allowed beside instance and disk, which "
                "mean transitions"
            ),
        ),
        (
            "add_fault: {delay: 1s}",
            (
                "3:16: story[0].add_fault: neither is given, exactly one of rpc and cloud_api is "
                "needed"
            ),
        ),
        (
            "hold: {barrier: a}",
            (
                "3:11: story[0].hold.rpc: this key is missing, needed: the RPC, with * and ? as "
                "in a shell"
            ),
        ),
        (
            "hold: {rpc: Probe, request: {a: b}}",
            '3:34: story[0].hold.request.a: unknown field of ProbeRequest "a", allowed: none',
        ),
        (
            "wait_for_calls: {barrier: a, rpc: Probe, arrived: true}",
            (
                "3:21: story[0].wait_for_calls: rpc, arrived is not allowed beside barrier, "
                "allowed: count"
            ),
        ),
        (
            "wait_for_calls: {count: 0}",
            (
                "3:29: story[0].wait_for_calls.count: 0 is not allowed, "
                "allowed: a whole number from 1 to 10000"
            ),
        ),
        (
            "calls: {service: Nod}",
            (
                '3:22: story[0].calls.service: unknown service "Nod", allowed: Identity, '
                'Controller, GroupController, Node, did you mean "Node"?'
            ),
        ),
        (
            "calls: {rpc: NodeGetInf, service: Node}",
            (
                '3:18: story[0].calls.rpc: unknown RPC "NodeGetInf", allowed: NodeStageVolume, '
                "NodeUnstageVolume, NodePublishVolume, NodeUnpublishVolume, NodeGetVolumeStats, "
                "NodeGetVolumeHealth, NodeGetStorageHealth, NodeExpandVolume, "
                'NodeGetCapabilities, NodeGetInfo, did you mean "NodeGetInfo"?'
            ),
        ),
        (
            "calls: {in_this_order: [{rpc: DeleteVolume, response: {volume_id: a}}]}",
            (
                "3:60: story[0].calls.in_this_order[0].response.volume_id: unknown field of "
                'DeleteVolumeResponse "volume_id", allowed: none'
            ),
        ),
        (
            "{calls: {rpc: Probe}, expect: {OK: 1}}",
            "3:36: story[0].expect.OK: calls does not answer this, allowed: count",
        ),
        (
            "{wait_for_calls: {}, expect: {count: 1}}",
            "3:35: story[0].expect.count: wait_for_calls does not answer this, allowed: nothing",
        ),
        (
            "{refresh: {node: a}, expect: {count: 1}}",
            (
                "3:35: story[0].expect.count: refresh does not answer this, allowed: cloud_calls, "
                "code, max_volumes_per_node, accessible_topology, effective_limit, "
                "published_volume_ids, node_id, counts of codes"
            ),
        ),
    ],
)
def test_mistakes_of_these_verbs(step: str, line: str) -> None:
    assert mistakes_of(f"scenario: x\nstory:\n  - {step}\n") == [line]


def test_an_unknown_code_of_calls_is_told() -> None:
    (line,) = mistakes_of("scenario: x\nstory: [{calls: {code: '!NOTFOUND'}}]\n")
    assert 'unknown code "!NOTFOUND", allowed: OK, CANCELLED' in line


_odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=12),
    st.sampled_from(
        ("*", "Node*", "Probe", "CreateVolume", "attach", "OK", "ABORTED", "Throttled", "after")
    ),
    st.sampled_from(("first 2", "5s", "volume_capabilities[0].mount.fs_type", 'parameters["a"]')),
)
_values = st.recursive(
    _odd,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=5,
)
_paths = st.sampled_from(
    ("volume_id", "name", "parameters.a", "volume_capabilities[*].access_type", "x", "a..b", "disk")
)
_data = st.fixed_dictionaries(
    {},
    optional={
        **dict.fromkeys(("name", "rpc", "cloud_api", "node_id", "calls", "times"), _values),
        **dict.fromkeys(("probability", "seed", "when", "code", "message", "error"), _values),
        **dict.fromkeys(("delay", "hold", "no_answer", "exit", "lifetime", "enabled"), _values),
        "details": st.lists(st.dictionaries(st.sampled_from(("@type", "reason")), _values)),
        "request": st.dictionaries(_paths, _odd) | _values,
        "reply": st.dictionaries(_paths | st.just("volume.accessible_topology"), _values) | _values,
    },
)


@given(_data)
def test_any_data_is_a_fault_or_its_mistakes_are_told(data: dict[str, Any]) -> None:
    try:
        fault = checked(data)
    except FaultMistakes as mistake:
        for _, text in mistake.problems:
            assert text.isprintable()
            assert not re.search(r"Input should|pydantic|NoneType|Traceback", text)
        return
    assert not flaws_of(fault)
    assert checked(data_of(fault)) == fault
