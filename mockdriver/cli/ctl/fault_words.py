"""A fault in words, and as the fields that the client takes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mockdriver.control.v1.faults_pb2 import Fault

_COUNTERS = frozenset({"matched", "acted"})


def which(fault: Fault) -> str:
    """Return which calls it is about, in a few words."""
    words = [fault.rpc or fault.cloud_api]
    if fault.node_id:
        words.append(f"node={fault.node_id}")
    words += [f"{path}={value}" for path, value in sorted(fault.request.items())]
    if fault.calls:
        words.append(f"calls {fault.calls}")
    if fault.times:
        words.append(f"{fault.times} times")
    if fault.probability:
        words.append(f"with probability {fault.probability:g}")
    return ", ".join(words)


def does(fault: Fault) -> str:
    """Return what it does, in a few words."""
    words = []
    if fault.delay:
        words.append(f"wait {fault.delay}")
    if fault.hold:
        words.append(f"hold at {fault.hold}")
    if fault.code or fault.error:
        words.append(fault.code or fault.error)
    if fault.no_answer:
        words.append("no answer")
    words += [f"{path}={value}" for path, value in sorted(fault.reply.items())]
    if fault.HasField("exit"):
        words.append(f"exit {fault.exit}")
    if fault.when == "after":
        words.append("after the work is done")
    if fault.lifetime:
        words.append(f"gone in {fault.lifetime}")
    return ", ".join(words)


def fields_of(fault: Fault) -> dict[str, Any]:
    """Return the fields of a fault as the client takes them, without its counters."""
    found: dict[str, Any] = {}
    for field, value in fault.ListFields():
        if field.name == "request":
            found["request"] = dict(value)
        elif field.name == "reply":
            found["reply"] = {path: json.loads(text) for path, text in value.items()}
        elif field.name == "details":
            found["details"] = [json.loads(text) for text in value]
        elif field.name not in _COUNTERS:
            found[field.name] = value
    return found


def shown_pairs(fault: Fault) -> Iterator[tuple[str, str]]:
    """Yield its fields with their values as text, the counters always."""
    for field, value in fault.ListFields():
        if field.name in _COUNTERS:
            continue
        if field.name in ("request", "reply"):
            yield field.name, ", ".join(f"{path}={text}" for path, text in sorted(value.items()))
        elif field.name == "details":
            yield field.name, ", ".join(value)
        elif isinstance(value, bool):
            yield field.name, "yes" if value else "no"
        else:
            yield field.name, f"{value:g}" if isinstance(value, float) else str(value)
    yield "matched", str(fault.matched)
    yield "acted", str(fault.acted)
