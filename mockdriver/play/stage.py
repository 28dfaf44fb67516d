"""What a story is played on: a server, the CO's connections to it, and the CO's memory."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

import grpc

from mockdriver.client import ControlClient, ControlError
from mockdriver.cloud import Caller
from mockdriver.co.calling import DEADLINE_SECONDS, Answer, Stub, failed
from mockdriver.co.csi_client import CsiClient
from mockdriver.co.volume_records import VolumeRecords
from mockdriver.play.outcome import Outcome
from mockdriver.play.site import AT_ONCE, Site
from mockdriver.runtime import Event, Runtime
from mockdriver.scenario.load import LoadedScenario

_TOO_LATE = "DEADLINE_EXCEEDED"
_STORY_VOLUME = re.compile(r"story-volume-([0-9]{1,9})")


class Stage:
    """A site, and a CO that knows what is published there.

    The story is a piece of work for the site's clock, from `__enter__` to `__exit__`: a virtual
    clock moves only while a step waits for the answers of calls that all wait for it. A step that
    is left under way is another piece of work, on a thread of its own.
    """

    def __init__(self, site: Site, loaded: LoadedScenario) -> None:
        self.site = site
        self.loaded = loaded
        self.records = VolumeRecords()
        self.volume_ids: dict[str, str] = {}
        """What the story's volumes are called in the cloud, by their CSI names."""
        self.volumes_made = 0
        self.times_started_over = 0
        self._clients: dict[str | None, CsiClient] = {}
        self._under_way: dict[str, _UnderWay] = {}
        self._in_flight = 0
        self._begun = self.runtime.event()
        self._lock = self.runtime.lock()
        self._work = self.runtime.working()

    @property
    def runtime(self) -> Runtime:
        """The clock of the story."""
        return self.site.runtime

    @property
    def control(self) -> ControlClient:
        """The server's control API."""
        return self.site.control

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            stack.enter_context(self.site)
            self._remember_what_is_there()
            stack.pop_all()
        self._work.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._work.__exit__(None, None, None)
        for client in self._clients.values():
            client.close()
        self._clients.clear()
        self.site.__exit__(kind, error, traceback)

    # ------------------------------------------------------------------------ connections, names

    @property
    def controller(self) -> CsiClient:
        """The CO's connection to the controller; raises NotServed."""
        if None not in self._clients:
            self._clients[None] = self.site.controller()
        return self._clients[None]

    def node(self, node_id: str) -> CsiClient:
        """Return the CO's connection to the node plugin on an instance; raises NotServed."""
        if node_id not in self._clients:
            self._clients[node_id] = self.site.node(node_id)
        return self._clients[node_id]

    def fresh_volume_name(self) -> str:
        """Return a CSI name that no volume has."""
        self.volumes_made += 1
        return f"story-volume-{self.volumes_made}"

    def has_disk(self, disk_id: str) -> bool:
        """Tell whether the cloud has a disk."""
        try:
            self.control.cloud.disk(disk_id)
        except ControlError as error:
            if error.error != "DiskNotFound":
                raise
            return False
        return True

    # ---------------------------------------------------------------------------- calls, waiting

    def call(self, method: Stub, request: Any) -> Answer:
        """Make one call and wait for its answer."""
        return self.call_all([(method, request)])[0]

    def call_all(self, calls: list[tuple[Stub, Any]]) -> list[Answer]:
        """Make calls all at once and wait for all answers, in the order of the calls.

        Of more than 900 calls so many are made at once, and then the next.
        """
        answers: list[Answer] = []
        for first in range(0, len(calls), AT_ONCE):
            answers += self._at_once(calls[first : first + AT_ONCE])
        return answers

    def _at_once(self, calls: list[tuple[Stub, Any]]) -> list[Answer]:
        batch = _Batch(self, len(calls))
        futures = []
        for method, request in calls:
            future = method.future(request, timeout=DEADLINE_SECONDS)  # type: ignore[attr-defined]
            future.add_done_callback(batch.ended)
            futures.append(future)
        batch.wait()
        answers = [_answer(future) for future in futures]
        given_up = sum(answer.code == _TOO_LATE for answer in answers)
        if given_up:
            self.site.wait_until_in_flight(self._in_flight - given_up)
            self.count_in_flight(-given_up)
            batch.forget(given_up)
        return answers

    def count_in_flight(self, more: int) -> None:
        """Note that so many more of the CO's calls are in flight."""
        with self._lock:
            self._in_flight += more
        self._begun.set()

    def pause(self, seconds: float) -> None:
        """Let time pass, as a CO does between two tries."""
        Caller(self.runtime).sleep_until(self.runtime.now() + seconds)

    # --------------------------------------------------------------------- steps left under way

    def begin(self, name: str, run: Callable[[], Outcome]) -> None:
        """Carry a step out on a thread of its own, and go on."""
        self._begun.clear()
        self._under_way[name] = _UnderWay(self.runtime, run, name, self._begun)
        self.runtime.wait(self._begun)
        self.settle()

    def collect(self, name: str) -> Outcome:
        """Wait for a step that was left under way; return what it came to."""
        return self._under_way.pop(name).outcome()

    def settle(self) -> None:
        """Let what is under way go as far as it can, so that the next step finds it there."""
        if self._under_way:
            self.site.settle(lambda: self._in_flight)

    # ------------------------------------------------------------------------------ starting over

    def start_over(self) -> None:
        """Put server and CO back to the start of the scenario; the clock goes on."""
        self.control.state.reset("cloud", "driver", "faults", "journal")
        self._remember_what_is_there()
        self.volume_ids.clear()
        self.times_started_over += 1

    def cloud_calls(self) -> Mapping[str, int]:
        """Return how often each API of the cloud was called since the scenario started."""
        return {api.name: api.calls for api in self.control.cloud.apis()}

    def _remember_what_is_there(self) -> None:
        """Let the CO know what is published at the start, and nothing else."""
        self.records = VolumeRecords()
        if not self.site.is_fresh:
            self._remember_what_others_left()
            return
        for instance in self.loaded.plan.instances:
            for volume_id in instance.published:
                self.records.remember(instance.id, volume_id, published=True)
        for attachment in self.loaded.plan.attachments:
            if attachment.published:
                self.records.remember(attachment.instance, attachment.disk, published=True)

    def _remember_what_others_left(self) -> None:
        for attachment in self.control.cloud.attachments():
            if not attachment.out_of_band and not attachment.boot:
                self.records.remember(attachment.instance, attachment.disk, published=True)
        # The names of new volumes go on where an earlier story ended: an old name is an old volume.
        numbers = [
            int(found[1])
            for disk in self.control.cloud.disks()
            for text in disk.tags.values()
            if (found := _STORY_VOLUME.fullmatch(text))
        ]
        self.volumes_made = max(numbers, default=0)


