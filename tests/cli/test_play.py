"""`mockdriver play`: a line a step, for people or for programs, and an exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from mockdriver.cli import main
from tests.serving import environment, serving

STORY = """\
scenario: told
cloud:
  instance_types: {t: {slots: 4}}
  instances: [{id: i-1, type: t, boot_disk: vol-boot}]
story:
  - register: {node: i-1}
    expect: {max_volumes_per_node: 4, published_volume_ids: [vol-boot], effective_limit: 3}
  - advance: 1m30s
  - publish: {node: i-1, count: 4}
    expect: {OK: 3, RESOURCE_EXHAUSTED: 1, cloud_calls: {attach: "<= 4"}}
  - detach: {instance: i-1, disk: vol-boot}
    expect: {error: BootDiskInUse}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder, with a story that is told right and one that is told wrong."""
    (tmp_path / "right.yaml").write_text(STORY)
    (tmp_path / "wrong.yaml").write_text(STORY.replace("effective_limit: 3", "effective_limit: 7"))
    (tmp_path / "broken.yaml").write_text("scenario: broken\nstory: [{fly: {}}]\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def play(*arguments: str) -> tuple[int, list[str], list[str]]:
    """Run the command; return exit code, and the lines of standard output and error."""
    result = CliRunner().invoke(main, ["play", *arguments])
    return result.exit_code, result.stdout.splitlines(), result.stderr.splitlines()


def test_a_step_is_one_line_with_verdict_step_answer_expectation_and_position(
    folder: Path,
) -> None:
    code, out, err = play("right.yaml")

    assert (code, err) == (0, [])
    assert out == [
        (
            "ok    register node=i-1  -> OK: 1, max_volumes_per_node: 4, effective_limit: 3, "
            "published_volume_ids: 1 [vol-boot]  (expected max_volumes_per_node: 4, "
            "published_volume_ids: 1 [vol-boot], effective_limit: 3)  right.yaml:6"
        ),
        "ok    advance seconds=90.0  -> done  right.yaml:8",
        (
            "ok    publish count=4 node=i-1  -> OK: 3, RESOURCE_EXHAUSTED: 1  "
            "(expected OK: 3, RESOURCE_EXHAUSTED: 1, attach <= 4)  right.yaml:9"
        ),
        (
            "ok    detach instance=i-1 disk=vol-boot  -> error: BootDiskInUse  "
            "(expected error: BootDiskInUse)  right.yaml:11"
        ),
        "4 steps as expected, 0 not",
    ]


def test_a_mismatch_is_marked_and_the_story_goes_on(folder: Path) -> None:
    code, out, _ = play("wrong.yaml")

    assert code == 1
    assert out[0].startswith("FAIL  register node=i-1  -> OK: 1, ")
    assert "  MISMATCH: effective_limit is 3, want 7  wrong.yaml:6" in out[0]
    assert [line[:4] for line in out[1:4]] == ["ok  "] * 3
    assert out[4] == "3 steps as expected, 1 not"


def test_several_files_are_played_one_after_the_other(folder: Path) -> None:
    code, out, _ = play("right.yaml", "wrong.yaml", "right.yaml")

    assert code == 1
    positions = [re.search(r"\S+\.yaml:\d+$", line) for line in out[:-1]]
    files = [match.group().partition(":")[0] for match in positions if match]
    assert files == ["right.yaml"] * 4 + ["wrong.yaml"] * 4 + ["right.yaml"] * 4
    assert out[-1] == "11 steps as expected, 1 not"


def test_each_file_has_a_server_of_its_own(folder: Path) -> None:
    # Played twice on one server the second story would find the node full.
    assert play("right.yaml", "right.yaml")[0] == 0


def test_json_is_one_object_a_step_and_nothing_else(folder: Path) -> None:
    code, out, err = play("--output", "json", "wrong.yaml")

    assert (code, err) == (1, [])
    steps: list[dict[str, Any]] = [json.loads(line) for line in out]
    assert [step["step"] for step in steps] == ["register", "advance", "publish", "detach"]
    assert [step["verdict"] for step in steps] == ["mismatch", "ok", "ok", "ok"]
    assert steps[0] == {
        "file": "wrong.yaml",
        "line": 6,
        "step": "register",
        "arguments": {"node": "i-1"},
        "answer": {
            "codes": {"OK": 1},
            "fields": {
                "node_id": "i-1",
                "max_volumes_per_node": 4,
                "effective_limit": 3,
                "accessible_topology": {
                    "topology.mock.csi.example.com/zone": "region-1a",
                    "topology.mock.csi.example.com/region": "region-1",
                },
                "published_volume_ids": ["vol-boot"],
            },
            "messages": [],
            "error": None,
            "cloud_calls": {"describe_instances": 1, "describe_types": 1},
        },
        "expected": {
            "max_volumes_per_node": 4,
            "published_volume_ids": ["vol-boot"],
            "effective_limit": 7,
        },
        "verdict": "mismatch",
        "mismatches": ["effective_limit is 3, want 7"],
    }
    assert steps[1]["arguments"] == {"seconds": 90.0}
    assert steps[2]["answer"]["codes"] == {"OK": 3, "RESOURCE_EXHAUSTED": 1}
    assert steps[2]["answer"]["messages"] == ["instance 'i-1' has 4 slots and 4 slot users"]
    assert steps[2]["expected"]["cloud_calls"] == {"attach": "<= 4"}
    assert steps[3]["answer"]["error"] == "BootDiskInUse"
    assert steps[3]["expected"] == {"error": "BootDiskInUse"}


def test_the_output_can_be_chosen_by_environment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOCKDRIVER_OUTPUT", "json")

    _, out, _ = play("right.yaml")

    assert json.loads(out[0])["verdict"] == "ok"


def test_a_file_with_mistakes_is_not_played_and_nor_are_the_others(folder: Path) -> None:
    code, out, err = play("right.yaml", "broken.yaml")

    assert code == 2
    assert out == []
    assert err[0].startswith("broken.yaml:2:")
    assert "fly" in err[0]


def test_a_file_that_is_not_there_is_a_mistake(folder: Path) -> None:
    code, _, err = play("no-such.yaml")

    assert (code, err) == (2, ["no-such.yaml:1:1: file: there is no such file"])


def test_a_scenario_without_a_story_passes_and_says_so(folder: Path) -> None:
    (folder / "empty.yaml").write_text("scenario: empty")

    assert play("empty.yaml") == (
        0,
        ["0 steps as expected, 0 not"],
        ["empty.yaml: has no story"],
    )


def test_a_wrong_output_is_refused(folder: Path) -> None:
    code, _, err = play("--output", "xml", "right.yaml")

    assert code == 2
    assert any("'text', 'json'" in line for line in err)


def test_a_step_stays_on_one_line_whatever_its_names_are(folder: Path) -> None:
    (folder / "odd.yaml").write_text(r"""
