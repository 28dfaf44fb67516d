"""Running `mockdriver ctl` in this process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from click.testing import CliRunner

from mockdriver.cli import main
from tests.client.fake_control import FakeControl

SETTINGS = (
    "CSI_ENDPOINT",
    "MOCKDRIVER_CONTROL_ENDPOINT",
    "MOCKDRIVER_CTL_OUTPUT",
    "MOCKDRIVER_ENDPOINT",
    "NO_COLOR",
)
"""The variables that steer it; a test gives it only its own."""


@dataclass(frozen=True)
class Done:
    """What a command came to."""

    exit_code: int
    stdout: str
    stderr: str

    @property
    def lines(self) -> list[str]:
        """The lines of its output."""
        return self.stdout.splitlines()

    @property
    def data(self) -> Any:
        """Its output as JSON."""
        return json.loads(self.stdout)


def ctl(
    *words: str,
    at: FakeControl | None = None,
    color: bool = False,
    variables: Mapping[str, str] | None = None,
) -> Done:
    """Run a command, on a fake control API if one is given."""
    arguments = ["ctl", *words]
    if at is not None:
        arguments += ["--endpoint", str(at.path)]
    environment = {**dict.fromkeys(SETTINGS), **(variables or {})}
    result = CliRunner().invoke(main, arguments, env=environment, color=color)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Done(result.exit_code, result.stdout, result.stderr)
