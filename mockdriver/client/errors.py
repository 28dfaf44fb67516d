"""Calls that failed, as errors with fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import grpc

ERROR_METADATA = "mockdriver-error"
"""The trailing metadata in which the control API names the class of an error."""


class CallFailed(Exception):
    """A call that came back with another code than OK."""

    def __init__(
        self,
        rpc: str,
        code: grpc.StatusCode,
        message: str,
        trailing_metadata: Mapping[str, str | bytes] | None = None,
    ) -> None:
        self.rpc = rpc
        """The name of the RPC, without its service."""
        self.code = code
        self.message = message
        """What the server says."""
        self.trailing_metadata: Mapping[str, str | bytes] = dict(trailing_metadata or {})
        super().__init__(f"{rpc}: {code.name}: {message}")


class ControlError(CallFailed):
    """The control API refused, or could not be reached."""

    @property
    def error(self) -> str:
        """The class of the error, "SlotsExhausted" for one; empty if it has none."""
        return str(self.trailing_metadata.get(ERROR_METADATA, ""))


def metadata_of(error: grpc.RpcError) -> dict[str, str | bytes]:
    """Return what came behind a failed call."""
    # An error of a call is the call itself too, which the stubs of grpc cannot say.
    call: Any = error
    return {str(key): value for key, value in call.trailing_metadata() or ()}
