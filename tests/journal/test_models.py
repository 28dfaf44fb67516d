"""The journal beside naive models of it, which keep everything and look at all of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from csi_spec import csi_pb2
from mockdriver.cloud import Caller
from mockdriver.faults.status_codes import STATUS_CODES
from mockdriver.journal import Entry
from mockdriver.journal.filters import CallFilter
from mockdriver.journal.follower import Follower
from tests.journal.recorded import SmallJournal

# ---------------------------------------------------------------------------------------- filters

VOLUMES = ("", "vol-1", "vol-10", "vol-2")
NODES = ("", "i-1", "i-2")
RPCS = {
    "ControllerPublishVolume": "Controller",
    "ControllerUnpublishVolume": "Controller",
    "NodeUnpublishVolume": "Node",
    "NodeGetInfo": "Node",
}
CODES = ("OK", "NOT_FOUND", "ABORTED", "RUNNING")
FAULTS = ("flaky", "slow")
PATTERNS = st.sampled_from(["", "*", "vol-1", "vol-*", "vol-?", "*1*", "i-?", "i-1", "i-2*"])


@dataclass
class Call:
    """A call, as plain facts."""

    rpc: str
    volume: str
    node: str
    served_node: str | None
    code: str
    faults: tuple[str, ...]
    message: str


CALLS = st.lists(
    st.builds(
        Call,
        rpc=st.sampled_from(sorted(RPCS)),
        volume=st.sampled_from(VOLUMES),
        node=st.sampled_from(NODES),
        served_node=st.sampled_from([None, "i-1", "i-2"]),
        code=st.sampled_from(CODES),
        faults=st.lists(st.sampled_from(FAULTS), unique=True).map(tuple),
        message=st.sampled_from(["", "no disk vol-1", "a node i-2 is gone"]),
    ),
    max_size=12,
)
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "rpc": st.sampled_from(["*", "Controller*", "NodeGetInfo", "*Unpublish*", "?ode*"]),
        "service": st.sampled_from(["*", "Node", "Contr*"]),
        "node_id": PATTERNS.filter(bool),
        "code": st.sampled_from(["OK", "!OK", "RUNNING", "!RUNNING", "*N*", "!*N*"]),
        "volume_id": PATTERNS,
        "fault": st.sampled_from(["flaky", "s*", "*"]),
        "after": st.integers(0, 12),
        "message": st.sampled_from(["vol", "i-?", "disk*1", "none such"]),
    },
)


def record(small: SmallJournal, call: Call) -> None:
    """Record a call; the code RUNNING leaves it in flight."""
    request = getattr(csi_pb2, f"{call.rpc}Request")()
    if "volume_id" in request.DESCRIPTOR.fields_by_name:
        request.volume_id = call.volume
    if "node_id" in request.DESCRIPTOR.fields_by_name:
        request.node_id = call.node
    entry = small.begin(request, call.rpc, service=RPCS[call.rpc], node_id=call.served_node)
    entry.faults = call.faults
    if call.code != "RUNNING":
        number = STATUS_CODES.index(call.code)
        small.end(entry, call.code, number=number, message=call.message)


def is_meant(call: Call, sequence: int, wanted: dict[str, Any]) -> bool:
    """Tell whether a filter means a call: each of its conditions spelled out."""

    def like(text: str, name: str) -> bool:
        return name not in wanted or fnmatchcase(text, wanted[name])

    has_volume = call.rpc != "NodeGetInfo"
    names_node = call.rpc.startswith("Controller") and call.node
    node = call.node if names_node else call.served_node
    code = wanted.get("code", "*")
    ended = call.code != "RUNNING"
    message = call.message if ended else ""
    volume_is_meant = (
        "volume_id" not in wanted
        or (has_volume and wanted["volume_id"] == call.volume)
        or (has_volume and wanted["volume_id"] and fnmatchcase(call.volume, wanted["volume_id"]))
    )
    code_is_meant = (
        ended and not fnmatchcase(call.code, code[1:])
        if code.startswith("!")
        else fnmatchcase(call.code, code)
    )
    return (
        sequence > wanted.get("after", 0)
        and like(call.rpc, "rpc")
        and like(RPCS[call.rpc], "service")
        and ("node_id" not in wanted or (node is not None and like(node, "node_id")))
        and bool(volume_is_meant)
        and code_is_meant
        and ("fault" not in wanted or any(like(name, "fault") for name in call.faults))
        and ("message" not in wanted or fnmatchcase(message, f"*{wanted['message']}*"))
    )


def makes_sense(wanted: dict[str, Any]) -> bool:
    """Tell whether there are such RPCs and they have the field; else the filter is a mistake."""
    rpc, service = wanted.get("rpc", "*"), wanted.get("service", "*")
    some = [name for name in RPCS if fnmatchcase(name, rpc) and fnmatchcase(RPCS[name], service)]
    return bool(some) and ("volume_id" not in wanted or some != ["NodeGetInfo"])


@settings(max_examples=200, deadline=None)
@given(CALLS, FILTERS.filter(makes_sense))
def test_filters_find_what_a_naive_reading_of_them_finds(
    calls: list[Call], wanted: dict[str, Any]
) -> None:
    small = SmallJournal()
    for call in calls:
        record(small, call)
    fields = {name: value for name, value in wanted.items() if name != "volume_id"}
    if "volume_id" in wanted:
        fields["request"] = {"volume_id": wanted["volume_id"]}

    expected = [n for n, call in enumerate(calls, 1) if is_meant(call, n, wanted)]

    assert small.sequences(CallFilter(**fields)) == expected


# ----------------------------------------------------------------------------------------- the ring

CAPACITY, MAX_BYTES = 5, 100


@dataclass
class Fact:
    """What the model knows of a call."""

    entry: Entry
    request_bytes: int
    response_bytes: int = 0
    ended: bool = False

    @property
    def size(self) -> int:
        return self.request_bytes + self.response_bytes


@dataclass
class Follow:
    """Somebody who follows, and what he should have been told."""

    stack: Any
    follower: Follower
    expected: list[tuple[int, bool]] = field(default_factory=list)


class RingMachine(RuleBasedStateMachine):
    """Calls arrive and end in any order, are cleared, pushed out, and followed."""

    def __init__(self) -> None:
        super().__init__()
        self.small = SmallJournal(CAPACITY, max_bytes=MAX_BYTES)
        self.kept: list[Fact] = []
        self.running: list[Fact] = []
        self.lost = 0
        self.made = 0
        self.follows: list[Follow] = []

    def _push_out(self) -> None:
        while len(self.kept) > CAPACITY or (
            len(self.kept) > 1 and sum(fact.size for fact in self.kept) > MAX_BYTES
        ):
            self.kept.pop(0)
            self.lost += 1

    @rule(size=st.integers(0, 120))
    def a_call_arrives(self, size: int) -> None:
        entry = self.small.begin(bytes(size))
        self.made += 1
        assert entry.sequence == self.made
        assert entry.calls_in_flight == len(self.running)
        fact = Fact(entry, size)
        self.kept.append(fact)
        self.running.append(fact)
        self._push_out()
        for follow in self.follows:
            follow.expected.append((entry.sequence, False))

    @precondition(lambda self: self.running)
    @rule(data=st.data(), size=st.integers(0, 120))
    def a_call_ends(self, data: st.DataObject, size: int) -> None:
        fact = data.draw(st.sampled_from(self.running))
        self.running.remove(fact)
        response = csi_pb2.GetPluginInfoResponse(name="x" * size)
        fact.response_bytes, fact.ended = response.ByteSize(), True
        self.small.end(fact.entry, response=response)
        self._push_out()
        for follow in self.follows:
            follow.expected.append((fact.entry.sequence, True))

    @rule()
    def the_record_is_cleared(self) -> None:
        ended = [fact for fact in self.kept if fact.ended]
        assert self.small.journal.clear() == len(ended)
        self.kept = [fact for fact in self.kept if not fact.ended]
        self.lost = 0

    @precondition(lambda self: len(self.follows) < 3)
    @rule()
    def somebody_begins_to_follow(self) -> None:
        stack = self.small.journal.following(Caller(self.small.runtime))
        present, follower = stack.__enter__()
        assert [moment.entry for moment in present] == [fact.entry for fact in self.kept]
        assert [moment.ended for moment in present] == [fact.ended for fact in self.kept]
        self.follows.append(Follow(stack, follower))

    @precondition(lambda self: self.follows)
    @rule(data=st.data())
    def somebody_takes_what_there_is(self, data: st.DataObject) -> None:
        follow = data.draw(st.sampled_from(self.follows))
        moments, missed = follow.follower.take()
        assert [(moment.entry.sequence, moment.ended) for moment in moments] == follow.expected
        assert missed == 0
        follow.expected.clear()

    @precondition(lambda self: self.follows)
    @rule()
    def somebody_stops_following(self) -> None:
        self.follows.pop().stack.__exit__(None, None, None)
        assert len(self.small.journal._followers) == len(self.follows)

    @invariant()
    def the_record_is_the_newest_that_fits(self) -> None:
        moments, lost = self.small.journal.view()
        assert [moment.entry for moment in moments] == [fact.entry for fact in self.kept]
        assert lost == self.lost
        assert self.small.journal.in_flight() == len(self.running)
        assert self.small.journal._bytes == sum(fact.size for fact in self.kept)


TestRing = RingMachine.TestCase
TestRing.settings = settings(max_examples=50, stateful_step_count=40, deadline=None)
