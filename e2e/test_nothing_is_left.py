"""However a run ends, its processes end with it, and its files go then or at the next run."""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from e2e.cluster.processes import Processes
from e2e.cluster.waiting import wait_until
from e2e.running import API_SERVER, ETCD, NODE, SIDECAR, TESTS, Run, Starter, by_hand

BY_HAND = by_hand("three-zones")


@pytest.mark.parametrize(
    ("program", "number"),
    [
        (ETCD, signal.SIGINT),
        (API_SERVER, signal.SIGTERM),
        (SIDECAR, signal.SIGHUP),
        (NODE, signal.SIGINT),
    ],
)
def test_a_signal_at_any_moment_ends_a_cluster_and_nothing_is_left(
    start: Starter, program: str, number: signal.Signals
) -> None:
    run = start(BY_HAND)
    run.wait_for(program)

    assert run.end(number) == 0

    assert run.printed().endswith("stopped\n")
    assert run.programs() == []
    assert run.left() == []


@pytest.mark.parametrize(
    ("program", "number"), [(API_SERVER, signal.SIGTERM), (NODE, signal.SIGINT)]
)
def test_a_signal_at_any_moment_ends_a_session_of_tests_and_nothing_is_left(
    start: Starter, program: str, number: signal.Signals
) -> None:
    run = start(TESTS)
    run.wait_for(program)

    assert run.end(number) == pytest.ExitCode.INTERRUPTED

    assert run.programs() == []
    assert run.left() == []


def test_a_run_that_a_script_has_put_into_the_background_can_be_interrupted(
    start: Starter,
) -> None:
    # A shell has such a program ignore SIGINT.
    run = start(("sh", "-c", 'trap "" INT; exec "$@"', "sh", *BY_HAND))
    run.wait_for(ETCD)

    assert run.end(signal.SIGINT) == 0

    assert run.programs() == []
    assert run.left() == []


@pytest.mark.parametrize("command", [BY_HAND, TESTS])
def test_impatience_does_not_interrupt_the_clean_up(
    start: Starter, command: tuple[str, ...]
) -> None:
    run = start(command)
    run.wait_for(NODE)

    run.process.send_signal(signal.SIGINT)
    while run.process.poll() is None:
        run.process.send_signal(signal.SIGINT)
        time.sleep(0.02)

    assert run.programs() == []
    assert run.left() == []


@pytest.mark.parametrize("command", [BY_HAND, TESTS])
def test_a_run_that_is_killed_takes_its_programs_along_and_the_next_one_removes_its_files(
    start: Starter, place: Path, command: tuple[str, ...]
) -> None:
    killed = start(command)
    killed.wait_for(NODE)

    killed.end(signal.SIGKILL)

    wait_until(lambda: killed.programs() == [], "the programs have ended")
    assert len(killed.left()) == 1
    assert start_broken(start, place, ETCD).process.wait(60) == 1
    assert killed.left() == []


def test_a_run_leaves_the_files_of_another_that_lives(start: Starter, place: Path) -> None:
    living = start(BY_HAND)
    living.wait_for(API_SERVER)

    assert start_broken(start, place, ETCD).process.wait(60) == 1

    assert len(living.left()) == 1
    assert API_SERVER in living.programs()


@pytest.mark.parametrize("program", [ETCD, API_SERVER, NODE])
def test_a_program_that_does_not_start_is_named_with_its_last_words(
    start: Starter, place: Path, program: str
) -> None:
    run = start_broken(start, place, program)

    assert run.process.wait(60) == 1

    output = run.printed()
    assert "ended with 3" in output
    assert "no such flag" in output
    (logs,) = (place / "cache" / "kubernetes" / "logs").iterdir()
    assert f"logs of all programs: {logs}" in output
    assert [path for path in logs.rglob("*.log") if "no such flag" in path.read_text()]
    assert run.programs() == []
    assert run.left() == []


def test_a_program_that_ignores_sigterm_is_killed(place: Path) -> None:
    processes = Processes(place / "logs")
    stubborn = processes.start(
        "stubborn", ["/bin/sh", "-c", "trap '' TERM; echo trapped; while :; do sleep 1; done"]
    )
    stubborn.wait_for_words("trapped")

    assert stubborn.stop(patience_seconds=0.2) == -signal.SIGKILL


def start_broken(start: Starter, place: Path, program: str) -> Run:
    """Start a cluster with a program that does not start, and keeps its logs in `place`."""
    folder = place / "programs"
    folder.mkdir()
    (folder / program).write_text("#!/bin/sh\necho no such flag\nexit 3\n")
    (folder / program).chmod(0o755)
    return start(BY_HAND, programs=folder, cache=place / "cache")
