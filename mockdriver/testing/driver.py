"""A running mock, as a test holds it."""

from __future__ import annotations

import itertools
import json
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, Unpack

import grpc

from mockdriver.client import (
    CallConditions,
    CallFilter,
    Cloud,
    ControlClient,
    ControlError,
    FaultConditions,
)
from mockdriver.client.connection import open_channel
from mockdriver.client.state import Part
from mockdriver.client.words import Code
from mockdriver.testing.calls_seen import CallsSeen
from mockdriver.testing.csi_stubs import CsiStubs, socket_of
from mockdriver.testing.faulting import ActiveFault, Held
from mockdriver.testing.options import (
    CONTROL_SOCKET,
    GRACE_SECONDS,
    NODE_SOCKETS,
    START_TIMEOUT_SECONDS,
    ServeOptions,
    arguments,
    known_options,
)
from mockdriver.testing.process import ServerProcess
from mockdriver.testing.scenario_source import (
    DEFAULT_SCENARIO,
    Scenario,
    ScenarioSource,
    scenario_source,
)

_running: weakref.WeakSet[Driver] = weakref.WeakSet()


def start(scenario: Scenario = DEFAULT_SCENARIO, **options: Unpack[ServeOptions]) -> Driver:
    """Start a mock and return it when it answers; leave its `with` block, or `stop()` it.

    `scenario` is the name of a shipped one, a file, the text of one, or the same as a dict. The
    mock also ends when this process ends, however that comes about. Raises StartFailed with the
    log of a server that does not start, OSError for a file that cannot be read, TypeError for an
    option that does not exist.
    """
    return Driver(scenario_source(scenario), known_options(options))


def running() -> list[Driver]:
    """Return the mocks that this process has started, and not stopped."""
    return sorted(_running, key=lambda driver: driver.number)


