"""How the CO makes one call: with a deadline, and an answer that is a response or a code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import grpc

DEADLINE_SECONDS = 60.0

Stub = Callable[..., Any]
"""A method of a generated stub."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What one call came back with: the name of its code, and response or message."""

    code: str
    response: Any = None
    message: str = ""

    @property
    def ok(self) -> bool:
        """Tell whether the call succeeded."""
        return self.code == "OK"


Call = Callable[[Stub, Any], Answer]
"""Makes one call of a stub's method with a request. Stories bring one that their clock knows of."""


def call(method: Stub, request: Any) -> Answer:
    """Make a call and wait for its answer, `DEADLINE_SECONDS` at most."""
    try:
        return Answer("OK", method(request, timeout=DEADLINE_SECONDS))
    except grpc.RpcError as error:
        return failed(error)


def failed(error: grpc.RpcError) -> Answer:
    """Return the answer that an error is."""
    # An error of a call is the call itself too, which the stubs of grpc cannot say.
    call: Any = error
    return Answer(call.code().name, message=call.details() or "")
