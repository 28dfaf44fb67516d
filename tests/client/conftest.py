"""A client, and a fake control API behind it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from mockdriver.client import ControlClient
from tests.client.fake_control import FakeControl, fake_control


@pytest.fixture
def fake() -> Iterator[FakeControl]:
    with fake_control() as fake:
        yield fake


@pytest.fixture
def client(fake: FakeControl) -> Iterator[ControlClient]:
    with ControlClient(fake.path) as client:
        yield client
