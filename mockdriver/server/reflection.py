"""Reflection: the server describes itself, so that its clients need no proto file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import grpc
from google.protobuf.descriptor import FileDescriptor
from google.protobuf.descriptor_pool import DescriptorPool
from grpc_reflection.v1alpha import reflection


def enable_reflection(server: grpc.Server, services: Iterable[str], pool: DescriptorPool) -> None:
    """Serve reflection for services, by their full names, beside them."""
    reflection.enable_server_reflection(
        [*services, reflection.SERVICE_NAME], server, pool=_PoolWithMethods(pool)
    )


ERROR_DETAILS = "google.rpc"
"""The package of the messages beside an error's code, see `faults.error_details`."""


class _PoolWithMethods:
    """A descriptor pool that finds methods too, and the messages that errors come with.

    Protobuf's own finds fields and enum values by their full names, but no methods; that is what
    `grpcurl describe csi.v1.Controller.ControllerGetNodeInfo` asks for. The details of an error are
    in a pool of their own; with them, grpcurl can show what a fault answers.
    """

    def __init__(self, pool: DescriptorPool) -> None:
        self._pool = pool

    def __getattr__(self, name: str) -> Any:
        return getattr(self._pool, name)

    def FindFileContainingSymbol(self, symbol: str) -> FileDescriptor:  # noqa: N802 - protobuf's
        """Return the file that describes `symbol`; raises KeyError."""
        if symbol.startswith(f"{ERROR_DETAILS}."):
            # Here, since hardly anybody asks for them.
            from mockdriver.faults import error_details  # noqa: PLC0415

            return error_details.pool().FindFileContainingSymbol(symbol)
        try:
            return self._pool.FindFileContainingSymbol(symbol)
        except KeyError:
            service_name, _, method = symbol.rpartition(".")
            service = self._pool.FindServiceByName(service_name)
            if method not in service.methods_by_name:
                raise
            return service.file
