"""The record of calls: the newest ones, and who is told of each as it arrives and as it ends."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from google.protobuf.message import Message

from mockdriver.cloud import Caller
from mockdriver.journal.entry import Entry, Moment
from mockdriver.journal.follower import Follower
from mockdriver.runtime import Runtime

DEFAULT_CAPACITY = 10_000
"""How many calls are remembered."""

MAX_CAPACITY = 1_000_000
"""How many it may be told to remember; a call takes about 1 KiB besides its messages."""

MAX_BYTES = 256 * 1024 * 1024
"""How many bytes the remembered requests and responses have at most, the newest call's aside."""


class Journal:
    """Remembers the newest `capacity` calls, fewer if they are larger than `max_bytes` together.

    `on_end` is called with each call that has ended. Recording a call takes the same short time
    however many are remembered; nothing is decoded until somebody reads it.
    """

    def __init__(
        self,
        runtime: Runtime,
        *,
        capacity: int = DEFAULT_CAPACITY,
        max_bytes: int = MAX_BYTES,
        on_end: Callable[[Entry], None] | None = None,
    ) -> None:
        self.capacity = capacity
        self._runtime = runtime
        self._lock = runtime.lock()
        self._ring: deque[Entry] = deque()
        self._max_bytes = max_bytes
        self._bytes = 0
        self._on_end = on_end
        self._sequence = 0
        self._in_flight = 0
        self._forgotten = 0
        self._newest_forgotten = 0
        # Replaced, never changed: whoever tells the followers needs no copy.
        self._followers: tuple[Follower, ...] = ()

    def begin(
        self,
        *,
        service: str,
        rpc: str,
        request_type: type[Message],
        response_type: type[Message],
        request_bytes: bytes,
        peer: str,
        node_id: str | None,
    ) -> Entry:
        """Record a call that has just arrived."""
        started_seconds = self._runtime.now()
        with self._lock:
            self._sequence += 1
            entry = Entry(
                sequence=self._sequence,
                started_seconds=started_seconds,
                service=service,
                rpc=rpc,
                request_type=request_type,
                response_type=response_type,
                request_bytes=request_bytes,
                peer=peer,
                node_id=node_id,
                calls_in_flight=self._in_flight,
            )
            self._in_flight += 1
            self._ring.append(entry)
            self._bytes += len(request_bytes)
            if len(self._ring) > self.capacity or self._bytes > self._max_bytes:
                self._forget_oldest()
            if not self._followers:
                return entry
            told = _tell(self._followers, Moment(entry, ended=False, arriving=True))
        _wake(told)
        return entry

    def end(
        self, entry: Entry, *, code: str, code_number: int, message: str, response_bytes: bytes
    ) -> None:
        """Complete a call's record with what it was answered."""
        entry.duration_seconds = self._runtime.now() - entry.started_seconds
        entry.response_bytes = response_bytes
        entry.message = message
        entry.code_number = code_number
        told: Sequence[Follower] = ()
        with self._lock:
            entry.code = code
            self._in_flight -= 1
            # Only the oldest are ever dropped, and clear() leaves calls in flight.
            if self._ring and entry.sequence >= self._ring[0].sequence:
                self._bytes += len(response_bytes)
                if self._bytes > self._max_bytes:
                    self._forget_oldest()
            if self._followers:
                told = _tell(self._followers, Moment(entry, ended=True))
        if told:
            _wake(told)
        if self._on_end is not None:
            self._on_end(entry)

    def entries(self) -> list[Entry]:
        """Return the remembered calls, oldest first."""
        with self._lock:
            return list(self._ring)

    def moments(self) -> list[Moment]:
        """Return the remembered calls as they are now, oldest first."""
        return self.view()[0]

    def view(self, after: int = 0) -> tuple[list[Moment], int]:
        """Return the remembered calls, and how many the record has lost because it is bounded.

        Calls no later than the sequence number `after` do not count as lost, nor do those that
        were lost before the last clear().
        """
        with self._lock:
            entries = list(self._ring)
            lost = self._forgotten if self._newest_forgotten > after else 0
        return [Moment(entry, ended=entry.ended) for entry in entries], lost

    def clear(self) -> int:
        """Forget all calls that have ended; return how many those were.

        Calls in flight stay, sequence numbers go on, and the count of lost calls begins anew.
        """
        with self._lock:
            before = len(self._ring)
            self._ring = deque(entry for entry in self._ring if not entry.ended)
            self._bytes = sum(len(entry.request_bytes) for entry in self._ring)
            self._forgotten = self._newest_forgotten = 0
            return before - len(self._ring)

    def in_flight(self) -> int:
        """Return how many calls are in flight now, remembered or not."""
        with self._lock:
            return self._in_flight

    @contextmanager
    def following(self, caller: Caller) -> Iterator[tuple[list[Moment], Follower]]:
        """Have `caller` woken for each call that arrives or ends while the block runs.

        Gives the calls remembered at its beginning, and the follower that takes what comes after:
        together they miss nothing and have nothing twice.
        """
        follower = Follower(self._lock, caller)
        with self._lock:
            present = [(entry, entry.ended) for entry in self._ring]
            self._followers = (*self._followers, follower)
        try:
            yield [Moment(entry, ended=ended) for entry, ended in present], follower
        finally:
            with self._lock:
                self._followers = tuple(other for other in self._followers if other is not follower)

    def _forget_oldest(self) -> None:
        """Drop calls until the bounds hold. Each is dropped once, so that a call stays O(1)."""
        ring = self._ring
        while len(ring) > self.capacity or (self._bytes > self._max_bytes and len(ring) > 1):
            oldest = ring.popleft()
            self._bytes -= len(oldest.request_bytes)
            if oldest.ended:
                self._bytes -= len(oldest.response_bytes)
            self._forgotten += 1
            self._newest_forgotten = oldest.sequence


def _tell(followers: Sequence[Follower], moment: Moment) -> list[Follower]:
    return [follower for follower in followers if follower.put(moment)]


def _wake(followers: Sequence[Follower]) -> None:
    # Without the lock: whoever wakes up takes it first of all.
    for follower in followers:
        follower.wake()
