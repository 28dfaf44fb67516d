"""``mockdriver serve``."""

from __future__ import annotations

import gc
import logging
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from types import FrameType

import click

import mockdriver
from mockdriver.cli.crash import crash_with
from mockdriver.cli.first_steps import grpcurl_lines
from mockdriver.cli.scenario_files import load_without_story_or_exit
from mockdriver.cli.stdin_watch import stop_when_stdin_closes
from mockdriver.cli.switches import (
    capability_numbers,
    capability_switches,
    plugin_name,
    real_number,
)
from mockdriver.driver.capabilities import Capability
from mockdriver.driver.context import NodeInfoReply, NodeMounts
from mockdriver.driver.driver import Role
from mockdriver.journal import Entry
from mockdriver.journal.journal import DEFAULT_CAPACITY, MAX_CAPACITY
from mockdriver.journal.journal_file import JournalFile, JournalFileMistake
from mockdriver.journal.log_lines import LogFormat
from mockdriver.journal.log_writer import LogWriter
from mockdriver.runtime import Runtime, WallRuntime
from mockdriver.scenario import shipped
from mockdriver.scenario.load import LoadedScenario
from mockdriver.server.compose import (
    DriverOverrides,
    make_cloud,
    make_ready_file,
    make_registration,
    make_server,
)
from mockdriver.server.http_servers import HTTP_MISTAKES, HttpServers
from mockdriver.server.listening import (
    Announcement,
    Listening,
    ListeningPlan,
    plan_listening,
)
from mockdriver.server.mock_server import MockServer
from mockdriver.server.node_sockets import NodesMistake, choose_nodes
from mockdriver.server.socket_server import NotReady
from mockdriver.server.sockets import DEFAULT_ENDPOINT, EndpointMistake

_STOP_SIGNALS = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP}
"""The last one comes when the terminal is closed."""

_log = logging.getLogger("mockdriver")


