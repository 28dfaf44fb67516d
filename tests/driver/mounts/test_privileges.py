"""Targets are made and removed without privileges: by somebody who is not root."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.packaging.tree import ROOT

NOBODY = 65_534

PROGRAM = """
import os, sys
from pathlib import Path
from mockdriver.driver.mounts.files import DirectoryFiles

pods, foreign = map(Path, sys.argv[1:])
if os.getuid() == 0:
    os.setgroups([])
    os.setgid({nobody})
    os.setuid({nobody})
for block in (False, True):
    for readonly in (False, True):
        target = str(pods / f"target-{{block}}-{{readonly}}")
        made = DirectoryFiles().publish(target, "vol-1", block=block, readonly=readonly)
        assert os.path.exists(target)
        # By the mark alone, as after a restart, where there are marks.
        assert DirectoryFiles().unpublish(target, "vol-1", made), target
        assert not os.path.exists(target)
try:
    DirectoryFiles().publish(str(foreign / "target"), "vol-1", block=False, readonly=False)
except Exception as error:
    print(type(error).__name__, error)
"""


@pytest.fixture
def folder() -> Iterator[Path]:
    """Make a folder that everybody may pass through and nobody may read, with one for NOBODY.

    Not below pytest's own, which only its owner may pass through.
    """
    with tempfile.TemporaryDirectory(prefix="mockdriver-test-") as name:
        folder = Path(name)
        (folder / "pods").mkdir()
        (folder / "foreign").mkdir()
        if os.getuid() == 0:
            os.chown(folder / "pods", NOBODY, NOBODY)
        (folder / "foreign").chmod(0o555)
        folder.chmod(0o311)
        yield folder
        folder.chmod(0o700)


def test_whoever_may_write_to_the_parent_can_publish_there(folder: Path) -> None:
    done = subprocess.run(
        [
            *(sys.executable, "-c", PROGRAM.format(nobody=NOBODY)),
            *(folder / "pods", folder / "foreign"),
        ],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.stderr == ""
    assert done.stdout == (
        f"PathInTheWay target_path: '{folder}/foreign/target' cannot be used: Permission denied\n"
    )
