"""What a step came to, before anybody compares it with what was expected."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """The outcome of one step.

    `codes` counts how the step's calls ended; empty if it made none. `fields` are what can be
    expected by name. `messages` are those of failed calls, each once. `error` names the cloud's
    refusal of an out-of-band change, and `cloud_code` is the status code that it, or its success,
    would have in the driver's table: an out-of-band step makes no call. `problem` says why the
    step could not be carried out at all, `note` what became of one that has no outcome yet.
    `unmade` says of each volume that a publish step could not make why.
    """

    codes: Mapping[str, int] = field(default_factory=Counter)
    fields: Mapping[str, Any] = field(default_factory=dict)
    messages: tuple[str, ...] = ()
    error: str | None = None
    cloud_code: str | None = None
    unmade: tuple[str, ...] = ()
    problem: str | None = None
    note: str | None = None

    def summary(self, asked_for: Container[str]) -> str:
        """Return the outcome in a few words, for a line of output.

        What says the same at each step is in it only if it was `asked_for`.
        """
        parts = [f"{code}: {count}" for code, count in sorted(self.codes.items())]
        parts += [
            f"{name}: {shortened(value)}"
            for name, value in self.fields.items()
            if name not in _QUIET or name in asked_for
        ]
        if self.error is not None:
            parts.append(f"error: {self.error}")
        if self.problem is not None:
            parts.append(self.problem)
        if self.note is not None:
            parts.append(self.note)
        return ", ".join(parts) or "done"


_SHOWN_ITEMS = 3
_QUIET = frozenset({"node_id", "accessible_topology", "publish_context"})


def shortened(value: Any) -> str:
    """Return a value for a line of output: long lists as their count and first items."""
    if value is None:
        return "unset"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {value[key]}" for key in sorted(value)) + "}"
    if isinstance(value, list | tuple | set | frozenset):
        shown = ", ".join(sorted(map(str, value))[:_SHOWN_ITEMS])
        more = ", …" if len(value) > _SHOWN_ITEMS else ""
        return f"{len(value)} [{shown}{more}]"
    return str(value)
