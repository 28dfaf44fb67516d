"""The record of calls: what an entry holds, and which entries are kept."""

from __future__ import annotations

import pytest

from csi_spec import csi_pb2
from mockdriver.journal import Journal
from mockdriver.journal.journal import DEFAULT_CAPACITY
from mockdriver.runtime import VirtualRuntime
from tests.journal.recorded import SmallJournal

DELETE = csi_pb2.DeleteVolumeRequest(volume_id="vol-1")


def test_a_call_is_recorded_when_it_arrives() -> None:
    small = SmallJournal()
    entry = small.begin(DELETE, node_id="i-1")
    assert small.journal.entries() == [entry]
    assert (entry.code, entry.code_number) == ("RUNNING", -1)
    assert (entry.service, entry.rpc, entry.peer) == ("Controller", "DeleteVolume", "unix:test")
    assert entry.node_id == "i-1"
    assert entry.request() == {"volume_id": "vol-1"}
    assert entry.response() == {}


def test_a_call_is_completed_when_it_ends() -> None:
    small = SmallJournal()
    entry = small.begin(
        csi_pb2.ControllerGetNodeInfoRequest(node_id="i-1"), "ControllerGetNodeInfo"
    )
    response = csi_pb2.ControllerGetNodeInfoResponse(max_volumes_per_node=23)
    small.end(entry, response=response)
    assert (entry.code, entry.code_number, entry.message) == ("OK", 0, "")
    assert entry.response() == {"max_volumes_per_node": 23}


def test_a_failed_call_has_a_code_a_message_and_no_response() -> None:
    small = SmallJournal()
    entry = small.end(small.begin(DELETE), "NOT_FOUND", number=5, message="no such volume")
    assert (entry.code, entry.code_number, entry.message) == ("NOT_FOUND", 5, "no such volume")
    assert entry.response() == {}


def test_times_are_on_the_clock_of_the_runtime() -> None:
    small = SmallJournal()
    small.runtime.advance(5)
    entry = small.begin(DELETE)
    small.runtime.advance(1.5)
    small.end(entry)
    assert (entry.started_seconds, entry.duration_seconds) == (5, 1.5)


def test_calls_are_numbered_from_one_without_gaps() -> None:
    small = SmallJournal()
    assert [small.call(DELETE).sequence for _ in range(3)] == [1, 2, 3]


def test_an_entry_counts_the_calls_that_ran_when_it_arrived() -> None:
    small = SmallJournal()
    first, second = small.begin(DELETE), small.begin(DELETE)
    small.end(first)
    third = small.begin(DELETE)
    assert [entry.calls_in_flight for entry in (first, second, third)] == [0, 1, 1]
    small.end(second)
    small.end(third)
    assert small.begin(DELETE).calls_in_flight == 0


def test_the_newest_calls_are_kept() -> None:
    small = SmallJournal(capacity=3)
    for _ in range(5):
        small.call(DELETE)
    assert [entry.sequence for entry in small.journal.entries()] == [3, 4, 5]


def test_a_call_that_ends_after_it_was_dropped_does_no_harm() -> None:
    small = SmallJournal(capacity=1)
    dropped = small.begin(DELETE)
    kept = small.begin(DELETE)
    small.end(dropped)
    assert small.journal.entries() == [kept]
    assert small.ended == [dropped]


def test_the_record_is_bounded_by_default() -> None:
    journal = Journal(VirtualRuntime())
    assert journal.capacity == DEFAULT_CAPACITY


def test_the_list_of_entries_is_a_copy() -> None:
    small = SmallJournal()
    small.call(DELETE)
    before = small.journal.entries()
    small.call(DELETE)
    assert len(before) == 1


def test_the_sink_sees_each_call_once_as_it_ends() -> None:
    small = SmallJournal()
    first, second = small.begin(DELETE), small.begin(DELETE)
    assert small.ended == []
    small.end(second)
    small.end(first)
    assert small.ended == [second, first]


def test_what_is_larger_than_the_record_may_be_pushes_older_calls_out() -> None:
    small = SmallJournal(max_bytes=1_000)
    for size in (400, 400, 400):
        small.call(bytes(size))
    assert [entry.sequence for entry in small.journal.entries()] == [2, 3]


def test_the_newest_call_is_kept_however_large_it_is() -> None:
    small = SmallJournal(max_bytes=1_000)
    small.call(DELETE)
    small.call(bytes(5_000))
    assert [entry.sequence for entry in small.journal.entries()] == [2]


def test_responses_count_for_the_size_of_the_record() -> None:
    small = SmallJournal(max_bytes=1_000)
    large = csi_pb2.ListVolumesResponse(next_token="t" * 700)
    for _ in range(3):
        small.end(small.begin(b"", "ListVolumes"), response=large)
    assert [entry.sequence for entry in small.journal.entries()] == [3]
    assert small.journal._bytes == large.ByteSize()


# ------------------------------------------------------------------------------------------ clear


def test_clearing_forgets_the_calls_that_have_ended_and_no_others() -> None:
    small = SmallJournal()
    small.call(DELETE)
    running = small.begin(DELETE)
    small.call(DELETE)
    assert small.journal.clear() == 2
    assert small.journal.entries() == [running]


def test_sequence_numbers_go_on_after_clearing() -> None:
    small = SmallJournal()
    small.call(DELETE)
    small.journal.clear()
    assert small.call(DELETE).sequence == 2


def test_a_call_that_was_in_flight_when_the_record_was_cleared_is_completed() -> None:
    small = SmallJournal()
    running = small.begin(DELETE)
    small.journal.clear()
    small.end(running)
    assert [moment.code for moment in small.journal.moments()] == ["OK"]


def test_clearing_does_not_touch_the_count_of_calls_in_flight() -> None:
    small = SmallJournal()
    small.begin(DELETE)
    small.journal.clear()
    assert small.journal.in_flight() == 1
    assert small.begin(DELETE).calls_in_flight == 1


# ------------------------------------------------------------------------------------- lost calls


def lost(small: SmallJournal, after: int = 0) -> int:
    return small.journal.view(after)[1]


def test_calls_that_the_bounded_record_has_lost_are_counted() -> None:
    small = SmallJournal(capacity=3)
    for _ in range(5):
        small.call(DELETE)
    assert lost(small) == 2


def test_calls_that_were_cleared_are_not_lost() -> None:
    small = SmallJournal(capacity=3)
    for _ in range(5):
        small.call(DELETE)
    small.journal.clear()
    small.call(DELETE)
    assert lost(small) == 0


def test_whoever_asks_about_later_calls_has_lost_none_of_before() -> None:
    small = SmallJournal(capacity=3)
    for _ in range(5):
        small.call(DELETE)
    assert [lost(small, after) for after in (0, 1, 2, 3)] == [2, 2, 0, 0]


# ---------------------------------------------------------------------------------------- moments


def test_a_moment_keeps_telling_of_the_call_as_it_was() -> None:
    small = SmallJournal()
    entry = small.begin(DELETE)
    (before,) = small.journal.moments()
    small.end(entry, "NOT_FOUND", number=5, message="no such volume")
    (after,) = small.journal.moments()
    assert (before.code, before.code_number, before.message) == ("RUNNING", -1, "")
    assert (after.code, after.code_number, after.message) == ("NOT_FOUND", 5, "no such volume")


@pytest.mark.parametrize("hostile", [b"\xff", b"\x0a\xff", b"\x0a\x02\xff\xfe", b"no message"])
def test_bytes_that_are_no_request_give_nothing(hostile: bytes) -> None:
    assert SmallJournal().call(hostile).request() == {}
