"""``mockdriver ctl faults`` and ``hold``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from mockdriver.cli.ctl import fault_options
from mockdriver.cli.ctl.asking import Session, asks, remove_each
from mockdriver.cli.ctl.completing import (
    api_names,
    barrier_names,
    fault_names,
    instance_ids,
    rpc_names,
)
from mockdriver.cli.ctl.fault_words import does, fields_of, shown_pairs, which
from mockdriver.cli.ctl.grammar import Noun
from mockdriver.cli.ctl.options import given, json_object
from mockdriver.cli.ctl.printing import Row, Styled, line, table
from mockdriver.cli.ctl.printing import fields as print_fields

if TYPE_CHECKING:
    from mockdriver.control.v1.faults_pb2 import ExplainFaultsResponse, Fault

_name = click.argument("name", shell_complete=fault_names)
_new_name = click.option(
    "--name", default="", metavar="NAME", help="Its name.  [default: one is made up]"
)
_before = click.option(
    "--before",
    default="",
    metavar="NAME",
    help="Put it before this fault.  [default: at the end]",
    shell_complete=fault_names,
)


faults = Noun(
    "faults",
    default="list",
    help="Faults in their order; the first that matches acts.",
)


@asks("list", faults)
def list_faults(session: Session) -> None:
    """List the faults, with how often each matched and acted."""
    found = session.control.faults.list()
    session.printer.listed(
        "faults",
        found,
        lambda: table(
            ["NAME", "ON", "MATCHED", "ACTED", "WHICH CALLS", "WHAT IT DOES"],
            map(_row, found),
            nothing="no faults",
        ),
    )


@asks("show", faults)
@_name
def show(session: Session, name: str) -> None:
    """Show a fault with all its fields."""
    _print_whole(session, session.control.faults.get(name))


@asks("add", faults)
@_new_name
@fault_options.conditions
@fault_options.actions
@click.option("--disabled", is_flag=True, help="Add it switched off.")
@_before
def add(session: Session, name: str, disabled: bool, before: str, **fields: Any) -> None:
    """Add a fault: which calls, and what it does to them.

    `ctl faults add --rpc ControllerGetNodeInfo --code UNAVAILABLE --times 2`
    """
    wanted = given(fields, fault_options.FIELDS)
    if disabled:
        wanted["enabled"] = False
    _added(session, session.control.faults.add(before=before, name=name, **wanted))


@asks("change", faults)
@_name
@fault_options.conditions
@fault_options.actions
@click.option(
    "--without",
    multiple=True,
    type=click.Choice(fault_options.FIELDS),
    metavar="FIELD",
    help="Take a field away, by its name in the API: code, node_id ...; may be given several "
    "times.",
)
def change(session: Session, name: str, without: Sequence[str], **fields: Any) -> None:
    """Change what is given of a fault; its counters begin again."""
    changes = given(fields, fault_options.FIELDS)
    if not changes and not without:
        raise click.UsageError("nothing to change; see --help for what a fault can have")
    present = fields_of(session.control.faults.get(name))
    kept = {key: value for key, value in present.items() if key not in without}
    _print_whole(session, session.control.faults.update(**{**kept, **changes}))


@asks("enable", faults)
@_name
def enable(session: Session, name: str) -> None:
    """Switch a fault on; its counters stay."""
    found = session.control.faults.enable(name)
    session.printer.answer(found, lambda: line(f"fault {name} is on"))


@asks("disable", faults)
@_name
def disable(session: Session, name: str) -> None:
    """Switch a fault off; its counters stay."""
    found = session.control.faults.disable(name)
    session.printer.answer(found, lambda: line(f"fault {name} is off"))


@asks("remove", faults)
@click.argument("names", nargs=-1, required=True, metavar="NAME...", shell_complete=fault_names)
def remove(session: Session, names: Sequence[str]) -> None:
    """Remove faults."""
    remove_each(session, "fault", names, session.control.faults.delete)


@asks("clear", faults)
def clear(session: Session) -> None:
    """Remove all faults and release all barriers."""
    removed = session.control.faults.clear()
    session.printer.values({"removed": removed}, f"{removed} faults removed")


@asks("explain", faults)
@click.option(
    "--rpc",
    default="",
    metavar="NAME",
    help="The RPC of the call.",
    shell_complete=rpc_names,
)
@click.option(
    "--cloud-api",
    default="",
    metavar="NAME",
    help="The API of the cloud, in the place of an RPC.",
    shell_complete=api_names,
)
@click.option(
    "--request",
    callback=json_object,
    metavar="JSON",
    help="The call's request, with the field names of csi.proto.",
)
@click.option(
    "--node",
    "node_id",
    default="",
    metavar="ID",
    help="The node whose Node service is asked.",
    shell_complete=instance_ids,
)
def explain(
    session: Session,
    rpc: str,
    cloud_api: str,
    request: Mapping[str, Any] | None,
    node_id: str,
) -> None:
    """Tell which fault would act on a call, and why others not.

    Nothing is counted by it.
    """
    found = session.control.faults.explain(rpc, request, node_id=node_id, cloud_api=cloud_api)
    session.printer.answer(found, lambda: _print_verdicts(found))


@asks("hold")
@click.argument("barrier", shell_complete=barrier_names)
@_new_name
@fault_options.conditions
@_before
def hold(session: Session, barrier: str, name: str, before: str, **fields: Any) -> None:
    """Hold calls at a BARRIER until it is released.

    This adds a fault that does nothing else.

    `ctl hold lookup --rpc ControllerGetNodeInfo`, then `ctl release --barrier lookup`
    """
    wanted = given(fields, fault_options.CONDITIONS)
    _added(session, session.control.faults.add(before=before, name=name, hold=barrier, **wanted))


def _added(session: Session, fault: Fault) -> None:
    session.printer.answer(
        fault, lambda: line(f"fault {fault.name}: {which(fault)}: {does(fault)}")
    )


def _row(fault: Fault) -> Row:
    on = Styled("yes", "green") if fault.enabled else Styled("no", "yellow")
    return [fault.name, on, str(fault.matched), str(fault.acted), which(fault), does(fault)]


def _print_whole(session: Session, fault: Fault) -> None:
    session.printer.answer(fault, lambda: print_fields(shown_pairs(fault)))


def _print_verdicts(found: ExplainFaultsResponse) -> None:
    table(
        ["FAULT", "ACTS", "WHY"],
        [
            [item.fault, Styled("yes", "green") if item.acts else "no", item.reason]
            for item in found.verdicts
        ],
        nothing="no faults",
    )
