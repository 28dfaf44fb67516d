"""A fake control API for `mockdriver ctl` to ask."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.client.fake_control import FakeControl, fake_control


@pytest.fixture
def fake() -> Iterator[FakeControl]:
    with fake_control() as fake:
        yield fake