@contextmanager
def _stop_signals_blocked() -> Iterator[None]:
    """Keep the signals that stop a server for sigwait(); afterwards they come as they did before.

    All threads that are started meanwhile inherit that they are blocked.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@click.command()
@click.option(
    "--scenario",
    default=shipped.DEFAULT,
    show_default=True,
    envvar="MOCKDRIVER_SCENARIO",
    metavar="FILE|NAME",
    help="What the cloud looks like.",
)
@click.option(
    "--endpoint",
    envvar=["MOCKDRIVER_ENDPOINT", "CSI_ENDPOINT"],
    help="The Unix socket to listen on, with or without unix://.  "
    f"[default: {DEFAULT_ENDPOINT}, none if --role node has a --node-socket-dir]",
)
@click.option(
    "--control-endpoint",
    envvar="MOCKDRIVER_CONTROL_ENDPOINT",
    metavar="ENDPOINT|off",
    help="The Unix socket of the control API, or off for none.  [default: the --endpoint]",
)
@click.option(
    "--role",
    type=click.Choice([role.value for role in Role]),
    default=Role.ALL.value,
    show_default=True,
    envvar="MOCKDRIVER_ROLE",
    help="The services at the endpoint: Identity, and those of the controller, of a node, or both.",
)
@click.option(
    "--node-socket-dir",
    type=click.Path(path_type=Path),
    envvar="MOCKDRIVER_NODE_SOCKET_DIR",
    metavar="DIR",
    help="Serve nodes of the scenario in this folder besides: 0.sock, 1.sock …, and index.json "
    "from node id to socket.",
)
@click.option(
    "--nodes",
    "node_patterns",
    multiple=True,
    envvar="MOCKDRIVER_NODES",
    metavar="ID",
    help="The nodes to serve in --node-socket-dir, at most 256; * and ? as in a shell. May be "
    "given several times.  [default: all]",
)
@click.option(
    "--kubelet-registration-dir",
    envvar="MOCKDRIVER_KUBELET_REGISTRATION_DIR",
    metavar="DIR",
    help="Register with the kubelet that watches this folder, without node-driver-registrar. "
    "{node} stands for the node's id.",
)
@click.option(
    "--kubelet-csi-socket",
    envvar="MOCKDRIVER_KUBELET_CSI_SOCKET",
    metavar="PATH",
    help="Where the kubelet finds the CSI socket, if it sees other paths than this process. {node} "
    "stands for the node's id.  [default: the socket's path]",
)
@click.option(
    "--node-mounts",
    type=click.Choice([item.value for item in NodeMounts]),
    default=NodeMounts.DIRECTORY.value,
    show_default=True,
    envvar="MOCKDRIVER_NODE_MOUNTS",
    help="What NodePublishVolume does: make the target a folder (block access: a file), or "
    "nothing.",
)
@click.option(
    "--node",
    envvar="MOCKDRIVER_NODE",
    metavar="ID",
    help="The instance that the Node service runs on.  [default: the scenario's first]",
)
@click.option(
    "--capability",
    "switches",
    multiple=True,
    callback=capability_switches,
    envvar="MOCKDRIVER_CAPABILITY",
    metavar="NAME=on|off",
    help="Switch a capability; put controller., node. or plugin. before a NAME that is not unique. "
    "May be given several times.",
)
@click.option(
    "--capability-number",
    "numbers",
    multiple=True,
    callback=capability_numbers,
    envvar="MOCKDRIVER_CAPABILITY_NUMBER",
    metavar="NAME=NUMBER",
    help="Advertise a provisional capability of KEP-6011 under another enum number, for a CO built "
    "with it. May be given several times.",
)
@click.option(
    "--driver-name",
    callback=plugin_name,
    envvar="MOCKDRIVER_DRIVER_NAME",
    metavar="NAME",
    help="The CSI plugin name.  [default: the scenario's]",
)
@click.option(
    "--node-info-reply",
    type=click.Choice([reply.value for reply in NodeInfoReply]),
    envvar="MOCKDRIVER_NODE_INFO_REPLY",
    help="What NodeGetInfo answers to the flag controller_get_node_info.  "
    "[default: the scenario's]",
)
@click.option(
    "--log-format",
    type=click.Choice([item.value for item in LogFormat]),
    default=LogFormat.TEXT.value,
    show_default=True,
    envvar="MOCKDRIVER_LOG_FORMAT",
    help="The form of the log on standard error, one line a call.",
)
@click.option(
    "--metrics",
    "metrics_address",
    envvar="MOCKDRIVER_METRICS",
    metavar="HOST:PORT",
    help="Serve metrics for Prometheus there, as in 127.0.0.1:9808; needs the extra metrics.",
)
@click.option(
    "--dashboard",
    "dashboard_address",
    envvar="MOCKDRIVER_DASHBOARD",
    metavar="HOST:PORT",
    help="Serve the live page there, as in 127.0.0.1:8080; needs the extra dashboard.",
)
@click.option(
    "--dashboard-token",
    envvar="MOCKDRIVER_DASHBOARD_TOKEN",
    metavar="TOKEN",
    help="What users of the page must know; needed where others can reach it. Other users of this "
    "machine can read options, but not environment variables.",
)
@click.option(
    "--ready-file",
    type=click.Path(path_type=Path),
    envvar="MOCKDRIVER_READY_FILE",
    metavar="FILE",
    help="Write the endpoints to this file, as JSON, when the driver answers; removed at the end.",
)
@click.option(
    "--journal",
    "journal_path",
    type=click.Path(path_type=Path),
    envvar="MOCKDRIVER_JOURNAL",
    metavar="FILE",
    help="Append each call to this file as a line of JSON.  [default: none]",
)
@click.option(
    "--journal-size",
    type=click.IntRange(1, MAX_CAPACITY),
    default=DEFAULT_CAPACITY,
    show_default=True,
    envvar="MOCKDRIVER_JOURNAL_SIZE",
    metavar="CALLS",
    help="How many calls are remembered, for the control API to tell of.",
)
@click.option(
    "--grace-seconds",
    type=click.FloatRange(0, 3600),
    callback=real_number,
    default=5.0,
    show_default=True,
    envvar="MOCKDRIVER_GRACE_SECONDS",
    help="How long calls in flight may take to finish when the server is stopped.",
)
@click.option(
    "--until-stdin-closes",
    is_flag=True,
    envvar="MOCKDRIVER_UNTIL_STDIN_CLOSES",
    help="Stop at the end of standard input too: then the server does not outlive who started it.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    envvar="MOCKDRIVER_SEED",
    help="Fixes all that is random.",
)
@_stop_signals_blocked()
def serve(
    scenario: str,
    endpoint: str | None,
    control_endpoint: str | None,
    role: str,
    node_socket_dir: Path | None,
    node_patterns: tuple[str, ...],
    kubelet_registration_dir: str | None,
    kubelet_csi_socket: str | None,
    node_mounts: str,
    node: str | None,
    switches: dict[Capability, bool],
    numbers: dict[Capability, int],
    driver_name: str | None,
    node_info_reply: str | None,
    log_format: str,
    metrics_address: str | None,
    dashboard_address: str | None,
    dashboard_token: str | None,
    ready_file: Path | None,
    journal_path: Path | None,
    journal_size: int,
    grace_seconds: float,
    until_stdin_closes: bool,
    seed: int,
) -> None:
    """Serve the CSI services on a Unix socket until SIGTERM or Ctrl-C."""
    if node_patterns and node_socket_dir is None:
        raise click.UsageError("--nodes chooses among --node-socket-dir's nodes, which is missing")
    if kubelet_csi_socket is not None and kubelet_registration_dir is None:
        raise click.UsageError(
            "--kubelet-csi-socket is for --kubelet-registration-dir, which is missing"
        )
    if dashboard_token is not None and dashboard_address is None:
        raise click.UsageError("--dashboard-token is for --dashboard, which is missing")
    loaded = load_without_story_or_exit(scenario)
    runtime = WallRuntime(seed)
    log = LogWriter(runtime, sys.stderr, LogFormat(log_format))
    cloud = make_cloud(loaded, runtime)
    ids = [instance.id for instance in cloud.operator.instances()]
    try:
        plan = plan_listening(
            endpoint=endpoint,
            role=Role(role),
            node_id=_chosen_node(node, ids),
            node_socket_dir=node_socket_dir,
            node_ids=choose_nodes(ids, node_patterns) if node_socket_dir else [],
            control_endpoint=control_endpoint,
            follow=node is None,
        )
    except (EndpointMistake, NodesMistake) as mistake:
        raise click.ClickException(str(mistake)) from None
    overrides = DriverOverrides(
        name=driver_name,
        node_info_reply=node_info_reply,
        node_mounts=NodeMounts(node_mounts),
        switches=switches,
        numbers=numbers,
    )
    journal_file = _journal_file(runtime, journal_path)
    sinks = [log.call] if journal_file is None else [log.call, journal_file.call]
    try:
        http = HttpServers(
            runtime,
            metrics=metrics_address,
            dashboard=dashboard_address,
            dashboard_token=dashboard_token,
        )
    except HTTP_MISTAKES as mistake:
        raise click.ClickException(str(mistake)) from None
    last_words = [log.close, *([] if journal_file is None else [journal_file.close])]
    server = make_server(
        loaded,
        cloud,
        runtime,
        overrides,
        on_call=_telling([*sinks, *http.sinks]),
        journal_size=journal_size,
        end_process=crash_with(runtime, *last_words),
    )
    http.observe(server)
    announcements: list[Announcement] = []
    try:
        if kubelet_registration_dir is not None:
            announcements.append(
                make_registration(server, plan, kubelet_registration_dir, kubelet_csi_socket)
            )
        if ready_file is not None:
            announcements.append(make_ready_file(server, loaded, plan, ready_file, http.urls()))
    except EndpointMistake as mistake:
        raise click.ClickException(str(mistake)) from None
    logging.basicConfig(level=logging.INFO, handlers=[log])
    log.start()
    if until_stdin_closes:
        stop_when_stdin_closes(runtime)
    # What is there now stays: the garbage collector need not look through it during calls.
    gc.freeze()
    try:
        with nullcontext() if journal_file is None else journal_file, http:
            _serve(server, loaded, plan, http, announcements, grace_seconds)
    finally:
        log.close()


def _telling(sinks: Sequence[Callable[[Entry], None]]) -> Callable[[Entry], None]:
    """Return what tells all sinks of a call that has ended; a call pays for each."""
    if len(sinks) == 1:
        return sinks[0]

    def tell(entry: Entry) -> None:
        for sink in sinks:
            sink(entry)

    return tell


def _journal_file(runtime: Runtime, path: Path | None) -> JournalFile | None:
    try:
        return None if path is None else JournalFile(runtime, path)
    except JournalFileMistake as mistake:
        raise click.BadParameter(str(mistake), param_hint="--journal") from None


def _chosen_node(node: str | None, ids: Sequence[str]) -> str | None:
    if node is None:
        return ids[0] if ids else None
    if node not in ids:
        known = ", ".join(ids[:20]) or "none"
        raise click.BadParameter(
            f"the scenario has no instance {node!r}, there are: {known}", param_hint="--node"
        )
    return node


def _serve(
    server: MockServer,
    loaded: LoadedScenario,
    plan: ListeningPlan,
    http: HttpServers,
    announcements: Sequence[Announcement],
    grace_seconds: float,
) -> None:
    # By a clock of its own: that of the mock can be stopped, and moved by an hour.
    listening = Listening(server, plan, WallRuntime(), announcements)
    lost: list[Path] = []

    def end_for_loss(paths: list[Path]) -> None:
        lost.extend(paths)
        _log.error(
            "socket %s was removed or replaced by somebody else: no client can find this server "
            "any more, so it ends",
            ", ".join(map(str, paths)),
        )
        os.kill(os.getpid(), signal.SIGTERM)

    for warning in loaded.warnings:
        _log.warning("%s", warning)
    for sentence in server.broken_invariants:
        _log.warning("broken on purpose? %s", sentence)
    try:
        listening.open()
        _announce(server, loaded, plan, [*http.described(), *map(str, announcements)])
        listening.watch(end_for_loss)
        number = signal.sigwait(_STOP_SIGNALS)
        _log.info(
            "%s: no new calls, those in flight may finish for %g s",
            signal.Signals(number).name,
            grace_seconds,
        )
        _die_at_second_signal(listening)
        listening.close(grace_seconds)
        _log.info("stopped")
        if lost:
            sys.exit(1)
    except (EndpointMistake, NotReady) as problem:
        raise click.ClickException(str(problem)) from None
    finally:
        listening.close(0)


def _announce(
    server: MockServer,
    loaded: LoadedScenario,
    plan: ListeningPlan,
    besides: Sequence[str],
) -> None:
    """Say on standard output that the server is ready; nobody has to read it."""
    parts = [f"scenario {loaded.name}", str(plan), *besides]
    lines = [f"mockdriver {mockdriver.__version__} is ready: {', '.join(parts)}"]
    if plan.endpoint is not None and plan.role is Role.ALL:
        topology = {} if plan.node_id is None else server.topology_of(plan.node_id)
        lines += grpcurl_lines(
            plan.endpoint,
            plan.node_id,
            topology,
            controller_flow=server.has_controller_flow,
            volumes=server.has_volumes,
        )
    try:
        # A path is bytes, not always text.
        click.echo("\n".join(lines).encode("utf-8", "surrogateescape"))
    except OSError:
        # The reader has gone, or the disk is full. What is still buffered must go somewhere, or
        # Python tries again at its end and exits with an error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _die_at_second_signal(listening: Listening) -> None:
    """Let a second Ctrl-C or SIGTERM end the process at once, but not leave its socket."""

    def die(number: int, frame: FrameType | None) -> None:
        # First of all: a flood of signals would interrupt this function at each of its steps.
        signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS)
        listening.remove_files()
        os._exit(128 + number)

    for number in _STOP_SIGNALS:
        signal.signal(number, die)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)
