"""What tests of several rooms share: mockdriver as a process, and its log when a test fails."""

from __future__ import annotations

import signal
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from typing import Any, Protocol

import pytest

from tests.serving import RUNNING, Serving, serving

_SHOWN_CHARACTERS = 10_000


def pytest_configure() -> None:
    """Let programs that tests start be interrupted.

    A script that puts its commands into the background lets them ignore SIGINT, and what they start
    inherits that.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)


class Serve(Protocol):
    """Starts a server; see `tests.serving.serving` for what it takes."""

    def __call__(self, *flags: Any, **settings: Any) -> Serving: ...


@pytest.fixture
def serve() -> Iterator[Serve]:
    """Start servers that are killed when the test ends."""
    with ExitStack() as servers:

        def start(*flags: Any, **settings: Any) -> Serving:
            return servers.enter_context(serving(*flags, **settings))

        yield start


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.failed:
        for server in RUNNING:
            log = server.log()[-_SHOWN_CHARACTERS:]
            report.sections.append((f"log of {server.process.args!r}", log))
    return report