scenario: odd
cloud: {instances: [{id: i-1}]}
story:
  - publish: {node: i-1, volume: "a\nb\tc\u2028d"}
    expect: {code: NOT_FOUND}
  - refresh: {node: "x\r\ny"}
    expect: {node_id: "\e[31mred\n"}
  - create_volume: {name: "\x07 bell\n"}
""")

    _, out, _ = play("odd.yaml")

    assert len(out) == 4
    assert all(line.isprintable() for line in out)


def test_whoever_stops_reading_gets_no_traceback(folder: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "wb") as closed:
        done = subprocess.run(
            [sys.executable, "-m", "mockdriver", "play", "right.yaml"],
            stdout=closed,
            stderr=subprocess.PIPE,
            env=environment(),
            check=False,
        )

    assert b"Traceback" not in done.stderr


def test_all_broken_files_are_told_at_once(folder: Path) -> None:
    done = CliRunner().invoke(main, ["play", "nope.yaml", "right.yaml", "broken.yaml"])
    assert done.exit_code == 2
    assert [line.split(":")[0] for line in done.stderr.splitlines()] == ["nope.yaml", "broken.yaml"]
    assert done.stdout == ""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_a_story_and_leaves_nothing_behind(
    folder: Path, number: signal.Signals
) -> None:
    (folder / "held.yaml").write_text(
        "scenario: held\n"
        "cloud: {instances: [{id: i}], disks: [{id: d}], transitions: {attach: held}}\n"
        "story:\n- advance: 1s\n- publish: {node: i, volume: d}\n"
    )
    (folder / "tmp").mkdir()
    process = subprocess.Popen(
        [sys.executable, "-m", "mockdriver", "play", "held.yaml"],
        env={**environment(), "TMPDIR": str(folder / "tmp"), "PYTHONUNBUFFERED": "1"},
        stdout=subprocess.PIPE,
    )
    try:
        assert process.stdout is not None
        assert b"advance" in process.stdout.readline()
        process.send_signal(number)
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 128 + number
    assert list((folder / "tmp").iterdir()) == []


def test_a_story_is_played_at_an_endpoint(folder: Path) -> None:
    with serving() as server:
        code, out, err = play("--endpoint", f"unix://{server.path}", "right.yaml")

    assert (code, err) == (0, [])
    assert out[-1] == "4 steps as expected, 0 not"


def test_nobody_at_the_endpoint_has_an_exit_code_of_its_own(folder: Path) -> None:
    code, out, err = play("--endpoint", str(folder / "none.sock"), "right.yaml")

    assert (code, out) == (3, [])
    [line] = err
    assert line.startswith("Error: right.yaml: nobody answers at unix://")


@pytest.mark.parametrize("arguments", [["--keep-state"], ["--endpoint", "tcp://x"]])
def test_options_of_the_endpoint_that_make_no_sense_are_refused(
    folder: Path, arguments: list[str]
) -> None:
    code, _, err = play(*arguments, "right.yaml")

    assert code == 2
    assert any("--endpoint" in line for line in err)
