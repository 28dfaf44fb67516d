"""The list of faults: which one acts, what is counted, and how the list is changed."""

from __future__ import annotations

import pytest

from mockdriver.faults import Fault
from mockdriver.faults.engine import FaultEngine
from mockdriver.faults.errors import (
    FaultExists,
    FaultHasFlaws,
    FaultNotFound,
    TooManyFaults,
)
from mockdriver.faults.fault import MAX_FAULTS
from mockdriver.faults.rule import draw
from mockdriver.runtime import VirtualRuntime
from tests.faults.calls import (
    cloud_call,
    counters,
    engine,
    fault,
    publish,
    rpc_call,
    who_acts,
)


def names(faults: FaultEngine) -> list[str]:
    return [state.fault.name for state in faults.list()]


def acts_on(faults: FaultEngine, calls: int) -> list[int]:
    """Make calls; return the numbers of those that a fault acted on."""
    return [number for number in range(1, calls + 1) if who_acts(faults, publish())]


# ------------------------------------------------------------------------------ which fault acts


def test_without_faults_nothing_acts() -> None:
    assert who_acts(engine(), publish()) is None
    assert not engine().concerns("ControllerPublishVolume")


def test_the_first_that_matches_acts() -> None:
    faults = engine(fault("a", node_id="i-2"), fault("b"), fault("c"))
    assert who_acts(faults, publish()) == "b"
    assert who_acts(faults, publish(node="i-2")) == "a"


def test_a_fault_is_about_its_own_rpc() -> None:
    faults = engine(fault("a"))
    assert faults.concerns("ControllerPublishVolume")
    assert not faults.concerns("ControllerUnpublishVolume")
    assert who_acts(faults, rpc_call("ControllerUnpublishVolume", node_id="i-1")) is None


def test_a_fault_is_about_the_node_that_the_request_names_or_that_is_asked() -> None:
    faults = engine(
        fault("controller", rpc="ControllerGetNodeInfo", node_id="i-1"),
        fault("node", rpc="NodeGetInfo", node_id="i-*"),
    )
    assert who_acts(faults, rpc_call("ControllerGetNodeInfo", node_id="i-1")) == "controller"
    assert who_acts(faults, rpc_call("ControllerGetNodeInfo", node_id="i-2")) is None
    assert who_acts(faults, rpc_call("NodeGetInfo", at_node="i-2")) == "node"
    assert who_acts(faults, rpc_call("NodeGetInfo", at_node="j-2")) is None
    assert who_acts(faults, rpc_call("NodeGetInfo")) is None


def test_all_fields_of_the_request_have_to_be_as_the_fault_says() -> None:
    faults = engine(fault("a", request={"volume_id": "vol-?", "readonly": "false"}))
    assert who_acts(faults, publish("vol-1")) == "a"
    assert who_acts(faults, publish("vol-10")) is None
    read = rpc_call(volume_id="vol-1", node_id="i-1", readonly=True)
    assert who_acts(faults, read) is None


def test_a_fault_of_a_cloud_api_is_about_what_its_calls_name() -> None:
    faults = engine(
        fault("a", cloud_api="attach", node_id="i-1", request={"disk": "vol-*"}, error="Throttled")
    )
    assert who_acts(faults, cloud_call("attach", disk="vol-1", instance="i-1")) == "a"
    assert who_acts(faults, cloud_call("attach", disk="boot", instance="i-1")) is None
    assert who_acts(faults, cloud_call("attach", disk="vol-1", instance="i-2")) is None
    assert who_acts(faults, cloud_call("detach", disk="vol-1", instance="i-1")) is None


def test_a_call_that_names_no_disk_has_none() -> None:
    faults = engine(
        fault("all", cloud_api="describe_disks", request={"disk": ""}, error="Throttled"),
        fault("some", cloud_api="describe_disks", request={"disk": "*"}, error="Throttled"),
    )
    assert who_acts(faults, cloud_call("describe_disks")) == "all"
    assert who_acts(faults, cloud_call("describe_disks", disk="vol")) == "some"


# ---------------------------------------------------------------------- which of those that match