class Driver:
    """A mock CSI driver in a process of its own."""

    _numbers = itertools.count(1)

    def __init__(self, source: ScenarioSource, options: ServeOptions) -> None:
        self.number = next(self._numbers)
        """Counts the mocks that this process has started."""
        self.options = options
        self.source = source
        self.loaded = source.content
        """What was loaded last by this process's `start`, `load` or `restart`."""
        self._process = ServerProcess()
        self._end = weakref.finalize(self, self._process.close)
        self._holds = itertools.count(1)
        self._control: ControlClient | None = None
        self._csi: CsiStubs | None = None
        self._channels: list[grpc.Channel] = []
        try:
            self._start()
        except BaseException:
            self._end()
            raise
        _running.add(self)

    # ------------------------------------------------------------------------------- where it is

    @property
    def endpoint(self) -> str:
        """Where it listens, as drivers are told it: `unix:///tmp/…/csi.sock`."""
        return f"unix://{self.socket}"

    @property
    def socket(self) -> Path:
        """The path of its socket."""
        return self._process.socket

    @property
    def control_endpoint(self) -> str:
        """Where the control API listens: at the endpoint, or at a socket of its own."""
        own = self.options.get("own_control_socket", False)
        return f"unix://{self._process.folder / CONTROL_SOCKET}" if own else self.endpoint

    @property
    def node_sockets(self) -> Mapping[str, Path]:
        """The sockets of nodes that have one of their own, by node id; see the option `nodes`."""
        index = self._process.folder / NODE_SOCKETS / "index.json"
        if "nodes" not in self.options:
            return {}
        named = json.loads(index.read_text(encoding="utf-8"))
        return {str(id): Path(path) for id, path in named.items()}

    def channel(self, node_id: str | None = None) -> grpc.Channel:
        """Return a new connection, for stubs of one's own: to the endpoint, or to a node's socket.

        It is closed when the mock stops. Raises LookupError for a node without a socket.
        """
        path = self.socket if node_id is None else socket_of(node_id, self.node_sockets)
        self._channels.append(open_channel(path))
        return self._channels[-1]

    # ---------------------------------------------------------------------------- asking, steering

    @property
    def csi(self) -> CsiStubs:
        """Typed stubs of the CSI services.

        Raises CsiStubsCollide if the interpreter holds another csi.proto; then `channel()` serves
        the stubs that belong to it.
        """
        if self._csi is None:
            self._csi = CsiStubs(self.socket, lambda: self.node_sockets)
        return self._csi

    @property
    def control(self) -> ControlClient:
        """The client of the control API: cloud, faults, calls, state, clock."""
        if self._control is None:
            self._control = ControlClient(self.control_endpoint)
        return self._control

    @property
    def cloud(self) -> Cloud:
        """The simulated cloud: `driver.cloud.attach("i-worker-1", "vol-by-hand")`."""
        return self.control.cloud

    def fail(
        self,
        rpc: str,
        *,
        code: Code,
        message: str = "",
        details: Sequence[Mapping[str, object]] = (),
        **conditions: Unpack[FaultConditions],
    ) -> ActiveFault:
        """Have calls of an RPC end with a status code: all, or as `conditions` say.

        `times=2`, `node_id="i-1"`, `calls="every 2"`, `request={"volume_id": "pvc-*"}`; with
        `when="after"` the work is done, and only the answer lost. Faults that do more than this
        come from `driver.control.faults.add`.
        """
        faults = self.control.faults
        fault = faults.add(rpc=rpc, code=code, message=message, details=details, **conditions)
        return ActiveFault(faults, fault)

    def hold(self, rpc: str, **conditions: Unpack[FaultConditions]) -> Held:
        """Hold calls of an RPC at a barrier until they are released, or the `with` block ends."""
        faults = self.control.faults
        barrier = f"{rpc}-{next(self._holds)}"
        return Held(faults, faults.add(rpc=rpc, hold=barrier, **conditions))

    def calls(self, rpc: str = "", **filter: Unpack[CallConditions]) -> CallsSeen:
        """Return the calls that the driver was asked: those of an RPC (`*`, `?` as in a shell).

        `driver.calls("NodeGetInfo").count`, or with a filter: `code="!OK"`, `node_id="i-1"`,
        `request={"volume_id": "pvc-1"}`.
        """
        return CallsSeen(self.control.calls, CallFilter(rpc=rpc, **filter))

    # --------------------------------------------------------------------------------------- state

    def reset(self, *parts: Part) -> None:
        """Go back to the scenario, in the parts that are named; in all without any."""
        self.control.state.reset(*parts)

    def load(self, scenario: Scenario | ScenarioSource) -> None:
        """Load another scenario in the place of everything, without a new process.

        Raises ControlError with the mistakes of one that is not right.
        """
        source = scenario
        if not isinstance(source, ScenarioSource):
            source = scenario_source(source)
        self.control.state.load(name=source.name, yaml=source.yaml)
        self.source, self.loaded = source, source.content

    # ------------------------------------------------------------------------------------- process

    @property
    def log(self) -> str:
        """What it has logged, a line a call."""
        return self._process.log_text()

    def log_from(self, start: int) -> str:
        """Return what it has logged from a place on, as `log_size` told it."""
        return self._process.log_text(start)

    @property
    def log_size(self) -> int:
        """How many bytes it has logged."""
        return self._process.log_size()

    @property
    def is_running(self) -> bool:
        """Whether the process has not ended."""
        return self._process.is_running

    @property
    def pid(self) -> int | None:
        """The number of the process."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How the process ended; None while it runs. A negative number is that of a signal."""
        return self._process.exit_code

    def wait(self, timeout_seconds: float = 10.0) -> int | None:
        """Return the exit code once the process has ended by itself; None if not in time."""
        return self._process.wait(timeout_seconds)

    def kill(self) -> None:
        """End the process at once, as a crash would; its socket stays behind. See `restart`."""
        self._process.kill()

    def restart(self) -> None:
        """Start the process again, at the same sockets, from the scenario; stop it if it runs.

        To restart the driver and keep its cloud: `driver.control.state.restart_driver()`.
        """
        self._disconnect()
        self._process.stop(self._grace_seconds)
        self._start()

    def stop(self) -> None:
        """Stop the process, and remove its folder. Doing so twice is no mistake."""
        _running.discard(self)
        self._disconnect()
        if self._end.alive:
            self._process.stop(self._grace_seconds)
            self._end()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<mockdriver {self.source} at {self.endpoint}>"

    @property
    def _grace_seconds(self) -> float:
        return self.options.get("grace_seconds", GRACE_SECONDS)

    def _start(self) -> None:
        words = arguments(self.options, self._process.folder)
        if self.source.text:
            file = self._process.folder / "scenario.yaml"
            file.write_text(self.source.text, encoding="utf-8")
            words += ["--scenario", str(file)]
        else:
            words += ["--scenario", self.source.name or str(self.source.file)]
        timeout = self.options.get("start_timeout_seconds", START_TIMEOUT_SECONDS)
        self._process.start(words, timeout)
        try:
            # It has asked itself whether it is ready, which is no call of the test's.
            self.control.calls.clear()
        except ControlError as error:
            # It can be started without the control API.
            if error.code is not grpc.StatusCode.UNIMPLEMENTED:
                raise

    def _disconnect(self) -> None:
        for connection in (self._control, self._csi, *self._channels):
            if connection is not None:
                connection.close()
        self._control = self._csi = None
        self._channels.clear()
