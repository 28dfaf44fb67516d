"""Whatever is done to the list of faults, it does what a naive list does."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from mockdriver.faults import Fault
from mockdriver.faults.engine import FaultEngine
from mockdriver.faults.errors import FaultExists, FaultNotFound
from mockdriver.runtime import VirtualRuntime
from tests.faults.calls import rpc_call, who_acts
from tests.faults.machine import NaiveFaults

RPCS = ("ControllerPublishVolume", "ControllerUnpublishVolume", "DeleteVolume")
NAMES = ("a", "b", "c")
names = st.sampled_from(NAMES)

faults = st.builds(
    Fault,
    name=st.sampled_from(("", *NAMES)),
    rpc=st.sampled_from(("*", "*", *RPCS[:2])),
    node_id=st.sampled_from(("", "", "", "i-1", "i-2")),
    request=st.sampled_from(({}, {}, {}, {"volume_id": "v-1"}, {"volume_id": "v-2"})),
    calls=st.sampled_from(("", "", "", "2", "2-3", "first 2", "from 3", "every 2")),
    times=st.sampled_from((None, 1, 2)),
    probability=st.sampled_from((None, None, None, 0.5)),
    code=st.just("ABORTED"),
    lifetime_seconds=st.sampled_from((None, 5.0)),
    enabled=st.sampled_from((True, True, True, True, False)),
)


class FaultMachine(RuleBasedStateMachine):
    """Changes of the list, and calls, in any order."""

    def __init__(self) -> None:
        super().__init__()
        self.runtime = VirtualRuntime()
        self.real = FaultEngine(self.runtime)
        self.naive = NaiveFaults()
        self.snapshots: list[tuple[Any, Any]] = []

    @rule(fault=faults, before=st.sampled_from(("", "", *NAMES)))
    def create(self, fault: Fault, before: str) -> None:
        taken = bool(fault.name) and self.naive.place(fault.name) is not None
        place = self.naive.place(before) if before else len(self.naive.items)
        if taken or place is None:
            with pytest.raises((FaultExists, FaultNotFound)):
                self.real.create(fault, before=before)
            return
        item = self.naive.made(fault)
        self.naive.items.insert(place, item)
        assert self.real.create(fault, before=before).fault.name == item.fault.name

    @rule(fault=faults)
    def update(self, fault: Fault) -> None:
        place = self.naive.place(fault.name)
        if place is None:
            with pytest.raises(FaultNotFound):
                self.real.update(fault)
            return
        self.real.update(fault)
        self.naive.items[place] = self.naive.made(fault)

    @rule(name=names, enabled=st.booleans())
    def enable(self, name: str, enabled: bool) -> None:
        place = self.naive.place(name)
        if place is not None:
            self.real.enable(name, enabled)
            item = self.naive.items[place]
            item.fault = Fault(**{**vars(item.fault), "enabled": enabled})

    @rule(name=names)
    def delete(self, name: str) -> None:
        place = self.naive.place(name)
        if place is None:
            with pytest.raises(FaultNotFound):
                self.real.delete(name)
            return
        self.real.delete(name)
        del self.naive.items[place]

    @precondition(lambda self: len(self.naive.items) > 3)
    @rule()
    def clear(self) -> None:
        assert self.real.clear() == len(self.naive.items)
        self.naive.items.clear()

    @rule(
        rpc=st.sampled_from(RPCS),
        node=st.sampled_from(("i-1", "i-2")),
        volume=st.sampled_from(("v-1", "v-2")),
        count=st.integers(1, 4),
    )
    def call(self, rpc: str, node: str, volume: str, count: int) -> None:
        fields = {"volume_id": volume}
        if rpc != "DeleteVolume":
            fields["node_id"] = node
        for _ in range(count):
            self.call_once(rpc, fields)

    def call_once(self, rpc: str, fields: dict[str, str]) -> None:
        call = rpc_call(rpc, **fields)
        said = [item.fault for item in self.real.explain(call) if item.acts]
        expected = self.naive.acting(rpc, fields)
        assert who_acts(self.real, call) == expected
        assert said == ([] if expected is None else [expected])
        if expected is not None:
            assert self.real.concerns(rpc)

    @rule(seconds=st.sampled_from((1.0, 4.0, 5.0)))
    def advance(self, seconds: float) -> None:
        self.runtime.advance(seconds)
        self.naive.now += seconds
        self.naive.expire()

    @precondition(lambda self: len(self.snapshots) < 3)
    @rule()
    def take_snapshot(self) -> None:
        self.snapshots.append((self.real.snapshot(), self.naive.copy()))

    @precondition(lambda self: self.snapshots)
    @rule(data=st.data())
    def restore(self, data: st.DataObject) -> None:
        real, naive = data.draw(st.sampled_from(self.snapshots))
        self.real.restore(real)
        self.naive.restore(naive)

    @invariant()
    def lists_and_counters_are_the_same(self) -> None:
        found = [
            (state.fault.name, state.fault.enabled, state.matched, state.acted)
            for state in self.real.list()
        ]
        assert found == self.naive.states()


FaultMachine.TestCase.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
TestTheListOfFaults = FaultMachine.TestCase