@pytest.mark.parametrize(
    ("keys", "numbers"),
    [
        ({}, [1, 2, 3, 4, 5, 6]),
        ({"calls": "3"}, [3]),
        ({"calls": "3-5"}, [3, 4, 5]),
        ({"calls": "first 2"}, [1, 2]),
        ({"calls": "from 5"}, [5, 6]),
        ({"calls": "every 2"}, [2, 4, 6]),
        ({"times": 2}, [1, 2]),
        ({"calls": "every 2", "times": 2}, [2, 4]),
        ({"calls": "from 3", "times": 1}, [3]),
        ({"probability": 1.0}, [1, 2, 3, 4, 5, 6]),
    ],
)
def test_a_fault_acts_on_these_of_six_calls(keys: dict[str, object], numbers: list[int]) -> None:
    faults = engine(fault("a", **keys))
    assert acts_on(faults, 6) == numbers
    assert counters(faults) == {"a": (6, len(numbers))}


def test_only_calls_that_match_are_counted() -> None:
    faults = engine(fault("a", node_id="i-2", calls="2"))
    acting = [who_acts(faults, publish(node=node)) for node in ("i-1", "i-2", "i-1", "i-2", "i-2")]
    assert acting == [None, None, None, "a", None]
    assert counters(faults) == {"a": (3, 1)}


def test_a_fault_that_is_passed_over_gives_the_next_one_its_chance() -> None:
    faults = engine(fault("odd", calls="every 3"), fault("once", times=1), fault("rest"))
    acting = [who_acts(faults, publish()) for _ in range(6)]
    assert acting == ["once", "rest", "odd", "rest", "rest", "odd"]
    # A later fault is not asked about a call that an earlier one acts on.
    assert counters(faults) == {"odd": (6, 2), "once": (4, 1), "rest": (3, 3)}


def test_chance_is_the_same_for_the_same_seed_and_order_of_calls() -> None:
    def acting(seed: int, name: str = "a") -> list[int]:
        faults = engine(fault(name, probability=0.5, seed=seed))
        return acts_on(faults, 200)

    assert acting(7) == acting(7, "another name")
    assert acting(7) != acting(8)
    assert 60 < len(acting(7)) < 140


def test_chance_is_not_changed_by_other_calls_and_faults() -> None:
    alone = engine(fault("a", probability=0.5, node_id="i-1"))
    beside = engine(
        fault("b", probability=0.5, node_id="i-2"), fault("a", probability=0.5, node_id="i-1")
    )
    expected = [who_acts(alone, publish()) for _ in range(50)]
    found = []
    for _ in range(50):
        who_acts(beside, publish(node="i-2"))
        found.append(who_acts(beside, publish()))
    assert found == expected


def test_draws_are_spread_evenly() -> None:
    drawn = sorted(draw(3, number) for number in range(1, 1_001))
    assert all(abs(value - place / 1_000) < 0.06 for place, value in enumerate(drawn))
    assert 0 <= drawn[0] < drawn[-1] < 1


def test_a_fault_of_some_calls_is_drawn_for_no_others() -> None:
    faults = engine(fault("a", probability=0.5, calls="from 101"))
    assert acts_on(faults, 100) == []
    expected = [number for number in range(101, 151) if draw(0, number) < 0.5]
    assert [number + 100 for number in acts_on(faults, 50)] == expected


# --------------------------------------------------------------------------- the list is changed


def test_a_fault_is_added_at_the_end_or_before_another() -> None:
    faults = engine(fault("b"))
    faults.create(fault("c"))
    state = faults.create(fault("a"), before="b")
    assert (state.fault.name, state.matched, state.acted) == ("a", 0, 0)
    assert names(faults) == ["a", "b", "c"]
    assert who_acts(faults, publish()) == "a"


def test_names_are_made_up_where_there_are_none_and_never_given_twice() -> None:
    faults = engine(fault(), fault("fault-2"), fault())
    assert names(faults) == ["fault-1", "fault-2", "fault-3"]
    faults.delete("fault-3")
    assert faults.create(fault()).fault.name == "fault-4"


def test_a_made_up_name_is_none_that_a_later_fault_of_the_list_has() -> None:
    faults = engine(fault(), fault("fault-1"), fault("fault-2"))
    assert names(faults) == ["fault-3", "fault-1", "fault-2"]


