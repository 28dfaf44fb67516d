"""``mockdriver ctl calls``, ``expect`` and ``wait``."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import click

from mockdriver.cli.ctl.asking import REFUSED, Session, asks
from mockdriver.cli.ctl.call_options import FIELDS, which_calls
from mockdriver.cli.ctl.call_rows import HEADINGS, print_whole, row, stream_columns
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.options import given
from mockdriver.cli.ctl.options import timeout as timeout_option
from mockdriver.cli.ctl.plain import plain
from mockdriver.cli.ctl.printing import note, table
from mockdriver.scenario.mistakes import quoted, unknown_name

if TYPE_CHECKING:
    from mockdriver.client import Call, CallFilter
    from mockdriver.control.v1.journal_pb2 import ListCallsResponse


calls = Noun("calls", default="list", help="What the driver was asked, and what it answered.")


@asks("list", calls)
@which_calls
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="The newest so many.  [default: 1000]"
)
@click.option("--count", is_flag=True, help="Say only how many there are.")
@click.option(
    "--follow",
    "-f",
    is_flag=True,
    help="Go on with each call as it arrives, and as it ends, until Ctrl-C.",
)
@click.option("--new", is_flag=True, help="With --follow: only those that arrive from now on.")
def list_calls(
    session: Session, limit: int | None, count: bool, follow: bool, new: bool, **fields: Any
) -> None:
    """List the calls that match, oldest first."""
    if follow and (count or limit is not None):
        raise click.UsageError("--follow goes with neither --count nor --limit")
    if new and not follow:
        raise click.UsageError("--new goes with --follow only")
    wanted = _filter(fields)
    if count:
        found = session.control.calls.count(**wanted)
        session.printer.values({"count": found}, str(found))
    elif follow:
        _follow(session, wanted, from_start=not new)
    else:
        _list(session, wanted, limit or 0)


@asks("show", calls)
@click.argument("number", type=click.IntRange(min=1))
def show(session: Session, number: int) -> None:
    """Show the call with a NUMBER, with its whole request and response."""
    found = session.control.calls.get(number)
    session.printer.answer(found.original, lambda: print_whole(found))


@asks("clear", calls)
def clear(session: Session) -> None:
    """Forget all calls that have ended; their numbers go on."""
    forgotten = session.control.calls.clear()
    session.printer.values({"forgotten": forgotten}, f"{forgotten} calls forgotten")


@asks("wait")
@which_calls
@click.option(
    "--count",
    type=click.IntRange(min=1),
    default=1,
    show_default=True,
    metavar="N",
    help="How many calls.",
)
@click.option("--arrived", is_flag=True, help="Count calls when they arrive, not when they end.")
@timeout_option
def wait(session: Session, count: int, arrived: bool, timeout: float, **fields: Any) -> None:
    """Wait until so many calls match.

    Those that are in the record already count too.
    """
    found = session.control.calls.wait(
        count, timeout_seconds=timeout, arrived=arrived, **_filter(fields)
    )
    _print(session, found)


@asks("expect")
@which_calls
@click.option("--exactly", type=click.IntRange(min=0), metavar="N", help="So many calls match.")
@click.option("--at-least", type=click.IntRange(min=0), metavar="N", help="So many or more.")
@click.option("--at-most", type=click.IntRange(min=0), metavar="N", help="So many or fewer.")
@click.option("--never", is_flag=True, help="None does.")
@click.option(
    "--in-order",
    "in_this_order",
    multiple=True,
    metavar="CALL",
    help="A call, and the next --in-order one after it, others may lie between: NodeGetInfo, "
    '"ControllerPublishVolume node=i-1 code=OK request.volume_id=vol-1".',
)
def expect(
    session: Session,
    exactly: int | None,
    at_least: int | None,
    at_most: int | None,
    never: bool,
    in_this_order: Sequence[str],
    **fields: Any,
) -> None:
    """Tell whether the calls were as expected.

    If they were not, show why with the nearest calls, and exit with 1.
    """
    kinds = [exactly is not None, at_least is not None, at_most is not None, never]
    if sum(kinds) + bool(in_this_order) != 1:
        raise click.UsageError(
            "needed: one of --exactly, --at-least, --at-most, --never, --in-order"
        )
    found = session.control.calls.expect(
        exactly=exactly,
        at_least=at_least,
        at_most=at_most,
        never=never,
        in_this_order=[_filter_of(text) for text in in_this_order],
        **_filter(fields),
    )
    answer = {
        "met": found.met,
        "count": found.count,
        "problem": found.problem,
        "nearest": [plain(call.original) for call in found.nearest],
    }
    session.printer.values(answer, found.problem or f"as expected: {found.count} calls")
    if session.printer.for_people and found.nearest:
        table(HEADINGS, map(row, found.nearest), nothing="")
    if not found.met:
        sys.exit(REFUSED)


_CONDITIONS = {
    "rpc": "rpc",
    "node": "node_id",
    "code": "code",
    "service": "service",
    "fault": "fault",
    "message": "message",
}
"""What may stand in a call of --in-order, and what the API calls it."""


def _filter(fields: Mapping[str, Any]) -> CallFilter:
    return cast("CallFilter", given(fields, FIELDS))


def _filter_of(text: str) -> CallFilter:
    """Read a call of --in-order: an RPC, and conditions with the names of the options."""
    wanted: dict[str, Any] = {"request": {}, "response": {}}
    for place, word in enumerate(_words(text)):
        name, equals, value = word.partition("=")
        kind, _, path = name.partition(".")
        if not equals and place == 0:
            wanted["rpc"] = word
        elif path and kind in ("request", "response"):
            wanted[kind][path] = value
        elif equals and name in _CONDITIONS:
            wanted[_CONDITIONS[name]] = value
        else:
            known = [*_CONDITIONS, "request.PATH", "response.PATH"]
            raise _no_call(f"{unknown_name('condition', name, known)}; write NAME=VALUE")
    return cast("CallFilter", {key: value for key, value in wanted.items() if value})


def _words(text: str) -> list[str]:
    try:
        words = shlex.split(text)
    except ValueError as error:
        raise _no_call(f"{quoted(text)}: {error}") from None
    if not words:
        raise _no_call(f"{quoted(text)} is empty, allowed: an RPC, and conditions as NAME=VALUE")
    return words


def _no_call(problem: str) -> click.BadParameter:
    return click.BadParameter(problem, param_hint="--in-order")


def _list(session: Session, wanted: CallFilter, limit: int) -> None:
    found = session.control.calls.record(limit=limit, **wanted)
    session.printer.answer(found, lambda: _print_record(found))


def _print_record(found: ListCallsResponse) -> None:
    from mockdriver.client import Call  # noqa: PLC0415 - it is there by now

    table(HEADINGS, (row(Call.of(call)) for call in found.calls), nothing="no calls")
    if found.total > len(found.calls):
        note(f"{found.total} calls match, these are the newest {len(found.calls)}; see --limit")
    if found.forgotten:
        note(f"{found.forgotten} older calls are forgotten")


def _follow(session: Session, wanted: CallFilter, *, from_start: bool) -> None:
    columns = stream_columns()
    with session.control.calls.watch(from_start=from_start, **wanted) as watch:
        if session.printer.for_people:
            columns.print_headings()
        for call in watch:
            if session.printer.for_people:
                columns.print_row(row(call))
            else:
                session.printer.in_stream(call.original)


def _print(session: Session, found: Sequence[Call]) -> None:
    session.printer.listed(
        "calls",
        [call.original for call in found],
        lambda: table(HEADINGS, map(row, found), nothing="no calls"),
    )
