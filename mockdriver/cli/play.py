"""``mockdriver play``."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import click

from mockdriver.cli.scenario_files import load_all_or_exit
from mockdriver.client import ControlError, EndpointMistake
from mockdriver.play import StepResult
from mockdriver.play import play as play_story
from mockdriver.play.expectations import described
from mockdriver.play.remote_site import RemoteSite
from mockdriver.scenario.load import LoadedScenario
from mockdriver.scenario.mistakes import printable
from mockdriver.scenario.story_model import Advance

_END_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE|NAME...")
@click.option(
    "--output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    envvar="MOCKDRIVER_OUTPUT",
    help="Lines for people, or one JSON object a line for programs.",
)
@click.option(
    "--endpoint",
    envvar="MOCKDRIVER_PLAY_ENDPOINT",
    help="Play on the server whose control API is at this Unix socket; its clock is its own, and "
    "pauses are real.  [default: a private server for each file, on a virtual clock]",
)
@click.option(
    "--keep-state",
    is_flag=True,
    envvar="MOCKDRIVER_KEEP_STATE",
    help="With --endpoint: do not load the file's scenario into the server first.",
)
def play(files: tuple[str, ...], output: str, endpoint: str | None, keep_state: bool) -> None:
    """Play the stories of scenario files, each in a private server on a virtual clock.

    Prints a line a step: verdict, step, answer, what was expected, file and line. Exits with 0 if
    everything was as expected, with 1 at a mismatch, with 2 if a file has mistakes, with 3 if
    nobody answers at the endpoint.
    """
    if keep_state and endpoint is None:
        raise click.UsageError("--keep-state is for --endpoint, which is missing")
    scenarios = load_all_or_exit(files)
    passed = failed = 0
    with _signals_end_the_story():
        for loaded in scenarios:
            if not loaded.story:
                click.echo(f"{loaded.file}: has no story", err=True)
            for result in _played(loaded, endpoint, keep_state=keep_state):
                passed, failed = passed + result.passed, failed + (not result.passed)
                click.echo(_json_line(result) if output == "json" else _text_line(result))
    if output == "text":
        click.echo(f"{passed} steps as expected, {failed} not")
    sys.exit(1 if failed else 0)


def _played(
    loaded: LoadedScenario, endpoint: str | None, *, keep_state: bool
) -> Iterator[StepResult]:
    """Play a story; the program ends if the server at the endpoint cannot be asked."""
    try:
        site = None
        if endpoint is not None:
            site = RemoteSite(endpoint, loaded, keep_state=keep_state)
        yield from play_story(loaded, site)
    except EndpointMistake as mistake:
        raise click.BadParameter(str(mistake), param_hint="--endpoint") from None
    except ControlError as error:
        raise _Unreachable(printable(f"{loaded.file}: {error.message}")) from None


class _Unreachable(click.ClickException):
    """The server at the endpoint does not answer, or does not take the scenario."""

    exit_code = 3


@contextmanager
def _signals_end_the_story() -> Iterator[None]:
    """Let SIGTERM, Ctrl-C and a closed terminal stop the server and remove its folder first."""

    def leave(number: int, frame: FrameType | None) -> None:
        sys.exit(128 + number)

    before = {number: signal.signal(number, leave) for number in _END_SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _text_line(result: StepResult) -> str:
    expected = described(result.step.expect)
    parts = [
        "ok  " if result.passed else "FAIL",
        _step_text(result),
        f"-> {result.outcome.summary(result.step.expect.model_fields_set)}",
    ]
    if expected:
        parts.append(f"(expected {expected})")
    if not result.passed:
        parts.append(f"MISMATCH: {'; '.join(result.mismatches)}")
    parts.append(f"{result.file}:{result.step.line}")
    return printable("  ".join(parts))


def _step_text(result: StepResult) -> str:
    arguments = _arguments(result)
    shown = (f"{key}={_value_text(value)}" for key, value in arguments.items())
    return " ".join([result.step.verb, *shown])


def _value_text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _json_line(result: StepResult) -> str:
    outcome = result.outcome
    return json.dumps(
        {
            "file": result.file,
            "line": result.step.line,
            "step": result.step.verb,
            "arguments": _arguments(result),
            "answer": {
                "codes": dict(outcome.codes),
                "fields": dict(outcome.fields),
                "messages": list(outcome.messages),
                "error": outcome.error,
                "cloud_calls": {api: n for api, n in result.cloud_calls.items() if n},
            },
            "expected": _expected(result),
            "verdict": "ok" if result.passed else "mismatch",
            "mismatches": list(result.mismatches),
        },
        ensure_ascii=False,
    )


def _arguments(result: StepResult) -> dict[str, Any]:
    arguments = result.step.arguments
    if isinstance(arguments, Advance):
        return {"seconds": arguments.seconds}
    return arguments.model_dump(mode="json", by_alias=True, exclude_unset=True)


def _expected(result: StepResult) -> dict[str, Any]:
    expect = result.step.expect
    plain = expect.model_dump(mode="json", exclude_unset=True, exclude={"cloud_calls", "count"})
    if expect.count is not None:
        plain["count"] = str(expect.count)
    if expect.cloud_calls:
        plain["cloud_calls"] = {api: str(wanted) for api, wanted in expect.cloud_calls.items()}
    return plain
