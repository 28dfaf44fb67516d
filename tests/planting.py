"""Planted bugs: a test that finds none of them tells nothing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import RuleBasedStateMachine, run_state_machine_as_test

Plant = Callable[[pytest.MonkeyPatch], object]


def replaced(owner: object, name: str, replacement: object) -> Plant:
    """Plant a bug by putting something else in the place of a function or a constant."""
    return lambda monkeypatch: monkeypatch.setattr(owner, name, replacement)


def assert_caught_by(machine: type[RuleBasedStateMachine]) -> None:
    """Have a state machine look for a bug that is planted; the same steps each time."""
    quick = settings(
        max_examples=200,
        stateful_step_count=30,
        deadline=None,
        derandomize=True,
        database=None,
        report_multiple_bugs=False,
        phases=[Phase.generate],
    )
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        run_state_machine_as_test(machine, settings=quick)
