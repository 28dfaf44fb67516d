"""A mock in the test's process behind a real socket, with a CO's and an operator's connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
from google.protobuf import message_factory

from mockdriver.co.csi_client import CsiClient
from mockdriver.control.services import DESCRIPTORS
from mockdriver.runtime import Runtime, WallRuntime
from mockdriver.scenario.load import loads
from mockdriver.server.compose import NO_OVERRIDES, DriverOverrides, make_cloud, make_server
from mockdriver.server.mock_server import MockServer
from mockdriver.server.sockets import grpc_target
from tests.control.small_world import SCENARIO, request_of
from tests.waiting import wait_until


class LiveWorld:
    """A server on a socket. `csi` is the CO's connection, `call` calls the control API."""

    def __init__(self, server: MockServer, runtime: Runtime, path: Path, csi: CsiClient) -> None:
        self.server = server
        self.runtime = runtime
        self.path = path
        self.csi = csi
        self.channel = grpc.insecure_channel(
            grpc_target(path), options=[("grpc.use_local_subchannel_pool", 1)]
        )

    def call(self, rpc: str, **fields: Any) -> Any:
        """Make a call of the control API over the socket."""
        return self.begin(rpc, **fields).result()

    def begin(self, rpc: str, **fields: Any) -> Any:
        """Begin a call of the control API; return its future."""
        service, _, name = rpc.partition(".")
        method = DESCRIPTORS[service].methods_by_name[name]
        stub: Any = self.channel.unary_unary(
            f"/{DESCRIPTORS[service].full_name}/{name}",
            request_serializer=lambda request: request.SerializeToString(),
            response_deserializer=message_factory.GetMessageClass(method.output_type).FromString,
        )
        return stub.future(request_of(rpc, **fields), timeout=60)

    def refused(self, rpc: str, **fields: Any) -> tuple[str, str, str]:
        """Make a call that is refused; return code, message and the name in the metadata."""
        try:
            self.call(rpc, **fields)
        except grpc.RpcError as error:
            trailing: Any = error.trailing_metadata()
            return error.code().name, error.details() or "", dict(trailing)["mockdriver-error"]
        raise AssertionError(f"{rpc} was not refused")

    def wait_until_in_flight(self, rpc: str, count: int = 1) -> None:
        """Return once so many calls of a CSI RPC are in flight."""
        wait_until(
            lambda: sum(entry.rpc == rpc and not entry.ended for entry in self.entries()) >= count,
            f"{count} calls of {rpc}",
        )

    def entries(self) -> list[Any]:
        """Return the record of calls."""
        return list(self.server.journal.entries())


@contextmanager
def live_world(
    folder: Path,
    scenario: str = SCENARIO,
    *,
    node_id: str | None = "i-1",
    follow: bool = True,
    overrides: DriverOverrides = NO_OVERRIDES,
) -> Iterator[LiveWorld]:
    """Serve a scenario while the block runs."""
    runtime = WallRuntime()
    loaded = loads(scenario)
    server = make_server(loaded, make_cloud(loaded, runtime), runtime, overrides)
    path = folder / "csi.sock"
    try:
        server.endpoints.node_id = node_id
        server.listen(path, node_id, follow=follow)
        with CsiClient(path) as csi:
            world = LiveWorld(server, runtime, path, csi)
            with world.channel:
                yield world
    finally:
        server.stop(0)
