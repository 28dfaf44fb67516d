"""What documents show of a cluster for hand work is what it does."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest

from e2e.by_hand import BENCH
from e2e.running import Starter, by_hand
from tests.docs.blocks import all_blocks
from tests.docs.transcripts import commands_of, mismatches
from tools.go_programs import program

IN_CLUSTERS = [block for block in all_blocks() if "cluster" in block.attributes]
DOCUMENTS = sorted({block.document for block in IN_CLUSTERS})


@pytest.mark.parametrize("document", DOCUMENTS)
def test_commands_print_what_the_document_shows(start: Starter, document: str) -> None:
    blocks = [block for block in IN_CLUSTERS if block.document == document]
    (scenario,) = {block.attributes["cluster"] for block in blocks}
    run = start(by_hand(scenario))
    run.wait_for_words("Ctrl-C here")

    wrong = mismatches(
        [command for block in blocks for command in commands_of(block)],
        before="\n".join(re.findall(r"^export .*", run.printed(), re.MULTILINE)),
    )

    assert not wrong, "\n\n".join(wrong)
    assert run.end(signal.SIGINT) == 0


def test_what_is_printed_to_try_works_when_it_is_pasted(start: Starter, tmp_path: Path) -> None:
    run = start(by_hand("three-zones"))
    run.wait_for_words("Ctrl-C here")
    program("grpcurl")
    _, _, rest = run.printed().partition("Try in another terminal:\n")
    to_paste, _, _ = rest.partition("Ctrl-C here")

    shell = subprocess.run(
        ["bash", "-c", f"set -e\n{to_paste}"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )

    assert shell.returncode == 0, shell.stdout
    assert "pod/first condition met" in shell.stdout
    assert f"{BENCH}-on-i-a" in shell.stdout
    assert '"volume_id": "vol-shared"' in shell.stdout
    assert '"disk": "by-hand"' in shell.stdout
    assert '"code": "UNAVAILABLE"' in shell.stdout


def test_there_are_documents_that_need_a_cluster() -> None:
    assert DOCUMENTS == ["docs/real-kubernetes.md"]