def test_a_name_is_taken_once() -> None:
    faults = engine(fault("a"))
    with pytest.raises(FaultExists, match="fault 'a' exists already"):
        faults.create(fault("a", code="ABORTED"))
    with pytest.raises(FaultExists):
        engine(fault("a"), fault("a"))


def test_a_fault_with_flaws_changes_nothing() -> None:
    faults = engine(fault("a"))
    with pytest.raises(FaultHasFlaws, match="unknown RPC 'Prob'"):
        faults.create(fault(rpc="Prob"))
    with pytest.raises(FaultHasFlaws):
        faults.update(fault("a", rpc="Prob"))
    with pytest.raises(FaultHasFlaws):
        faults.load([fault("b"), fault("c", rpc="Prob")])
    assert names(faults) == ["a"]
    assert faults.create(fault()).fault.name == "fault-1"


def test_an_unknown_name_is_told_with_those_that_there_are() -> None:
    faults = engine(fault("a"), fault("b"))
    for ask in (faults.get, faults.delete, lambda name: faults.enable(name, True)):
        with pytest.raises(FaultNotFound, match="no fault 'x', there are: 'a', 'b'"):
            ask("x")
    with pytest.raises(FaultNotFound):
        faults.update(fault("x"))
    with pytest.raises(FaultNotFound):
        faults.create(fault("c"), before="x")
    assert names(faults) == ["a", "b"]


def test_an_update_keeps_the_place_and_begins_to_count_anew() -> None:
    faults = engine(fault("a", times=1), fault("b"))
    assert [who_acts(faults, publish()) for _ in range(2)] == ["a", "b"]
    faults.update(fault("a", times=1, code="ABORTED"))
    assert names(faults) == ["a", "b"]
    assert counters(faults)["a"] == (0, 0)
    assert who_acts(faults, publish()) == "a"


def test_a_fault_that_is_off_matches_nothing_and_keeps_its_counters() -> None:
    faults = engine(fault("a", calls="first 2"), fault("b"))
    who_acts(faults, publish())
    assert faults.enable("a", False).fault.enabled is False
    assert who_acts(faults, publish()) == "b"
    assert counters(faults)["a"] == (1, 1)
    faults.enable("a", True)
    assert [who_acts(faults, publish()) for _ in range(2)] == ["a", "b"]


def test_a_fault_can_begin_switched_off() -> None:
    assert who_acts(engine(fault("a", enabled=False)), publish()) is None


def test_a_deleted_fault_acts_no_more() -> None:
    faults = engine(fault("a"), fault("b"))
    faults.delete("a")
    assert who_acts(faults, publish()) == "b"
    assert faults.clear() == 1
    assert who_acts(faults, publish()) is None
    assert faults.clear() == 0


def test_there_is_a_most_of_faults() -> None:
    faults = engine(*[fault() for _ in range(MAX_FAULTS)])
    with pytest.raises(TooManyFaults, match=f"there are {MAX_FAULTS} faults already"):
        faults.create(fault())
    faults.delete("fault-1")
    faults.create(fault())


# -------------------------------------------------------------------------------------- lifetimes


def test_a_fault_is_gone_when_its_lifetime_is_over() -> None:
    runtime = VirtualRuntime()
    faults = engine(fault("a", lifetime_seconds=10), fault("b"), runtime=runtime)
    runtime.advance(9.9)
    assert who_acts(faults, publish()) == "a"
    runtime.advance(0.1)
    assert who_acts(faults, publish()) == "b"
    assert names(faults) == ["b"]
    faults.create(fault("a"))  # its name is free again


def test_an_update_begins_a_new_lifetime() -> None:
    runtime = VirtualRuntime()
    faults = engine(fault("a", lifetime_seconds=10), runtime=runtime)
    runtime.advance(9)
    faults.update(fault("a", lifetime_seconds=10))
    runtime.advance(9)
    assert names(faults) == ["a"]
    runtime.advance(1)
    assert names(faults) == []


# -------------------------------------------------------------------------------------- snapshots


