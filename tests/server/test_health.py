"""The gRPC health service: what it says of a server that starts, serves and stops."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from mockdriver.driver.driver import Role
from mockdriver.server.health import MAX_WATCHERS
from mockdriver.server.mock_server import MockServer
from mockdriver.server.sockets import grpc_target
from tests.conftest import Serve
from tests.requests import begin_publish, is_ready, published_ids
from tests.server.in_process import make
from tests.waiting import PATIENCE_SECONDS, wait_until

SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING
UNKNOWN = health_pb2.HealthCheckResponse.SERVICE_UNKNOWN

HELD = """
scenario: held
cloud: {instances: [{id: i-1}], disks: [{id: vol-1}], transitions: {attach: held}}
"""


@contextmanager
def health_of(path: Path) -> Iterator[Any]:
    """Connect to a socket's health service."""
    with grpc.insecure_channel(grpc_target(path)) as channel:
        yield health_pb2_grpc.HealthStub(channel)


def check(health: Any, service: str = "") -> Any:
    """Ask once how a service is."""
    return health.Check(
        health_pb2.HealthCheckRequest(service=service), timeout=PATIENCE_SECONDS
    ).status


def watch(health: Any, service: str = "") -> Any:
    """Watch a service; the answers are statuses."""
    return health.Watch(health_pb2.HealthCheckRequest(service=service), timeout=PATIENCE_SECONDS)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[MockServer]:
    made = make()
    yield made
    made.stop(0)


@pytest.mark.parametrize("service", ["", "csi.v1.Identity", "csi.v1.Controller", "csi.v1.Node"])
def test_each_service_serves_when_the_server_is_ready(service: str, serve: Serve) -> None:
    with health_of(serve().path) as health:
        assert check(health, service) == SERVING


def test_a_service_that_is_not_on_the_socket_is_not_found(serve: Serve) -> None:
    with health_of(serve("--role", "node").path) as health:
        with pytest.raises(grpc.RpcError) as caught:
            check(health, "csi.v1.Controller")

        assert caught.value.code() is grpc.StatusCode.NOT_FOUND
        assert "'csi.v1.Controller' is not on this socket" in str(caught.value.details())
        assert "csi.v1.Node" in str(caught.value.details())


def test_all_services_of_a_socket_are_listed(tmp_path: Path, server: MockServer) -> None:
    server.listen(tmp_path / "c.sock", None, Role.CONTROLLER, control=False)
    server.health.serve()

    with health_of(tmp_path / "c.sock") as health:
        answer = health.List(health_pb2.HealthListRequest(), timeout=PATIENCE_SECONDS)

    assert {name: item.status for name, item in answer.statuses.items()} == dict.fromkeys(
        ["", "csi.v1.Identity", "csi.v1.Controller", "grpc.health.v1.Health"], SERVING
    )


def test_a_socket_that_is_open_before_the_others_does_not_serve_yet(
    tmp_path: Path, server: MockServer
) -> None:
    server.listen(tmp_path / "first.sock", "i-1")

    with health_of(tmp_path / "first.sock") as health:
        assert check(health) == NOT_SERVING
        statuses = watch(health)
        assert next(statuses).status == NOT_SERVING

        server.health.serve()

        assert next(statuses).status == SERVING
        assert check(health) == SERVING


def test_watchers_hear_of_the_stop_and_are_let_go(tmp_path: Path, server: MockServer) -> None:
    server.listen(tmp_path / "csi.sock", "i-1")
    server.health.serve()

    with health_of(tmp_path / "csi.sock") as health:
        statuses = watch(health, "csi.v1.Node")
        assert next(statuses).status == SERVING

        # Far less than the grace: the watch would otherwise be cancelled at its end.
        server.stop(grace_seconds=PATIENCE_SECONDS * 10)

        assert [item.status for item in statuses] == [NOT_SERVING]
        assert statuses.code() is grpc.StatusCode.OK


def test_a_server_does_not_serve_while_calls_in_flight_finish(serve: Serve) -> None:
    server = serve("--grace-seconds", "600", scenario=HELD)
    with server.connect() as client, health_of(server.path) as health:
        publishing = begin_publish(client, "vol-1", "i-1")
        wait_until(lambda: published_ids(client, "i-1"), "the publish has begun")
        statuses = watch(health)
        assert next(statuses).status == SERVING

        server.process.terminate()

        assert next(statuses).status == NOT_SERVING
        assert not publishing.done()


def test_a_server_that_stops_does_not_serve_again(server: MockServer) -> None:
    server.health.stop()
    server.health.serve()

    assert server.health.status() == NOT_SERVING


def test_a_watch_of_an_unknown_service_says_so_and_goes_on(
    tmp_path: Path, server: MockServer
) -> None:
    server.listen(tmp_path / "csi.sock", "i-1")

    with health_of(tmp_path / "csi.sock") as health:
        statuses = watch(health, "no.such.Service")
        assert next(statuses).status == UNKNOWN
        server.health.serve()
        server.health.stop()

        assert list(statuses) == []
        assert statuses.code() is grpc.StatusCode.OK


def test_watchers_do_not_take_all_threads_and_leave_their_place_when_they_go(
    tmp_path: Path, server: MockServer
) -> None:
    server.listen(tmp_path / "csi.sock", "i-1")

    with health_of(tmp_path / "csi.sock") as health:
        watches = [watch(health) for _ in range(MAX_WATCHERS)]
        for statuses in watches:
            next(statuses)
        one_more = watch(health)
        with pytest.raises(grpc.RpcError) as caught:
            next(one_more)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED

        watches[0].cancel()

        def has_room() -> bool:
            try:
                return bool(next(watch(health)).status == NOT_SERVING)
            except grpc.RpcError:
                return False

        wait_until(has_room, "the place of the watcher that left")


def test_the_health_service_describes_itself_under_other_capability_numbers(serve: Serve) -> None:
    server = serve("--capability-number", "GET_NODE_INFO=99")

    with grpc.insecure_channel(grpc_target(server.path)) as channel:
        database = ProtoReflectionDescriptorDatabase(channel)
        file = database.FindFileContainingSymbol("grpc.health.v1.Health")

    assert {method.name for method in file.service[0].method} == {"Check", "List", "Watch"}


def test_health_calls_are_no_calls_of_the_driver(serve: Serve) -> None:
    server = serve()
    with health_of(server.path) as health, server.connect() as client:
        check(health)
        assert is_ready(client)
    server.stop()

    assert " Probe OK " in server.log()
    assert "Check" not in server.log()
