"""Any order of steps: the cloud stays as its model, and the limit it leads to is exact."""

from __future__ import annotations

import pytest
from hypothesis import settings

from tests.cloud.machine import CloudMachine

pytestmark = pytest.mark.slow

TestTheCloudAgainstItsModel = CloudMachine.TestCase
TestTheCloudAgainstItsModel.settings = settings(
    derandomize=True, deadline=None, max_examples=150, stateful_step_count=25
)
