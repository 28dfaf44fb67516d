"""Calls that the page's requests make: on threads, and left when the browser hangs up."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar

from mockdriver.cloud import Caller
from mockdriver.runtime import Runtime

CALL_THREADS = 64
"""Calls at once; those that wait for something keep one each."""

MAX_STREAMS = 16
"""Streams at once; each keeps a thread."""

MAX_BEHIND = 300
"""Answers of a stream that wait to be sent; of more only the newest are, and the rest counted."""

LINGER_SECONDS = 0.05
"""How long answers of a stream are collected before they are sent together."""

ALIVE_SECONDS = 15.0
"""How long a stream is silent at most, so that a browser which has gone is noticed."""

_Answer = TypeVar("_Answer")


class TooManyStreams(Exception):
    """All threads for streams are taken."""


@dataclass(frozen=True)
class Batch(Generic[_Answer]):
    """What a stream has answered since the batch before; `skipped` answers came first."""

    answers: list[_Answer]
    skipped: int


class Callers:
    """Runs blocking calls for the event loop. All of them leave when the page ends."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._calls = ThreadPoolExecutor(CALL_THREADS, thread_name_prefix="page-call")
        self._streams = ThreadPoolExecutor(MAX_STREAMS, thread_name_prefix="page-stream")
        self._present: set[Caller] = set()
        self._streaming = 0
        self._closing = False

    async def run(self, call: Callable[[Caller], _Answer], gone: asyncio.Event) -> _Answer:
        """Return what a call answers; it leaves when `gone` is set."""
        loop = asyncio.get_running_loop()
        with self._caller() as caller:
            leaving = loop.create_task(_leave_when(gone, caller))
            try:
                return await loop.run_in_executor(self._calls, call, caller)
            finally:
                leaving.cancel()

    async def stream(
        self, call: Callable[[Caller], Iterable[_Answer]]
    ) -> AsyncIterator[Batch[_Answer]]:
        """Yield what a stream answers; raises what it raises, and TooManyStreams.

        While it answers nothing it yields empty batches now and then. The stream never waits for
        who reads it. Closing the iterator ends it.
        """
        if self._streaming >= MAX_STREAMS:
            raise TooManyStreams
        self._streaming += 1
        loop = asyncio.get_running_loop()
        box = _Box[_Answer](loop)
        with self._caller() as caller:
            reading = loop.run_in_executor(self._streams, box.fill, call, caller)
            reading.add_done_callback(self._count_down)
            while not (reading.done() and box.is_empty()):
                await asyncio.wait(
                    [reading, box.arrival()],
                    timeout=ALIVE_SECONDS,
                    return_when=asyncio.FIRST_COMPLETED,
                )
                await asyncio.wait([reading], timeout=LINGER_SECONDS)
                batch = box.take()
                if batch.answers or not reading.done():
                    yield batch
            reading.result()

    def _count_down(self, reading: asyncio.Future[None]) -> None:
        self._streaming -= 1
        # Whoever hung up does not ask how it ended.
        reading.exception()

    @contextmanager
    def _caller(self) -> Iterator[Caller]:
        caller = Caller(self._runtime)
        self._present.add(caller)
        if self._closing:
            caller.leave()
        try:
            yield caller
        finally:
            caller.leave()
            self._present.discard(caller)

    def leave(self) -> None:
        """Let all leave, now and from now on. On the event loop's thread."""
        self._closing = True
        for caller in tuple(self._present):
            caller.leave()

    def close(self) -> None:
        """Wait until the threads have ended."""
        self._calls.shutdown(wait=True)
        self._streams.shutdown(wait=True)


class _Box(Generic[_Answer]):
    """Between the thread that reads a stream, which never waits, and the event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._answers: deque[_Answer] = deque(maxlen=MAX_BEHIND)
        self._put = 0
        self._taken = 0
        self._arrival: asyncio.Future[None] = loop.create_future()

    def fill(self, call: Callable[[Caller], Iterable[_Answer]], caller: Caller) -> None:
        """Put in what the stream answers, until it ends."""
        for answer in call(caller):
            self._answers.append(answer)
            self._put += 1
            # Once for each batch: the loop has other things to do.
            if not self._arrival.done():
                self._loop.call_soon_threadsafe(self._ring)

    def arrival(self) -> asyncio.Future[None]:
        """Return what is done as soon as there is something to take."""
        return self._arrival

    def is_empty(self) -> bool:
        """Tell whether everything was taken."""
        return not self._answers

    def take(self) -> Batch[_Answer]:
        """Take what is there."""
        if self._arrival.done():
            self._arrival = self._loop.create_future()
        answers = []
        while self._answers:
            answers.append(self._answers.popleft())
        skipped = max(0, self._put - self._taken - len(answers))
        self._taken += len(answers) + skipped
        return Batch(answers, skipped)

    def _ring(self) -> None:
        if not self._arrival.done():
            self._arrival.set_result(None)


async def _leave_when(gone: asyncio.Event, caller: Caller) -> None:
    await gone.wait()
    caller.leave()
