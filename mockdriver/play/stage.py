"""What a story is played on: a private server in a temporary folder, and the CO's connections."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import grpc

from mockdriver.cloud import Caller
from mockdriver.co.calling import DEADLINE_SECONDS, Answer, Stub, failed
from mockdriver.co.csi_client import CsiClient
from mockdriver.co.volume_records import VolumeRecords
from mockdriver.journal import Journal
from mockdriver.journal.entry import RUNNING
from mockdriver.runtime import Runtime, VirtualRuntime
from mockdriver.scenario.load import LoadedScenario
from mockdriver.server.compose import make_cloud, make_faults, make_server
from mockdriver.server.mock_server import MockServer
from mockdriver.server.socket_server import WORKER_THREADS

_GRACE_SECONDS = 5.0

_LONGEST_FOLDER_BYTES = 64
"""A socket's path has 107 bytes at most, and 33 or so of them are ours."""

_AT_ONCE = WORKER_THREADS * 9 // 10
"""Calls that are in flight together. Each one that waits keeps a thread of the server: one more
than there are would wait for a thread while the clock waits for it."""


class Stage:
    """A scenario's server on a virtual clock, and a CO that knows what the scenario says."""

    def __init__(self, loaded: LoadedScenario) -> None:
        self.loaded = loaded
        self.runtime: Runtime = VirtualRuntime()
        self.cloud = make_cloud(loaded, self.runtime)
        self.faults = make_faults(loaded, self.runtime)
        self.records = self._records_at_start()
        self.volume_ids: dict[str, str] = {}
        self.volumes_made = 0
        self._clients: dict[str | None, CsiClient] = {}
        self._call_ended = self.runtime.event()
        self._server = self._new_server()
        self._folder = _folder_for_sockets()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._stop()
        self._folder.cleanup()

    @property
    def controller(self) -> CsiClient:
        """The CO's connection to the controller."""
        return self._client(None)

    @property
    def journal(self) -> Journal:
        """The record of calls of the server that runs now."""
        return self._server.journal

    def node(self, node_id: str) -> CsiClient:
        """Return the CO's connection to the node plugin on an instance."""
        return self._client(node_id)

    def topology_of(self, instance_id: str) -> Mapping[str, str]:
        """Return the topology segments of an instance; raises InstanceNotFound."""
        return self._server.topology_of(instance_id)

    def topology_of_zone(self, zone: str) -> Mapping[str, str]:
        """Return the topology segments of a zone."""
        return self._server.topology_of_zone(zone)

    def call(self, method: Stub, request: Any) -> Answer:
        """Make one call and wait for its answer; the clock counts it as work."""
        return self.call_all([(method, request)])[0]

    def call_all(self, calls: list[tuple[Stub, Any]]) -> list[Answer]:
        """Make calls all at once and wait for all answers, in the order of the calls.

        Of more than 900 calls so many are made at once, and then the next.
        """
        answers: list[Answer] = []
        for first in range(0, len(calls), _AT_ONCE):
            answers += self._at_once(calls[first : first + _AT_ONCE])
        if any(answer.code == "DEADLINE_EXCEEDED" for answer in answers):
            self._wait_for_abandoned_calls()
        return answers

    def _at_once(self, calls: list[tuple[Stub, Any]]) -> list[Answer]:
        works = [self.runtime.working() for _ in calls]
        # All are counted before the first one goes out, so that the clock waits for the last one.
        for work in works:
            work.__enter__()
        futures = []
        for (method, request), work in zip(calls, works, strict=True):
            future = method.future(request, timeout=DEADLINE_SECONDS)  # type: ignore[attr-defined]
            future.add_done_callback(lambda _, work=work: work.__exit__(None, None, None))
            futures.append(future)
        return [_answer(future) for future in futures]

    def pause(self, seconds: float) -> None:
        """Let virtual time pass, as a CO does between two tries."""
        with self.runtime.working():
            Caller(self.runtime).sleep_until(self.runtime.now() + seconds)

    def restart(self, *, lose_state: bool) -> None:
        """Stop the driver and start it again, over the same cloud or over one as at the start."""
        self._stop()
        if lose_state:
            self.cloud = make_cloud(self.loaded, self.runtime)
            self.faults.load(self.loaded.faults)
            self.records = self._records_at_start()
            self.volume_ids.clear()
        self._server = self._new_server()

    def _new_server(self) -> MockServer:
        return make_server(
            self.loaded,
            self.cloud,
            self.runtime,
            on_call=lambda entry: self._call_ended.set(),
            faults=self.faults,
        )

    def _wait_for_abandoned_calls(self) -> None:
        """Wait until the driver has ended the calls that the CO gave up.

        A moment later it does so anyway. Until then the next step could meet them: its calls would
        be ABORTED, or the clock, which counts them, would jump too early.
        """
        with self.runtime.working():
            while True:
                self._call_ended.clear()
                if all(entry.code != RUNNING for entry in self._server.journal.entries()):
                    return
                self.runtime.wait(self._call_ended)

    def _client(self, node_id: str | None) -> CsiClient:
        client = self._clients.get(node_id)
        if client is None:
            path = Path(self._folder.name) / f"{len(self._clients)}.sock"
            self._server.listen(path, node_id)
            client = self._clients[node_id] = CsiClient(path)
        return client

    def _stop(self) -> None:
        for client in self._clients.values():
            client.close()
        self._clients.clear()
        self._server.stop(_GRACE_SECONDS)

    def _records_at_start(self) -> VolumeRecords:
        records = VolumeRecords()
        for instance in self.loaded.plan.instances:
            for volume_id in instance.published:
                records.remember(instance.id, volume_id, published=True)
        for attachment in self.loaded.plan.attachments:
            if attachment.published:
                records.remember(attachment.instance, attachment.disk, published=True)
        return records


def _folder_for_sockets() -> tempfile.TemporaryDirectory[str]:
    """Make a folder, in /tmp where the usual place's name leaves no room for a socket's."""
    usual = tempfile.gettempdir()
    is_long = len(os.fsencode(usual)) > _LONGEST_FOLDER_BYTES
    place = "/tmp" if is_long else usual  # noqa: S108 - the folder in it has a name of its own
    return tempfile.TemporaryDirectory(prefix="mockdriver-", dir=place)


def _answer(future: Any) -> Answer:
    try:
        return Answer("OK", future.result())
    except grpc.RpcError as error:
        return failed(error)