class _Batch:
    """Calls that are made at once, each a piece of work until its answer is there.

    A call that the CO gives up stays one until the driver has noticed: that handed a piece of work
    back when it began to wait, and takes it again when it wakes up.
    """

    def __init__(self, stage: Stage, size: int) -> None:
        self._stage = stage
        self._left = size
        self._lock = stage.runtime.lock()
        self._all_ended = stage.runtime.event()
        # All are counted before the first one goes out, so that the clock waits for the last one.
        self._works = [stage.runtime.working() for _ in range(size)]
        for work in self._works:
            work.__enter__()
        stage.count_in_flight(size)

    def ended(self, future: Any) -> None:
        """Note that a call has ended, on a thread of gRPC's."""
        given_up = future.code().name == _TOO_LATE
        if not given_up:
            self._stage.count_in_flight(-1)
        with self._lock:
            self._left -= 1
            is_last = self._left == 0
        if is_last:
            # The story works again before its last call does so no more.
            self._all_ended.set()
        if not given_up:
            self.forget(1)

    def forget(self, calls: int) -> None:
        """Let calls be no work any more."""
        for _ in range(calls):
            self._works.pop().__exit__(None, None, None)

    def wait(self) -> None:
        """Wait until all have ended."""
        self._stage.runtime.wait(self._all_ended)


class _UnderWay:
    """A step on a thread of its own."""

    def __init__(
        self, runtime: Runtime, run: Callable[[], Outcome], name: str, begun: Event
    ) -> None:
        """Start it; `begun` is raised when it ends, if it has made no call by then."""
        self._runtime = runtime
        self._run = run
        self._begun = begun
        self._ended: Event = runtime.event()
        self._end: _End = _End()
        # Counted before the thread starts: else the clock could move in between.
        self._work = runtime.working()
        self._work.__enter__()
        runtime.start(self._carry_out, f"story-step-{name}")

    def outcome(self) -> Outcome:
        """Wait for its end; return what it came to, or raise what it failed with."""
        self._runtime.wait(self._ended)
        if self._end.outcome is None:
            assert self._end.error is not None
            raise self._end.error
        return self._end.outcome

    def _carry_out(self) -> None:
        try:
            self._end = _End(outcome=self._run())
        except Exception as error:
            self._end = _End(error=error)
        finally:
            self._ended.set()
            self._begun.set()
            self._work.__exit__(None, None, None)


@dataclass(frozen=True)
class _End:
    outcome: Outcome | None = None
    error: Exception | None = None


def _answer(future: Any) -> Answer:
    try:
        return Answer("OK", future.result())
    except grpc.RpcError as error:
        return failed(error)
    except grpc.FutureCancelledError:
        return Answer("CANCELLED", message="the story has ended")
