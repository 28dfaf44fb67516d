"""One command of ``mockdriver ctl``: it connects, asks, prints, and ends with the right exit code.

Nothing of gRPC is imported before a command runs: help and completion need none of it.
"""

from __future__ import annotations

import functools
import os
import socket
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeVar

import click

from mockdriver.cli.ctl.grammar import matched_nothing
from mockdriver.cli.ctl.printing import Printer, line
from mockdriver.scenario.mistakes import printable, quoted

if TYPE_CHECKING:
    from mockdriver.client import ControlClient, ControlError

DEFAULT_ENDPOINT = "unix:///tmp/mockdriver.sock"
ENDPOINT_VARIABLES = ["MOCKDRIVER_CONTROL_ENDPOINT", "MOCKDRIVER_ENDPOINT", "CSI_ENDPOINT"]

REFUSED, USAGE, UNREACHABLE, TOO_LATE, INTERRUPTED = 1, 2, 3, 4, 130
"""The exit codes besides 0."""


class Session:
    """What a command has to work with: the control API of a server, and where to print."""

    def __init__(self, endpoint: str, printer: Printer) -> None:
        """Connect at the first call; raises EndpointMistake."""
        from mockdriver.client import ControlClient  # noqa: PLC0415 - see above

        self.control: ControlClient = ControlClient(endpoint)
        self.printer = printer


class _HasId(Protocol):
    @property
    def id(self) -> str: ...


_Found = TypeVar("_Found", bound=_HasId)


class Failed(click.ClickException):
    """The end of a command that did not come to what it was meant to, in a line or a few."""

    def __init__(self, message: str, exit_code: int = REFUSED) -> None:
        """Take text that may come from a server: it is made printable, line by line."""
        super().__init__("\n".join(map(printable, message.splitlines())))
        self.exit_code = exit_code  # type: ignore[misc]  # click's own are per class


def settings(*, of_each: bool) -> list[click.Parameter]:
    """Return the options --output and --endpoint, of `ctl` itself or `of_each` of its commands.

    They may stand before the command's name or behind it; the one behind holds.
    """
    more = "" if of_each else " It may stand behind the command's name too."
    return [
        click.Option(
            ["-o", "--output"],
            type=click.Choice(["table", "json", "yaml"]),
            envvar=None if of_each else "MOCKDRIVER_CTL_OUTPUT",
            help=f"A table for people, or JSON or YAML for programs.{more}  [default: table]",
        ),
        click.Option(
            ["--endpoint"],
            envvar=None if of_each else ENDPOINT_VARIABLES,
            metavar="ENDPOINT",
            help=f"The server's Unix socket, with or without unix://.{more}  "
            f"[default: {DEFAULT_ENDPOINT}]",
        ),
    ]


def asks(
    name: str, noun: click.Group | None = None
) -> Callable[[Callable[..., None]], click.Command]:
    """Make a command of a function that gets a Session; with `noun`, a verb of it."""

    def decorate(function: Callable[..., None]) -> click.Command:
        @functools.wraps(function)
        def run(*arguments: Any, endpoint: str | None, output: str | None, **options: Any) -> None:
            with _session(endpoint, output) as session:
                function(session, *arguments, **options)

        command = click.command(name)(run)
        command.params += settings(of_each=True)
        if noun is not None:
            noun.add_command(command)
        return command

    return decorate


def _chosen(name: str, given: Any) -> Any:
    """Return an option's value: the command's own, or that of `ctl` before its name."""
    context: click.Context | None = click.get_current_context()
    while given is None and context is not None:
        given = context.params.get(name)
        context = context.parent
    return given


def found_by_id(
    kind: str, ids: Sequence[str], verbs: Iterable[str], ask: Callable[[str], Iterable[_Found]]
) -> list[_Found]:
    """Return what is found for any of the ids, each thing once; all there is without ids.

    Raises Failed for an id that nothing is found for, which may be one of the `verbs` misspelled.
    """
    found: dict[str, _Found] = {}
    for id in ids or [""]:
        matching = {item.id: item for item in ask(id)}
        if not matching and id:
            raise Failed(f"no such {kind}: {quoted(id)}{matched_nothing(ids, verbs)}")
        found |= matching
    return list(found.values())


def remove_each(
    session: Session, kind: str, ids: Sequence[str], remove: Callable[[str], object]
) -> None:
    """Remove one after the other, and say so of each; the first that is refused is the last."""
    removed: list[str] = []
    try:
        for id in ids:
            remove(id)
            removed.append(id)
            if session.printer.for_people:
                line(f"{kind} {id} is removed")
    finally:
        if not session.printer.for_people:
            session.printer.data({"removed": removed})


@contextmanager
def _session(endpoint: str | None, output: str | None) -> Iterator[Session]:
    from mockdriver.client import ControlError, EndpointMistake  # noqa: PLC0415 - see above

    context = click.get_current_context()
    if os.environ.get("NO_COLOR"):
        context.color = False
    printer = Printer(_chosen("output", output) or "table")
    try:
        session = Session(_chosen("endpoint", endpoint) or DEFAULT_ENDPOINT, printer)
    except EndpointMistake as mistake:
        raise click.BadParameter(str(mistake), param_hint="--endpoint") from None
    with session.control:
        try:
            yield session
        except ControlError as error:
            _end(session.control, error)
        except KeyboardInterrupt:
            sys.exit(INTERRUPTED)


def _end(control: ControlClient, error: ControlError) -> NoReturn:
    code = error.code.name
    # Whatever the control API itself answers has its error's name in the trailing metadata.
    if not error.error and code in _NOT_OF_THE_API:
        why = _why_unreachable(control.endpoint.removeprefix("unix://"))
        raise Failed(why or error.message, UNREACHABLE)
    if not error.error and code == "DEADLINE_EXCEEDED":
        raise Failed(f"no answer in time from {control.endpoint}", TOO_LATE)
    raise Failed(error.message, _EXIT_CODES.get(code, REFUSED))


_NOT_OF_THE_API = frozenset({"UNAVAILABLE", "UNIMPLEMENTED", "INTERNAL", "UNKNOWN", "CANCELLED"})

_EXIT_CODES: Mapping[str, int] = {"INVALID_ARGUMENT": USAGE, "DEADLINE_EXCEEDED": TOO_LATE}


def _why_unreachable(path: str) -> str | None:
    """Return why nobody can be asked at a path; None if somebody listens there."""
    where = f"nobody answers at unix://{path}"
    advice = "start a server with `mockdriver serve`, or say where one is with --endpoint"
    try:
        if not stat.S_ISSOCK(os.stat(path).st_mode):  # noqa: PTH116 - a path is bytes here
            return f"{where}: this is no socket; {advice}"
        with socket.socket(socket.AF_UNIX) as probe:
            probe.connect(path)
    except FileNotFoundError:
        return f"{where}: there is no such socket; {advice}"
    except ConnectionRefusedError:
        return f"{where}: the server that made this socket has gone; {advice}"
    except OSError as error:
        return f"{where}: {error.strerror}"
    return None