def test_a_snapshot_brings_back_faults_counters_and_made_up_names() -> None:
    faults = engine(fault("a", times=2), fault())
    who_acts(faults, publish())
    snapshot = faults.snapshot()
    before = faults.list()
    who_acts(faults, publish())
    faults.delete("fault-1")
    faults.create(fault(), before="a")
    faults.restore(snapshot)
    assert faults.list() == before
    assert faults.create(fault()).fault.name == "fault-2"
    assert [who_acts(faults, publish()) for _ in range(2)] == ["a", "fault-1"]


def test_a_snapshot_can_be_restored_again_and_again() -> None:
    faults = engine(fault("a", times=1))
    snapshot = faults.snapshot()
    for _ in range(3):
        assert who_acts(faults, publish()) == "a"
        assert who_acts(faults, publish()) is None
        faults.restore(snapshot)


def test_a_snapshot_keeps_what_is_left_of_lifetimes() -> None:
    runtime = VirtualRuntime()
    faults = engine(fault("a", lifetime_seconds=10), runtime=runtime)
    runtime.advance(4)
    snapshot = faults.snapshot()
    runtime.advance(100)
    assert names(faults) == []
    faults.restore(snapshot)
    runtime.advance(5.9)
    assert names(faults) == ["a"]
    runtime.advance(0.2)
    assert names(faults) == []


def test_chance_goes_on_where_the_snapshot_was_taken() -> None:
    faults = engine(fault("a", probability=0.5))
    acts_on(faults, 10)
    snapshot = faults.snapshot()
    expected = acts_on(faults, 50)
    faults.restore(snapshot)
    assert acts_on(faults, 50) == expected


def test_loading_begins_anew() -> None:
    faults = engine(fault("a"), fault())
    who_acts(faults, publish())
    faults.load([fault("b"), fault()])
    assert counters(faults) == {"b": (0, 0), "fault-1": (0, 0)}


# --------------------------------------------------------------------------------------- explain


def test_explain_says_of_each_fault_what_it_would_do() -> None:
    faults = engine(
        fault("off", enabled=False),
        fault("other rpc", rpc="Node*"),
        fault("lacking", rpc="*", request={"name": "*"}),
        fault("node", node_id="i-2"),
        fault("field", request={"volume_id": "x*"}),
        fault("empty", request={"volume_context.a": "b"}),
        fault("third", calls="3"),
        fault("done", times=1),
        fault("never", probability=1e-12),
        fault("acts"),
        fault("later"),
    )
    who_acts(faults, publish())
    assert [(item.fault, item.acts, item.reason) for item in faults.explain(publish())] == [
        ("off", False, "it is switched off"),
        ("other rpc", False, "it is about Node*"),
        (
            "lacking",
            False,
            "a call of ControllerPublishVolume has not all the fields that it is about",
        ),
        ("node", False, "node_id is 'i-1', it wants 'i-2'"),
        ("field", False, "volume_id is 'vol-1', it wants 'x*'"),
        ("empty", False, "volume_context.a is not there, it wants 'b'"),
        ("third", False, "it is call 2 that matches, it acts on calls 3"),
        ("done", False, "it has acted on 1 call, which is the most"),
        ("never", False, f"chance: call 1 draws {draw(0, 1):.3f}, it acts below 1e-12"),
        ("acts", True, "the call is as it says"),
        ("later", False, "fault acts comes first"),
    ]


def test_explain_counts_nothing() -> None:
    faults = engine(fault("a", times=1, probability=0.5))
    before = faults.list()
    for _ in range(5):
        faults.explain(publish())
    assert faults.list() == before


def test_explain_tells_no_secret() -> None:
    secret = rpc_call(volume_id="v", node_id="i", secrets={"key": "hunter2"})
    faults = engine(fault("a", request={"secrets.key": "other"}))
    (verdict,) = faults.explain(secret)
    assert verdict.reason == "secrets.key is something else"


def test_what_explain_says_is_what_happens() -> None:
    faults = engine(
        fault("a", calls="every 2"), fault("b", probability=0.5), fault("c", times=3), fault("d")
    )
    for _ in range(40):
        said = [item.fault for item in faults.explain(publish()) if item.acts]
        assert [who_acts(faults, publish())] == said


def test_a_fault_as_data_is_frozen() -> None:
    with pytest.raises(AttributeError):
        Fault(rpc="Probe").rpc = "GetPluginInfo"  # type: ignore[misc]
