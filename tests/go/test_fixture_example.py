"""The Go example of docs/fixtures.md is a module whose tests pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.packaging.tree import ROOT
from tests.serving import environment
from tools.go_module import GoModule
from tools.go_toolchain import go, go_environment

EXAMPLE = ROOT / "docs" / "fixtures" / "go"

pytestmark = [pytest.mark.go, pytest.mark.slow]


def test_its_tests_pass() -> None:
    program = go(GoModule(EXAMPLE).go_version)
    mockdriver = Path(sys.executable).parent / "mockdriver"

    done = subprocess.run(
        # Anew each time: what it depends on besides its own files, Go does not know.
        [program, "test", "-count=1", "-v", "./..."],
        cwd=EXAMPLE,
        env={**environment(), **go_environment(), "MOCKDRIVER": str(mockdriver)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("--- PASS: Test") == 2
