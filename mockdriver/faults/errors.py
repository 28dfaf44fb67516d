"""What the list of faults refuses, and what a call ends with because of a fault."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from mockdriver.cloud.errors import quoted

if TYPE_CHECKING:
    from mockdriver.faults.flaws import FlawAt

_SHOWN_NAMES = 20


ERROR_DETAILS_KEY = "grpc-status-details-bin"
"""The metadata that carries a google.rpc.Status beside an error's code and message."""


class FaultsError(Exception):
    """Base of what the list of faults refuses."""


class FaultHasFlaws(FaultsError):
    """The fault cannot be; `flaws` say why, each with the key that it is about."""

    def __init__(self, flaws: Sequence[FlawAt]) -> None:
        self.flaws = tuple(flaws)
        super().__init__("; ".join(map(str, self.flaws)))


class FaultExists(FaultsError):
    """There is a fault with this name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(f"fault {quoted(name)} exists already; delete or update it")


class FaultNotFound(FaultsError):
    """There is no fault with this name."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name, self.known = name, tuple(known)
        super().__init__(f"no fault {quoted(name)}, there are: {_listed(self.known)}")


class TooManyFaults(FaultsError):
    """The list is full: each call may have to look at all of it."""

    def __init__(self, most: int) -> None:
        super().__init__(f"there are {most} faults already, which is the most")


class BarrierNotFound(FaultsError):
    """No fault holds calls at a barrier with this name, and none is held there."""

    def __init__(self, name: str, known: Iterable[str]) -> None:
        self.name, self.known = name, tuple(known)
        super().__init__(f"no barrier {quoted(name)}, there are: {_listed(self.known)}")


class NotHeldInTime(FaultsError):
    """Fewer calls than were waited for came to a barrier."""

    def __init__(self, barrier: str, wanted: int, held: int, timeout_seconds: float) -> None:
        self.barrier, self.wanted, self.held = barrier, wanted, held
        super().__init__(
            f"{held} of {wanted} calls are held at barrier {quoted(barrier)} after "
            f"{timeout_seconds:g} s"
        )


class InjectedFailure(Exception):
    """What a call ends with because of a fault: the name of a status code, and a message.

    `details` are the bytes of a google.rpc.Status, empty if there are none.
    """

    def __init__(self, code: str, message: str, details: bytes = b"") -> None:
        self.code, self.message, self.details = code, message, details
        super().__init__(message)


class TooManyWaiting(InjectedFailure):
    """So many calls wait because of faults that one more could keep others from being answered."""

    def __init__(self, most: int) -> None:
        super().__init__(
            "UNAVAILABLE",
            f"{most} calls are held, delayed or left without an answer by faults, which is the "
            "most: each keeps a thread",
        )


class StateReplaced(InjectedFailure):
    """The state was set back while the call waited: it must not act on the new one."""

    def __init__(self, fault: str) -> None:
        super().__init__(
            "UNAVAILABLE",
            f"the faults were set back while fault {quoted(fault)} let this call wait",
        )


class ProcessEnds(InjectedFailure):
    """The process ends, so nobody gets an answer; the code is what the peer makes of that."""

    def __init__(self, fault: str, exit_code: int) -> None:
        self.fault, self.exit_code = fault, exit_code
        super().__init__(
            "UNAVAILABLE", f"fault {fault} ends the process with exit code {exit_code}"
        )


def _listed(names: tuple[str, ...]) -> str:
    shown = ", ".join(quoted(name) for name in names[:_SHOWN_NAMES]) or "none"
    more = len(names) - _SHOWN_NAMES
    return f"{shown} and {more} more" if more > 0 else shown
