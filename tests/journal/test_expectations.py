"""What is expected of calls, and how it is told that it is not so."""

from __future__ import annotations

import pytest

from csi_spec import csi_pb2
from mockdriver.journal.errors import QueryMistake
from mockdriver.journal.expectations import Count, InThisOrder, Verdict
from mockdriver.journal.filters import EVERY_CALL, CallFilter
from tests.journal.recorded import SmallJournal

DELETE = CallFilter(rpc="DeleteVolume")
PROBE = CallFilter(rpc="Probe")


def delete(volume_id: str) -> csi_pb2.DeleteVolumeRequest:
    return csi_pb2.DeleteVolumeRequest(volume_id=volume_id)


def journal_of(*rpcs: str, capacity: int = 100) -> SmallJournal:
    """Return a journal of calls that were OK, one after the other."""
    small = SmallJournal(capacity)
    for rpc in rpcs:
        small.call(b"", rpc)
    return small


def shown(verdict: Verdict) -> list[int]:
    return [moment.entry.sequence for moment in verdict.nearest]


# ----------------------------------------------------------------------------------------- counts

BOUNDS = [
    (Count(at_least=2, at_most=2), [False, False, True, False]),
    (Count(at_least=2), [False, False, True, True]),
    (Count(at_most=1), [True, True, False, False]),
    (Count(at_most=0), [True, False, False, False]),
    (Count(at_least=1, at_most=2), [False, True, True, False]),
    (Count(at_least=0), [True, True, True, True]),
]


@pytest.mark.parametrize(("count", "expected"), BOUNDS, ids=[str(item[0]) for item in BOUNDS])
def test_a_count_is_met_within_its_bounds(count: Count, expected: list[bool]) -> None:
    for number, met in enumerate(expected):
        small = journal_of(*["Probe"] * number, "DeleteVolume")
        verdict = count.judge(small.journal, PROBE)
        assert (verdict.met, verdict.count) == (met, number)
        assert bool(verdict.problem) is not met


def test_a_call_in_flight_counts() -> None:
    small = journal_of("Probe")
    small.begin(b"", "Probe")
    assert Count(at_most=1).judge(small.journal, PROBE).count == 2


PROBLEMS = [
    (Count(at_least=3, at_most=3), 'expected exactly 3 calls with rpc="Probe", found 2; '),
    (Count(at_least=1, at_most=1), 'expected exactly 1 call with rpc="Probe", found 2; '),
    (Count(at_least=3), 'expected at least 3 calls with rpc="Probe", found 2; '),
    (Count(at_most=1), 'expected at most 1 call with rpc="Probe", found 2; '),
    (Count(at_most=0), 'expected no call with rpc="Probe", found 2; '),
    (Count(at_least=3, at_most=5), 'expected 3 to 5 calls with rpc="Probe", found 2; '),
]


@pytest.mark.parametrize(("count", "text"), PROBLEMS, ids=[item[1][9:25] for item in PROBLEMS])
def test_the_problem_says_what_was_expected_and_what_was_found(count: Count, text: str) -> None:
    small = journal_of("Probe", "DeleteVolume", "Probe")
    assert count.judge(small.journal, PROBE).problem.startswith(text)


# ----------------------------------------------------------------------------------------- nearest


def test_the_nearest_calls_meet_the_most_conditions_and_then_are_the_newest() -> None:
    small = SmallJournal()
    small.call(delete("vol-1"))
    small.fail("ABORTED", delete("vol-2"))
    small.call(b"", "Probe")
    small.call(delete("vol-3"))
    wanted = CallFilter(rpc="DeleteVolume", code="ABORTED", request={"volume_id": "vol-9"})

    verdict = Count(at_least=1).judge(small.journal, wanted)

    assert shown(verdict) == [2, 4, 1, 3]
    assert verdict.problem == (
        'expected at least 1 call with rpc="DeleteVolume", code="ABORTED", '
        'request.volume_id="vol-9", found 0; nearest: '
        'call 2, DeleteVolume ABORTED (its request.volume_id is "vol-2"); '
        'call 4, DeleteVolume OK (its request.volume_id is "vol-3"); '
        'call 1, DeleteVolume OK (its request.volume_id is "vol-1")'
    )


def test_at_most_five_are_shown() -> None:
    small = journal_of(*["Probe"] * 9)
    assert shown(Count(at_least=1).judge(small.journal, DELETE)) == [9, 8, 7, 6, 5]


def test_where_there_are_too_few_those_that_match_are_not_shown() -> None:
    small = journal_of("Probe", "DeleteVolume", "Probe")
    assert shown(Count(at_least=3).judge(small.journal, PROBE)) == [2]


def test_where_there_are_too_many_those_are_shown() -> None:
    small = journal_of("Probe", "DeleteVolume", "Probe")
    verdict = Count(at_most=0).judge(small.journal, PROBE)
    assert shown(verdict) == [3, 1]
    assert verdict.problem.endswith("found 2; nearest: call 3, Probe OK; call 1, Probe OK")


def test_calls_of_before_are_not_near() -> None:
    small = journal_of("Probe", "DeleteVolume", "DeleteVolume")
    verdict = Count(at_least=1).judge(small.journal, CallFilter(rpc="Probe", after=2))
    assert shown(verdict) == [3]
    verdict = Count(at_least=1).judge(small.journal, CallFilter(rpc="Probe", after=3))
    assert verdict.problem == (
        'expected at least 1 call with rpc="Probe" after call 3, found 0; there are no others'
    )


