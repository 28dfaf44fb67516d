"""``mockdriver ctl scenario``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from mockdriver.cli.ctl.asking import USAGE, Failed, Session, asks
from mockdriver.cli.ctl.completing import scenario_names
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.printing import file_text, line, note

if TYPE_CHECKING:
    from mockdriver.client.state import Part

PARTS = ("cloud", "driver", "faults", "journal", "clock")

_FILE_ENDINGS = (".yaml", ".yml")


scenario = Noun(
    "scenario", default="show", help="What was loaded, and the present state as a scenario."
)


@asks("show", scenario)
def show(session: Session) -> None:
    """Print the scenario that was loaded last, as its file said it."""
    found = session.control.state.scenario()
    session.printer.answer(found, lambda: file_text(found.yaml))


@asks("load", scenario)
@click.argument("file", metavar="FILE", shell_complete=scenario_names)
def load(session: Session, file: str) -> None:
    """Load a scenario in the place of everything.

    It is a file, `-` for standard input, or the name of a shipped scenario. What is there as a
    file, or looks like one (a slash, .yaml, .yml), is a file.
    """
    state = session.control.state
    loaded = state.load(yaml=_read(file)) if _is_file(file) else state.load(name=file)
    session.printer.answer(loaded, lambda: line(f"scenario {loaded.name} is loaded"))
    if session.printer.for_people:
        for warning in loaded.warnings:
            note(f"warning: {warning}")


@asks("export", scenario)
@click.option(
    "--name",
    default="",
    metavar="NAME",
    help="The name of the new scenario.  [default: that of the loaded one]",
)
def export(session: Session, name: str) -> None:
    """Print the present state as a file that can be loaded again."""
    found = session.control.state.export(name)
    session.printer.answer(found, lambda: file_text(found.yaml))


@asks("reset", scenario)
@click.argument("parts", nargs=-1, type=click.Choice(PARTS), metavar="[PART]...")
def reset(session: Session, parts: tuple[str, ...]) -> None:
    """Go back to the loaded scenario, in all or in some parts.

    The parts are cloud, driver, faults, journal and clock.
    """
    session.control.state.reset(*cast("tuple[Part, ...]", parts))
    session.printer.done(f"{', '.join(parts) or 'everything'} is as the scenario says")


def _is_file(name: str) -> bool:
    if name == "-" or "/" in name or name.endswith(_FILE_ENDINGS):
        return True
    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False


def _read(name: str) -> str:
    try:
        data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise Failed(f"{name}: is no text in UTF-8", USAGE) from None
    except OSError as error:
        raise Failed(f"{name}: {error.strerror}", USAGE) from None
