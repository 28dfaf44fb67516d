"""``mockdriver wait``."""

from __future__ import annotations

import sys
from pathlib import Path

import click
import grpc
from grpc_health.v1 import health_pb2

from mockdriver.cli.durations import duration
from mockdriver.runtime import WallRuntime
from mockdriver.server.health import SERVICE
from mockdriver.server.sockets import (
    DEFAULT_ENDPOINT,
    EndpointMistake,
    grpc_target,
    parse_endpoint,
)

_LONGEST_PAUSE_MS = 250
"""Between two attempts to connect; gRPC's own pauses grow to two minutes."""

_PAUSE_SECONDS = 0.1
"""After a connection was lost, so that a server that ends each call at once costs little."""

_NOT_READY = 1


@click.command()
@click.option(
    "--endpoint",
    default=DEFAULT_ENDPOINT,
    show_default=True,
    envvar=["MOCKDRIVER_ENDPOINT", "CSI_ENDPOINT"],
    help="The Unix socket of the server, with or without unix://; it need not be there yet.",
)
@click.option(
    "--timeout",
    "timeout_seconds",
    default="30s",
    show_default=True,
    callback=duration,
    envvar="MOCKDRIVER_TIMEOUT",
    metavar="DURATION",
    help="How long to wait at most: 500ms, 30s, 2m.",
)
def wait(endpoint: str, timeout_seconds: float) -> None:
    """Wait until a server is ready, by its gRPC health service.

    Exits with 0 when it is; with 1 when the time is over, or when who answers there has no health
    service; with 2 if an option is wrong.
    """
    try:
        path = parse_endpoint(endpoint)
    except EndpointMistake as mistake:
        raise click.BadParameter(str(mistake), param_hint="--endpoint") from None
    problem = _wait(path, timeout_seconds)
    if problem is not None:
        click.echo(f"unix://{path}: not ready: {problem}", err=True)
        sys.exit(_NOT_READY)
    click.echo(f"unix://{path}: ready")


def _wait(path: Path, timeout_seconds: float) -> str | None:
    """Return when the server serves, or why it does not when the time is over."""
    runtime = WallRuntime()
    never = runtime.event()
    with _channel(path) as channel:
        watch = channel.unary_stream(
            f"/{SERVICE}/Watch",
            health_pb2.HealthCheckRequest.SerializeToString,
            health_pb2.HealthCheckResponse.FromString,
        )
        problem = None
        while (left := timeout_seconds - runtime.now()) > 0:
            try:
                for answer in watch(
                    health_pb2.HealthCheckRequest(), timeout=left, wait_for_ready=True
                ):
                    if answer.status == health_pb2.HealthCheckResponse.SERVING:
                        return None
                    problem = "it answers that it does not serve"
            except grpc.RpcError as error:
                if error.code() is grpc.StatusCode.UNIMPLEMENTED:
                    return "who answers there has no gRPC health service"
                if error.code() is not grpc.StatusCode.DEADLINE_EXCEEDED:
                    problem = f"{error.code().name}: {error.details()}"
            runtime.wait(never, min(runtime.now() + _PAUSE_SECONDS, timeout_seconds))
    if problem is None:
        problem = "nobody answers there" if path.exists() else "there is no socket"
    return f"{problem}, after {timeout_seconds:g} s"


def _channel(path: Path) -> grpc.Channel:
    return grpc.insecure_channel(
        grpc_target(path),
        options=[
            ("grpc.initial_reconnect_backoff_ms", _LONGEST_PAUSE_MS),
            # Not only a pause, but how long an attempt to connect may take: a busy server is slow.
            ("grpc.min_reconnect_backoff_ms", 10_000),
            ("grpc.max_reconnect_backoff_ms", _LONGEST_PAUSE_MS),
        ],
    )
