"""The layer that makes calls go wrong on purpose: between the in-flight guard and the method.

A call that fails its checks, or whose object is busy, never gets so far. One that a fault lets wait
keeps its object meanwhile, as a slow driver would.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from google.protobuf.message import Message

from mockdriver.cloud import Caller
from mockdriver.cloud.errors import CallerGone, CloudError
from mockdriver.driver.errors import DriverError
from mockdriver.driver.rpc_caller import RpcCaller
from mockdriver.driver.rpcs import Rpc
from mockdriver.faults.engine import ActingFault, FaultEngine
from mockdriver.faults.errors import InjectedFailure, ProcessEnds
from mockdriver.faults.status_codes import OK
from mockdriver.faults.subjects import RpcCall, node_of

Method = Callable[[Any, Caller], Message]

Work = Callable[[], Message]


class FaultLayer:
    """Puts the faults of one list around service methods."""

    def __init__(self, faults: FaultEngine) -> None:
        self.faults = faults

    def around(
        self, rpc: Rpc, method: Method, response_type: type[Message], node_id: str | None
    ) -> Method:
        """Return the method with faults, for calls of an RPC that one may act on.

        `node_id` is the node that the calls arrive on.
        """

        def faulty(request: Any, caller: Caller) -> Message:
            call = RpcCall(rpc.name, request, node_of(rpc.name, request, node_id))
            acting = self.faults.choose(call)
            if acting is None:
                return method(request, caller)
            record(acting, caller)
            act = self._after if acting.fault.acts_after else self._before
            return act(acting, lambda: method(request, caller), response_type, caller)

        return faulty

    def _before(
        self, acting: ActingFault, work: Work, response_type: type[Message], caller: Caller
    ) -> Message:
        """Do what the fault says in the place of the work; after its waits, if it only waits."""
        self.wait(acting, caller)
        if acting.fault.code == OK or acting.fault.reply:
            return _overridden(acting, response_type())
        self.end(acting, caller)
        return work()

    def _after(
        self, acting: ActingFault, work: Work, response_type: type[Message], caller: Caller
    ) -> Message:
        """Do the work, and then what the fault says, whether or not the work was refused."""
        refusal: Exception | None = None
        try:
            reply = work()
        except (CallerGone, ProcessEnds):
            raise
        except (CloudError, DriverError, InjectedFailure) as error:
            refusal = error
        self.wait(acting, caller)
        self.end(acting, caller)
        if acting.fault.code == OK:
            return response_type()
        if refusal is not None:
            raise refusal
        return _overridden(acting, reply)

    def wait(self, acting: ActingFault, caller: Caller) -> None:
        """Let the call wait as long as the fault says."""
        number = caller.entry.sequence if isinstance(caller, RpcCaller) else 0
        acting.wait(caller, number)

    def end(self, acting: ActingFault, caller: Caller) -> None:
        """End the call as the fault says; return if it says nothing that ends one."""
        fault = acting.fault
        if fault.code not in ("", OK):
            raise acting.failure()
        if fault.no_answer:
            acting.never_answer(caller)
        if fault.exit is not None:
            raise ProcessEnds(fault.name, fault.exit)


def _overridden(acting: ActingFault, reply: Message) -> Message:
    for override in acting.overrides:
        override.apply(reply)
    return reply


def record(acting: ActingFault, caller: Caller) -> None:
    """Write the fault's name to the call in the journal; a fault that acts twice stands once."""
    name = acting.fault.name
    if isinstance(caller, RpcCaller) and name not in caller.entry.faults:
        caller.entry.faults = (*caller.entry.faults, name)