def test_what_is_not_there_is_told_as_such() -> None:
    small = SmallJournal()
    small.call(csi_pb2.CreateVolumeRequest(name="v"), "CreateVolume")
    wanted = CallFilter(request={"parameters.type": "ssd"}, fault="flaky")
    problem = Count(at_least=1).judge(small.journal, wanted).problem
    assert (
        "call 1, CreateVolume OK (its fault is not set, its request.parameters.type is not set)"
        in (problem)
    )


def test_secrets_are_not_told() -> None:
    small = SmallJournal()
    small.call(csi_pb2.DeleteVolumeRequest(secrets={"password": "swordfish"}))
    wanted = CallFilter(request={"secrets.password": "guess"})
    problem = Count(at_least=1).judge(small.journal, wanted).problem
    assert 'its request.secrets.password is "***stripped***"' in problem


# ------------------------------------------------------------------------------------------ order


def order(*rpcs: str) -> InThisOrder:
    return InThisOrder(tuple(CallFilter(rpc=rpc) for rpc in rpcs))


@pytest.mark.parametrize(
    ("wanted", "met", "taken"),
    [
        (["Probe"], True, 1),
        (["Probe", "DeleteVolume"], True, 2),
        (["Probe", "DeleteVolume", "Probe"], True, 3),
        (["Probe", "Probe"], True, 2),
        (["DeleteVolume", "DeleteVolume"], False, 1),
        (["NodeGetInfo", "DeleteVolume"], False, 1),
        (["Probe", "Probe", "Probe"], False, 2),
        (["CreateVolume"], False, 0),
    ],
)
def test_an_order_is_met_by_calls_one_after_the_other_with_others_between(
    wanted: list[str], met: bool, taken: int
) -> None:
    small = journal_of("Probe", "DeleteVolume", "Probe", "NodeGetInfo")
    verdict = order(*wanted).judge(small.journal, EVERY_CALL)
    assert (verdict.met, verdict.count) == (met, taken)


def test_the_order_is_that_of_arrival() -> None:
    small = SmallJournal()
    probe = small.begin(b"", "Probe")
    small.call(b"", "DeleteVolume")
    small.end(probe)
    assert order("Probe", "DeleteVolume").judge(small.journal, EVERY_CALL).met
    assert not order("DeleteVolume", "Probe").judge(small.journal, EVERY_CALL).met


def test_the_problem_of_an_order_says_which_place_is_missing_and_after_what() -> None:
    small = journal_of("NodeGetInfo", "Probe", "DeleteVolume")
    verdict = order("Probe", "NodeGetInfo", "DeleteVolume").judge(small.journal, EVERY_CALL)
    assert verdict.problem == (
        'expected, in place 2 of 3, a call with rpc="NodeGetInfo", after call 2, Probe: '
        "found none, but 1 before; nearest: call 1, NodeGetInfo OK; call 3, DeleteVolume OK; "
        "call 2, Probe OK"
    )
    assert shown(verdict) == [1, 3, 2]


def test_only_calls_that_match_the_filter_beside_an_order_take_part() -> None:
    small = journal_of("Probe", "DeleteVolume")
    small.fail("ABORTED", b"", "Probe")
    failed = CallFilter(code="!OK")
    assert order("Probe").judge(small.journal, failed).met
    assert not order("DeleteVolume").judge(small.journal, failed).met


def test_an_order_of_nothing_is_a_mistake() -> None:
    with pytest.raises(QueryMistake, match="in_this_order: is empty, allowed: one filter or more"):
        InThisOrder(())


# ------------------------------------------------------------------------------------- lost calls


def test_what_must_not_be_there_cannot_be_told_where_calls_have_been_lost() -> None:
    small = journal_of(*["Probe"] * 5, capacity=3)
    for count in (Count(at_most=0), Count(at_most=9), Count(at_least=0, at_most=0)):
        verdict = count.judge(small.journal, DELETE)
        assert not verdict.met
        assert "found 0, but that says little (2 older calls are forgotten" in verdict.problem
        assert "--journal-size" in verdict.problem


def test_what_is_there_can_be_told_although_calls_have_been_lost() -> None:
    small = journal_of(*["Probe"] * 5, capacity=3)
    assert Count(at_least=3).judge(small.journal, PROBE).met
    assert order("Probe", "Probe").judge(small.journal, EVERY_CALL).met


def test_too_few_calls_may_be_too_few_because_some_have_been_lost() -> None:
    small = journal_of(*["Probe"] * 5, capacity=3)
    assert "found 3 (2 older calls" in Count(at_least=5).judge(small.journal, PROBE).problem
    verdict = order(*["Probe"] * 5).judge(small.journal, EVERY_CALL)
    assert "found none (2 older calls" in verdict.problem


def test_lost_calls_of_before_do_not_matter() -> None:
    small = journal_of(*["Probe"] * 5, capacity=3)
    assert Count(at_most=3).judge(small.journal, CallFilter(rpc="Probe", after=2)).met


def test_a_cleared_record_has_lost_nothing() -> None:
    small = journal_of(*["Probe"] * 5, capacity=3)
    small.journal.clear()
    assert Count(at_most=0).judge(small.journal, PROBE).met
